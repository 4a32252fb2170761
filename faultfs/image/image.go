// Package image is a file system as a value: an inode tree with bytes and names
// apart, cheap to copy. Crash models make one image per state that a crash may
// leave; [github.com/unplug-go/unplug/faultfs.NewMem] serves an image as a file system.
//
// # Structure
//
// An [Image] is a table of inodes. A file's content is a table of 512-byte
// chunks; a missing chunk reads as zeros. A folder is a sorted list of names.
// All of them are persistent: [Image.Clone] copies nothing, and a change copies
// only the path from the changed chunk to the top, once per clone. Every node
// carries the number of the image that may change it in place.
//
// Names and inodes are bound by [Image.Bind] and [Image.Unbind]. An inode
// without a name is an orphan: it keeps its bytes (a handle may be open) until
// [Image.Drop] forgets it.
//
// # Unknown inodes
//
// Methods that change an image and get a number it does not hold, or a file
// where a folder is needed, change nothing; [Image.Apply] says so in an error.
//
// # Concurrency
//
// One image is for one goroutine at a time. Different images may be used at the
// same time even when one is a clone of the other. Reading, hashing and cloning
// an image that nobody changes is safe from several goroutines once it has been
// cloned.
package image

import (
	"fmt"
	"io/fs"
	"sync/atomic"

	"github.com/unplug-go/unplug/faultfs/trace"
)

// permMask is what a mode may hold here: the twelve bits of chmod.
const permMask = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// Image is one state of a file system. Make it with [New] or [Image.Clone].
type Image struct {
	inodes table[inode]
	next   trace.Ino      // the number that Alloc gives next
	tick   int64          // logical time of the last change
	id     uint64         // owner of the nodes that may change in place; 0 is none yet
	ids    *atomic.Uint64 // the last owner given to this image or a relative
}

// Info describes one inode at one moment; later changes do not show in it.
type Info struct {
	Ino     trace.Ino
	Dir     bool
	Mode    fs.FileMode // permission bits, setuid, setgid, sticky; no type bits
	Size    int64       // bytes of a file; 0 for a folder
	Nlink   int         // names that lead here; 0 is an orphan (the root too has none)
	ModTime int64       // logical tick of the last change of bytes or, in a folder, names
}

type inode struct {
	owner uint64
	sum   sum
	body
}

// body is what a copy of an inode takes over.
type body struct {
	dir   bool
	mode  fs.FileMode
	size  int64
	mtime int64
	link  link   // the first name; link.dir is 0 in an orphan
	more  []link // further names; never changed in place
	data  table[chunk]
	names *folder // of a folder; nil is empty
}

// link is one name of an inode.
type link struct {
	dir  trace.Ino
	name string
}

// New returns an image that holds only the root folder, mode 0700.
func New() *Image {
	m := &Image{next: trace.Root, ids: new(atomic.Uint64)}
	m.Alloc(true, 0o700)
	return m
}

// Clone returns an image equal to m. It costs the same at any size; afterwards both may
// be changed and neither sees the other's changes.
func (m *Image) Clone() *Image {
	if m.id != 0 { // only then: an image at rest may be cloned by several goroutines
		m.id = 0
	}
	c := *m
	return &c
}

// owner is the number that marks the nodes m may change in place.
func (m *Image) owner() uint64 {
	if m.id == 0 {
		m.id = m.ids.Add(1)
	}
	return m.id
}

func (m *Image) inode(ino trace.Ino) *inode { return m.inodes.get(uint64(ino)) }

// edit returns the inode for change in place, or nil. The cached hashes of the inode and of
// every folder above it are forgotten.
func (m *Image) edit(ino trace.Ino) *inode {
	n := m.inode(ino)
	if n == nil {
		return nil
	}
	id := m.owner()
	if n.owner == id && !n.sum.known() {
		return n // then everything above it is like that as well
	}
	if n.owner != id {
		n = &inode{owner: id, body: n.body} // not its sum: a relative may be writing it
		m.inodes.set(id, uint64(ino), n)
	}
	n.sum.forget()
	if n.link.dir != 0 {
		m.touch(n.link)
		for _, l := range n.more {
			m.touch(l)
		}
	}
	return n
}

// touch makes the folder that holds a changed inode one of m's own.
func (m *Image) touch(l link) {
	if d := m.edit(l.dir); d != nil && d.names.split() {
		d.names = d.names.touch(m.owner(), l.name)
	}
}

// Stat describes an inode; false if there is none of that number.
func (m *Image) Stat(ino trace.Ino) (Info, bool) {
	n := m.inode(ino)
	if n == nil {
		return Info{}, false
	}
	return n.info(ino), true
}

func (n *inode) info(ino trace.Ino) Info {
	return Info{Ino: ino, Dir: n.dir, Mode: n.mode, Size: n.size, Nlink: n.nlink(), ModTime: n.mtime}
}

func (n *inode) nlink() int {
	if n.link.dir == 0 {
		return 0
	}
	return 1 + len(n.more)
}

// Alloc makes an inode without a name and returns its number. Numbers only grow, also over
// dropped inodes.
func (m *Image) Alloc(dir bool, mode fs.FileMode) trace.Ino {
	ino := m.next
	m.AllocAt(ino, dir, mode)
	return ino
}

// AllocAt makes an inode with the given number, from 1. A number that is in use changes nothing.
func (m *Image) AllocAt(ino trace.Ino, dir bool, mode fs.FileMode) {
	if ino == 0 || m.inode(ino) != nil {
		return
	}
	m.next = max(m.next, ino+1)
	m.tick++
	id := m.owner()
	m.inodes.set(id, uint64(ino), &inode{owner: id, body: body{dir: dir, mode: mode & permMask, mtime: m.tick}})
}

// Drop forgets an orphan and its bytes. An inode that has a name, and the root, stay. What
// a dropped folder held loses that name.
func (m *Image) Drop(ino trace.Ino) {
	n := m.inode(ino)
	if n == nil || ino == trace.Root || n.link.dir != 0 {
		return
	}
	for _, e := range m.Entries(ino) {
		m.Unbind(ino, e.Name)
	}
	m.inodes.set(m.owner(), uint64(ino), nil)
}

// Chmod sets the permission bits; type bits in mode are ignored.
func (m *Image) Chmod(ino trace.Ino, mode fs.FileMode) {
	if n := m.edit(ino); n != nil {
		n.mode = mode & permMask
	}
}

// SetModTime sets the time of last change, in ticks.
func (m *Image) SetModTime(ino trace.Ino, tick int64) {
	if n := m.edit(ino); n != nil {
		n.mtime = tick
	}
}

// changed notes that the bytes or names of n changed now.
func (m *Image) changed(n *inode) {
	m.tick++
	n.mtime = m.tick
}

// String says what the image holds in a few words.
func (m *Image) String() string {
	files, folders, bytes := 0, 0, int64(0)
	m.Walk(func(_ string, info Info) bool {
		if info.Dir {
			folders++
		} else {
			files++
			bytes += info.Size
		}
		return true
	})
	return fmt.Sprintf("image of %d folders, %d files, %d bytes", folders, files, bytes)
}

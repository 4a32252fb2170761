package image

import (
	"slices"
	"strings"

	"github.com/unplug-go/unplug/faultfs/trace"
)

// Child returns the inode that a name in a folder leads to; false if there is no such name.
func (m *Image) Child(dir trace.Ino, name string) (trace.Ino, bool) {
	n := m.inode(dir)
	if n == nil {
		return 0, false
	}
	ino := n.names.get(name)
	return ino, ino != 0
}

// Entries is a copy of a folder's names, sorted.
func (m *Image) Entries(dir trace.Ino) []Entry {
	n := m.inode(dir)
	if n == nil || n.names == nil {
		return nil
	}
	all := make([]Entry, 0, n.names.len())
	for _, b := range n.names.blocks {
		all = append(all, b.entries...)
	}
	return all
}

// Len is the number of names in a folder.
func (m *Image) Len(dir trace.Ino) int {
	if n := m.inode(dir); n != nil {
		return n.names.len()
	}
	return 0
}

// Name returns a name that leads to ino, and the folder it stands in: the oldest one of
// several; false for an orphan and the root.
func (m *Image) Name(ino trace.Ino) (dir trace.Ino, name string, ok bool) {
	n := m.inode(ino)
	if n == nil || n.link.dir == 0 {
		return 0, "", false
	}
	return n.link.dir, n.link.name, true
}

// Bind gives name in folder dir to ino, whatever had it before; that may become an orphan.
// The root can not be bound. Nothing keeps a folder from being bound below itself (a broken
// disk can hold that): see [Image.Walk].
func (m *Image) Bind(dir trace.Ino, name string, ino trace.Ino) {
	d := m.inode(dir)
	if d == nil || !d.dir || m.inode(ino) == nil || ino == trace.Root || name == "" {
		return
	}
	old := d.names.get(name)
	if old == ino {
		return
	}
	if old != 0 {
		m.unlink(old, link{dir, name})
	}
	m.link(ino, link{dir, name})
	d = m.edit(dir)
	d.names = d.names.set(m.owner(), name, ino)
	m.changed(d)
}

// Unbind takes a name out of folder dir; what it led to may become an orphan.
func (m *Image) Unbind(dir trace.Ino, name string) {
	d := m.inode(dir)
	if d == nil {
		return
	}
	old := d.names.get(name)
	if old == 0 {
		return
	}
	m.unlink(old, link{dir, name})
	d = m.edit(dir)
	d.names = d.names.remove(m.owner(), name)
	m.changed(d)
}

func (m *Image) link(ino trace.Ino, l link) {
	n := m.edit(ino)
	if n.link.dir == 0 {
		n.link = l
		return
	}
	n.more = append(slices.Clip(n.more), l)
}

func (m *Image) unlink(ino trace.Ino, l link) {
	n := m.edit(ino)
	if n.link == l {
		n.link = link{}
		if last := len(n.more) - 1; last >= 0 {
			n.link = n.more[last]
			n.more = n.more[:last:last]
		}
		return
	}
	if i := slices.Index(n.more, l); i >= 0 {
		n.more = slices.Delete(slices.Clone(n.more), i, i+1)
	}
}

// Lookup returns the inode at a cleaned absolute path ("/", "/a/b"); false if a part of it is
// missing or is a file.
func (m *Image) Lookup(path string) (trace.Ino, bool) {
	at := trace.Root
	for rest := strings.Trim(path, "/"); rest != ""; {
		name, tail, _ := strings.Cut(rest, "/")
		ino, ok := m.Child(at, name)
		if !ok {
			return 0, false
		}
		at, rest = ino, tail
	}
	return at, true
}

// above is the chain of folders from one folder up to the root.
type above struct {
	ino trace.Ino
	up  *above
}

func (a *above) has(ino trace.Ino) bool {
	for ; a != nil; a = a.up {
		if a.ino == ino {
			return true
		}
	}
	return false
}

// Walk calls visit for every name that can be seen, the root first, each folder before what
// it holds, names in byte order. It stops when visit returns false. A folder that was bound
// below itself is not entered again there.
func (m *Image) Walk(visit func(path string, info Info) bool) {
	if n := m.inode(trace.Root); visit("/", n.info(trace.Root)) {
		m.walk("", &above{ino: trace.Root}, visit)
	}
}

func (m *Image) walk(path string, at *above, visit func(string, Info) bool) bool {
	for _, e := range m.Entries(at.ino) {
		n := m.inode(e.Ino)
		sub := path + "/" + e.Name
		if !visit(sub, n.info(e.Ino)) {
			return false
		}
		if n.dir && !at.has(e.Ino) && !m.walk(sub, &above{e.Ino, at}, visit) {
			return false
		}
	}
	return true
}

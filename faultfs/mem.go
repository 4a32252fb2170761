package faultfs

import (
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

var (
	_ afero.Fs      = (*Mem)(nil)
	_ afero.Lstater = (*Mem)(nil)
)

// Mem is a file system in memory that does what a POSIX kernel under package os does: results,
// errors ([*fs.PathError] and [*os.LinkError] with the same op and the kernel's errno), open
// handles that outlive their names, O_APPEND that finds the end at every write. Differences:
//
//   - everybody is root: no permission is ever refused, and owners are not kept;
//   - there are no symbolic links, and the working folder is "/";
//   - listings are sorted, a folder's size is 0, times are logical ([memEpoch] plus one second
//     for each change), and Chtimes keeps whole seconds;
//   - the umask is 0 until [Mem.SetUmask] sets it;
//   - [fs.FileInfo] is a snapshot whose Sys is an [*image.Info]; [os.SameFile] knows only its
//     own kind, so compare the Ino of two of those.
//
// All methods may be used by several goroutines at a time. Files also offer [Locker] and
// Ino() trace.Ino. Make one with [NewMem].
type Mem struct {
	mu    sync.Mutex
	img   *image.Image
	open  map[trace.Ino]memOpen
	umask fs.FileMode
}

// memOpen counts the handles of one inode.
type memOpen struct {
	handles int
	holder  *memFile // has the writer's lock; nil is nobody
}

// NewMem serves a copy of img, which stays as it is. A nil img is an empty file system.
func NewMem(img *image.Image) *Mem {
	if img == nil {
		return &Mem{img: image.New()}
	}
	return &Mem{img: img.Clone()}
}

// Image is the present state. Later changes do not show in it.
func (m *Mem) Image() *image.Image {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.img.Clone()
}

// SetUmask sets the permission bits that new files and folders do not get, and returns the old.
func (m *Mem) SetUmask(mask fs.FileMode) fs.FileMode {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.umask
	m.umask = mask.Perm()
	return old
}

// Name is the kind of file system, as afero asks for it.
func (m *Mem) Name() string { return "faultfs.Mem" }

// memEpoch is tick 0 of the logical clock.
func memEpoch() time.Time { return time.Unix(1_767_225_600, 0).UTC() } // 2026-01-01

func memError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// memResult is nil for errno 0; a bare conversion would be a non-nil error.
func memResult(op, name string, errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return memError(op, name, errno)
}

// Create opens name for reading and writing, makes it with mode 0666 if it is not there and
// cuts it to nothing if it is.
func (m *Mem) Create(name string) (afero.File, error) {
	return m.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// Open opens name for reading.
func (m *Mem) Open(name string) (afero.File, error) { return m.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile opens name as [os.OpenFile] does.
func (m *Mem) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, errno := m.resolve(name)
	if errno != 0 {
		return nil, memError("open", name, errno)
	}
	made := false
	if flag&os.O_CREATE != 0 {
		made, errno = m.openCreate(&p, flag, perm)
	} else {
		errno = m.mustExist(p)
	}
	if errno != 0 {
		return nil, memError("open", name, errno)
	}
	dir := m.isDir(p.ino)
	if dir && flag&(os.O_WRONLY|os.O_RDWR|os.O_TRUNC) != 0 {
		return nil, memError("open", name, syscall.EISDIR)
	}
	if flag&os.O_TRUNC != 0 && !made { // with O_RDONLY too, as the kernel does
		m.img.Truncate(p.ino, 0)
	}
	if m.open == nil {
		m.open = make(map[trace.Ino]memOpen)
	}
	o := m.open[p.ino]
	o.handles++
	m.open[p.ino] = o
	return &memFile{fs: m, ino: p.ino, name: name, flag: flag, dir: dir}, nil
}

// openCreate is the part of an open with O_CREATE; it makes the file if it is missing.
func (m *Mem) openCreate(p *memPath, flag int, perm fs.FileMode) (made bool, errno syscall.Errno) {
	switch {
	case p.bad != 0:
		return false, p.bad
	case p.slash && !p.special():
		return false, syscall.EISDIR
	case p.ino != 0 && flag&os.O_EXCL != 0:
		return false, syscall.EEXIST
	case p.ino != 0 && m.isDir(p.ino):
		return false, syscall.EISDIR
	case p.ino != 0:
		return false, 0
	}
	p.ino = m.img.Alloc(false, perm&^m.umask)
	m.img.Bind(p.dir, p.name, p.ino)
	return true, 0
}

// release counts one handle less and forgets a file that has neither handle nor name.
func (m *Mem) release(f *memFile) {
	o := m.open[f.ino]
	o.handles--
	if o.holder == f {
		o.holder = nil
	}
	if o.handles > 0 {
		m.open[f.ino] = o
		return
	}
	delete(m.open, f.ino)
	m.img.Drop(f.ino)
}

// unnamed forgets ino if its last name is gone and no handle holds it.
func (m *Mem) unnamed(ino trace.Ino) {
	if ino != 0 && m.open[ino].handles == 0 {
		m.img.Drop(ino)
	}
}

// removed reports whether an open folder has lost its name.
func (m *Mem) removed(dir trace.Ino) bool {
	info, ok := m.img.Stat(dir)
	return !ok || info.Nlink == 0 && dir != trace.Root
}

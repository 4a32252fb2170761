package faultfs

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/unplug-go/unplug/faultfs/trace"
)

// Mkdir makes a folder; its parent must be there.
func (m *Mem) Mkdir(name string, perm fs.FileMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return memResult("mkdir", name, m.mkdir(name, perm))
}

func (m *Mem) mkdir(name string, perm fs.FileMode) syscall.Errno {
	p, errno := m.resolve(name)
	switch {
	case errno != 0:
		return errno
	case p.bad != 0:
		return p.bad
	case p.ino != 0:
		return syscall.EEXIST
	}
	p.ino = m.img.Alloc(true, perm&(fs.ModePerm|fs.ModeSticky)&^m.umask)
	m.img.Bind(p.dir, p.name, p.ino)
	return 0
}

// MkdirAll makes a folder and those above it that are missing. The error names the one that
// could not be made.
func (m *Mem) MkdirAll(name string, perm fs.FileMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mkdirAll(name, perm)
}

func (m *Mem) mkdirAll(name string, perm fs.FileMode) error {
	if ino, errno := m.find(name); errno == 0 {
		if m.isDir(ino) {
			return nil
		}
		return memError("mkdir", name, syscall.ENOTDIR)
	}
	above := strings.TrimRight(name, "/")
	if i := strings.LastIndexByte(above, '/'); i > 0 {
		if err := m.mkdirAll(above[:i], perm); err != nil {
			return err
		}
	}
	errno := m.mkdir(name, perm)
	if ino, missing := m.find(name); errno != 0 && missing == 0 && m.isDir(ino) {
		return nil // "new/.", whose last part came with the folder
	}
	return memResult("mkdir", name, errno)
}

// Remove takes away a file's name, or an empty folder. Open handles keep the file.
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return memResult("remove", name, m.remove(name))
}

// remove tries unlink, then rmdir, as os.Remove does, and chooses between their errors as it does.
func (m *Mem) remove(name string) syscall.Errno {
	p, errno := m.resolve(name)
	switch {
	case errno != 0:
		return errno
	case p.bad != 0:
		return p.bad
	case p.name == "":
		return syscall.EBUSY
	case p.name == ".":
		return syscall.EINVAL
	case p.name == "..":
		return syscall.ENOTEMPTY
	case p.ino == 0:
		return syscall.ENOENT
	case m.isDir(p.ino) && m.img.Len(p.ino) > 0:
		return syscall.ENOTEMPTY
	case p.slash && !m.isDir(p.ino):
		return syscall.ENOTDIR
	}
	m.img.Unbind(p.dir, p.name)
	m.unnamed(p.ino)
	return 0
}

// RemoveAll takes away name and all below it. A name that is not there is no error.
func (m *Mem) RemoveAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if name == "" {
		return nil
	}
	if name == "." || strings.HasSuffix(name, "/.") {
		return memError("RemoveAll", name, syscall.EINVAL)
	}
	errno := m.remove(name)
	if errno == 0 || errors.Is(errno, fs.ErrNotExist) {
		return nil
	}
	p, errno := m.resolve(strings.TrimRight(name, "/"))
	switch {
	case strings.Trim(name, "/") == "":
		m.removeBelow(trace.Root)
		return memError("unlinkat", name, syscall.EBUSY)
	case errno != 0:
		return memError("unlinkat", name, errno)
	case p.bad != 0:
		return memError("unlinkat", name, p.bad)
	case p.special(): // ends in "..": the folder holds at least the way here
		return memError("unlinkat", name, syscall.ENOTEMPTY)
	}
	m.removeBelow(p.ino)
	m.img.Unbind(p.dir, p.name)
	m.unnamed(p.ino)
	return nil
}

func (m *Mem) removeBelow(dir trace.Ino) {
	for _, e := range m.img.Entries(dir) {
		m.removeBelow(e.Ino)
		m.img.Unbind(dir, e.Name)
		m.unnamed(e.Ino)
	}
}

// Rename gives what oldname leads to the name newname; a file there is replaced. Errors are
// [*os.LinkError]. As with [os.Rename], a folder at newname is EEXIST even when it is empty.
func (m *Mem) Rename(oldname, newname string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if errno := m.rename(oldname, newname); errno != 0 {
		return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: errno}
	}
	return nil
}

func (m *Mem) rename(oldname, newname string) syscall.Errno {
	if over, errno := m.find(newname); errno == 0 && m.isDir(over) {
		ino, errno := m.find(oldname)
		if errno != 0 {
			return errno
		}
		if newname == oldname || ino != over {
			return syscall.EEXIST
		}
	}
	if memNul(newname) {
		return syscall.EINVAL // before the kernel sees either
	}
	o, errno := m.resolve(oldname)
	if errno != 0 {
		return errno
	}
	n, errno := m.resolve(newname)
	if errno != 0 {
		return errno
	}
	dir := m.isDir(o.ino)
	switch {
	case o.special() || n.special():
		return syscall.EBUSY
	case o.bad != 0:
		return o.bad
	case o.ino == 0:
		return syscall.ENOENT
	case n.bad != 0:
		return n.bad
	case !dir && (o.slash || n.slash):
		return syscall.ENOTDIR
	case dir && m.below(n.dir, o.ino):
		return syscall.EINVAL
	case n.ino == o.ino:
		return 0 // two names of one file: the kernel keeps both
	case n.ino != 0 && dir:
		return syscall.ENOTDIR
	}
	m.img.Bind(n.dir, n.name, o.ino)
	m.img.Unbind(o.dir, o.name)
	m.unnamed(n.ino)
	return 0
}

// below reports whether folder ino is top or in it, at any depth.
func (m *Mem) below(ino, top trace.Ino) bool {
	for ino != top && ino != trace.Root {
		ino = m.parent(ino)
	}
	return ino == top
}

// Link gives the file at oldname the further name newname (afero has no word for it). Errors
// are [*os.LinkError].
func (m *Mem) Link(oldname, newname string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if errno := m.link(oldname, newname); errno != 0 {
		return &os.LinkError{Op: "link", Old: oldname, New: newname, Err: errno}
	}
	return nil
}

func (m *Mem) link(oldname, newname string) syscall.Errno {
	if memNul(newname) {
		return syscall.EINVAL
	}
	ino, errno := m.find(oldname)
	if errno != 0 {
		return errno
	}
	n, errno := m.resolve(newname)
	switch {
	case errno != 0:
		return errno
	case n.bad != 0:
		return n.bad
	case n.ino != 0:
		return syscall.EEXIST
	case n.slash:
		return syscall.ENOENT
	case m.isDir(ino):
		return syscall.EPERM
	}
	m.img.Bind(n.dir, n.name, ino)
	return 0
}

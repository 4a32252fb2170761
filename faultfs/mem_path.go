package faultfs

import (
	"strings"
	"syscall"

	"github.com/unplug-go/unplug/faultfs/trace"
)

// What Linux allows, in bytes. memMaxSize is that of ext4 with 4 KiB blocks.
const (
	memMaxName = 255
	memMaxPath = 4095
	memMaxSize = 1<<44 - 4096
)

// memPath is a path whose folder exists.
type memPath struct {
	dir   trace.Ino // the folder that holds the last name
	name  string    // the last name; "", "." or ".." where the path ends in a folder by itself
	ino   trace.Ino // what it leads to; 0 is nothing
	slash bool      // slashes follow the last name
	bad   syscall.Errno
}

// special reports whether the path ends in ".", ".." or is the root: no name to make or take.
func (p memPath) special() bool { return p.name == "" || p.name == "." || p.name == ".." }

func (m *Mem) isDir(ino trace.Ino) bool {
	info, ok := m.img.Stat(ino)
	return ok && info.Dir
}

// memNul reports whether name holds a NUL, which no system call can be given.
func memNul(name string) bool { return strings.IndexByte(name, 0) >= 0 }

// resolve walks name as the kernel does: every part but the last must be a folder, "a/../b"
// needs a, and a relative path starts at "/". An error of the last part alone is p.bad.
func (m *Mem) resolve(name string) (memPath, syscall.Errno) {
	switch {
	case memNul(name):
		return memPath{}, syscall.EINVAL
	case name == "":
		return memPath{}, syscall.ENOENT
	case len(name) > memMaxPath:
		return memPath{}, syscall.ENAMETOOLONG
	}
	at := trace.Root
	for rest := strings.TrimLeft(name, "/"); rest != ""; {
		end := strings.IndexByte(rest, '/')
		if end < 0 {
			return m.last(at, rest, false)
		}
		part := rest[:end]
		if rest = strings.TrimLeft(rest[end:], "/"); rest == "" {
			return m.last(at, part, true)
		}
		p, errno := m.last(at, part, false)
		if errno == 0 {
			errno = p.bad
		}
		switch {
		case errno != 0:
			return memPath{}, errno
		case p.ino == 0:
			return memPath{}, syscall.ENOENT
		}
		at = p.ino
	}
	return memPath{dir: trace.Root, ino: trace.Root}, 0
}

// last resolves one part within folder at.
func (m *Mem) last(at trace.Ino, part string, slash bool) (memPath, syscall.Errno) {
	if !m.isDir(at) {
		return memPath{}, syscall.ENOTDIR
	}
	p := memPath{dir: at, name: part, slash: slash}
	switch {
	case part == ".":
		p.ino = at
	case part == "..":
		p.ino = m.parent(at)
	case len(part) > memMaxName:
		p.bad = syscall.ENAMETOOLONG
	default:
		p.ino, _ = m.img.Child(at, part)
	}
	return p, 0
}

// parent is the folder above; the root's is the root.
func (m *Mem) parent(ino trace.Ino) trace.Ino {
	if dir, _, ok := m.img.Name(ino); ok {
		return dir
	}
	return trace.Root
}

// mustExist is the error of using what p leads to, 0 if it is there.
func (m *Mem) mustExist(p memPath) syscall.Errno {
	switch {
	case p.bad != 0:
		return p.bad
	case p.ino == 0:
		return syscall.ENOENT
	case p.slash && !m.isDir(p.ino):
		return syscall.ENOTDIR
	}
	return 0
}

// find returns the inode at name.
func (m *Mem) find(name string) (trace.Ino, syscall.Errno) {
	p, errno := m.resolve(name)
	if errno == 0 {
		errno = m.mustExist(p)
	}
	return p.ino, errno
}

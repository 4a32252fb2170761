package faultfs

import (
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/unplug-go/unplug/faultfs/image"
)

// memInfo is a file's description at one moment.
type memInfo struct {
	name string
	info image.Info
}

func (i *memInfo) Name() string { return i.name }
func (i *memInfo) Size() int64  { return i.info.Size }
func (i *memInfo) ModTime() time.Time {
	return memEpoch().Add(time.Duration(i.info.ModTime) * time.Second)
}
func (i *memInfo) IsDir() bool { return i.info.Dir }

// Sys is an *image.Info.
func (i *memInfo) Sys() any { return &i.info }

func (i *memInfo) Mode() fs.FileMode {
	if i.info.Dir {
		return i.info.Mode | fs.ModeDir
	}
	return i.info.Mode
}

// memBase is the last part of a path, as [fs.FileInfo] names it.
func memBase(name string) string {
	if trimmed := strings.TrimRight(name, "/"); trimmed != "" {
		return trimmed[strings.LastIndexByte(trimmed, '/')+1:]
	}
	return "/"
}

// Stat describes what is at name.
func (m *Mem) Stat(name string) (fs.FileInfo, error) { return m.stat("stat", name) }

// LstatIfPossible is Stat, with true: there are no symbolic links to follow.
func (m *Mem) LstatIfPossible(name string) (os.FileInfo, bool, error) {
	info, err := m.stat("lstat", name)
	return info, true, err
}

func (m *Mem) stat(op, name string) (fs.FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ino, errno := m.find(name)
	if errno != 0 {
		return nil, memError(op, name, errno)
	}
	i := &memInfo{name: memBase(name)}
	i.info, _ = m.img.Stat(ino)
	return i, nil
}

// Chmod sets permission bits, setuid, setgid and sticky.
func (m *Mem) Chmod(name string, mode fs.FileMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	ino, errno := m.find(name)
	if errno == 0 {
		m.img.Chmod(ino, mode)
	}
	return memResult("chmod", name, errno)
}

// Chown succeeds where name exists. Owners are not kept.
func (m *Mem) Chown(name string, _, _ int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, errno := m.find(name)
	return memResult("chown", name, errno)
}

// Chtimes sets the time of last change, to the second; a zero time leaves it. Access times
// are not kept.
func (m *Mem) Chtimes(name string, _, mtime time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	ino, errno := m.find(name)
	if errno == 0 && !mtime.IsZero() {
		m.img.SetModTime(ino, mtime.Unix()-memEpoch().Unix())
	}
	return memResult("chtimes", name, errno)
}

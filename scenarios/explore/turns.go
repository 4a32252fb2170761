package explore

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/faultfs"
)

// turns is a file system layer, as one process sees it, that gives others a turn before each of
// its calls: schedules of several processes without a goroutine, the same each time.
type turns struct {
	*faultfs.FS
	calls int
	turn  func(call int) // before call number call, from 0
}

func (t *turns) next() {
	n := t.calls
	t.calls++
	if t.turn != nil {
		t.turn(n)
	}
}

func (t *turns) file(f afero.File, err error) (afero.File, error) {
	if err != nil {
		return nil, err
	}
	return &turnFile{f, t}, nil
}

func (t *turns) Open(name string) (afero.File, error) {
	t.next()
	return t.file(t.FS.Open(name))
}

func (t *turns) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	t.next()
	return t.file(t.FS.OpenFile(name, flag, perm))
}

func (t *turns) Create(name string) (afero.File, error) {
	t.next()
	return t.file(t.FS.Create(name))
}

func (t *turns) Stat(name string) (os.FileInfo, error) {
	t.next()
	return t.FS.Stat(name)
}

func (t *turns) Mkdir(name string, perm os.FileMode) error {
	t.next()
	return t.FS.Mkdir(name, perm)
}

func (t *turns) MkdirAll(name string, perm os.FileMode) error {
	t.next()
	return t.FS.MkdirAll(name, perm)
}

func (t *turns) Remove(name string) error {
	t.next()
	return t.FS.Remove(name)
}

func (t *turns) RemoveAll(name string) error {
	t.next()
	return t.FS.RemoveAll(name)
}

func (t *turns) Rename(from, to string) error {
	t.next()
	return t.FS.Rename(from, to)
}

func (t *turns) Link(from, to string) error {
	t.next()
	return t.FS.Link(from, to)
}

func (t *turns) Chmod(name string, mode os.FileMode) error {
	t.next()
	return t.FS.Chmod(name, mode)
}

func (t *turns) Chtimes(name string, atime, mtime time.Time) error {
	t.next()
	return t.FS.Chtimes(name, atime, mtime)
}

// turnFile is an open file of turns. Seek gives no turn: it changes nothing that another
// process sees.
type turnFile struct {
	afero.File
	t *turns
}

func (f *turnFile) Read(p []byte) (int, error) {
	f.t.next()
	return f.File.Read(p)
}

func (f *turnFile) ReadAt(p []byte, off int64) (int, error) {
	f.t.next()
	return f.File.ReadAt(p, off)
}

func (f *turnFile) Write(p []byte) (int, error) {
	f.t.next()
	return f.File.Write(p)
}

func (f *turnFile) WriteAt(p []byte, off int64) (int, error) {
	f.t.next()
	return f.File.WriteAt(p, off)
}

func (f *turnFile) WriteString(s string) (int, error) {
	f.t.next()
	return f.File.WriteString(s)
}

func (f *turnFile) Truncate(size int64) error {
	f.t.next()
	return f.File.Truncate(size)
}

func (f *turnFile) Sync() error {
	f.t.next()
	return f.File.Sync()
}

func (f *turnFile) Stat() (fs.FileInfo, error) {
	f.t.next()
	return f.File.Stat()
}

func (f *turnFile) Close() error {
	f.t.next()
	return f.File.Close()
}

// TryLock takes the file's lock, if it has one.
func (f *turnFile) TryLock() error {
	f.t.next()
	if l, ok := f.File.(faultfs.Locker); ok {
		return l.TryLock()
	}
	return errors.ErrUnsupported
}

// Unlock lets the file's lock go.
func (f *turnFile) Unlock() error {
	f.t.next()
	if l, ok := f.File.(faultfs.Locker); ok {
		return l.Unlock()
	}
	return errors.ErrUnsupported
}

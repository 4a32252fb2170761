package explore

import (
	"errors"
	"io"
	"io/fs"

	"github.com/spf13/afero"
)

// spy is a file system as a reader is given it: it counts the calls that look at something,
// and lets the harness do something between two of them.
type spy struct {
	afero.Fs
	calls map[string]int // by the word of a plan: open, stat, read, readdir
	all   int
	bytes int64 // that reads gave
	// cut counts the reads at an offset that gave fewer bytes than were asked for, with the
	// error that io.ReaderAt demands then: a reader may pass that error on.
	cut int
	// before is called in front of every call, with its number from 1; nil is nothing.
	before func(call int)
}

func newSpy(fsys afero.Fs) *spy { return &spy{Fs: fsys, calls: map[string]int{}} }

func (s *spy) look(call string) {
	s.calls[call]++
	if s.all++; s.before != nil {
		s.before(s.all)
	}
}

// Open opens for reading.
func (s *spy) Open(name string) (afero.File, error) { return s.opened(s.Fs.Open)(name) }

func (s *spy) opened(open func(string) (afero.File, error)) func(string) (afero.File, error) {
	return func(name string) (afero.File, error) {
		s.look("open")
		f, err := open(name)
		if err != nil {
			return nil, err
		}
		return &spyFile{f, s}, nil
	}
}

// OpenFile opens as it is told.
func (s *spy) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	return s.opened(func(name string) (afero.File, error) { return s.Fs.OpenFile(name, flag, perm) })(name)
}

// Stat describes a file.
func (s *spy) Stat(name string) (fs.FileInfo, error) {
	s.look("stat")
	return s.Fs.Stat(name)
}

// spyFile is an open file of a spy.
type spyFile struct {
	afero.File
	spy *spy
}

// Read reads on.
func (f *spyFile) Read(p []byte) (int, error) {
	f.spy.look("read")
	n, err := f.File.Read(p)
	f.spy.bytes += int64(n)
	return n, err
}

// ReadAt reads at an offset.
func (f *spyFile) ReadAt(p []byte, off int64) (int, error) {
	f.spy.look("read")
	n, err := f.File.ReadAt(p, off)
	f.spy.bytes += int64(n)
	if n > 0 && errors.Is(err, io.ErrUnexpectedEOF) {
		f.spy.cut++
	}
	return n, err
}

// Stat describes the file.
func (f *spyFile) Stat() (fs.FileInfo, error) {
	f.spy.look("stat")
	return f.File.Stat()
}

// Readdir lists a folder.
func (f *spyFile) Readdir(n int) ([]fs.FileInfo, error) {
	f.spy.look("readdir")
	return f.File.Readdir(n)
}

// Readdirnames lists a folder.
func (f *spyFile) Readdirnames(n int) ([]string, error) {
	f.spy.look("readdir")
	return f.File.Readdirnames(n)
}

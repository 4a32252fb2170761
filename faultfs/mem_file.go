package faultfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/faultfs/trace"
)

var _ afero.File = (*memFile)(nil)

// memFile is one open handle. The file system's mutex guards it too.
type memFile struct {
	fs     *Mem
	ino    trace.Ino
	name   string
	flag   int
	off    int64
	dir    bool
	closed bool
	list   memList
}

// Name is the path that the file was opened with.
func (f *memFile) Name() string { return f.name }

// Ino is the number of the file.
func (f *memFile) Ino() trace.Ino { return f.ino }

// Close gives the handle back, with its lock.
func (f *memFile) Close() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.closed {
		return memError("close", f.name, fs.ErrClosed)
	}
	f.closed = true
	f.list = memList{}
	f.fs.release(f)
	return nil
}

// check is the error that any use of a closed handle gets.
func (f *memFile) check(op string) error {
	if f.closed {
		return memError(op, f.name, fs.ErrClosed)
	}
	return nil
}

func (f *memFile) readable() syscall.Errno {
	switch {
	case f.flag&os.O_WRONLY != 0:
		return syscall.EBADF
	case f.dir:
		return syscall.EISDIR
	}
	return 0
}

func (f *memFile) writable() bool { return f.flag&(os.O_WRONLY|os.O_RDWR) != 0 }

// Read reads from the handle's position on. A read of no bytes asks the kernel nothing.
func (f *memFile) Read(p []byte) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check("read"); err != nil || len(p) == 0 {
		return 0, err
	}
	if errno := f.readable(); errno != 0 {
		return 0, memError("read", f.name, errno)
	}
	n := f.fs.img.ReadAt(f.ino, p, f.off)
	if n == 0 {
		return 0, io.EOF
	}
	f.off += int64(n)
	return n, nil
}

// ReadAt fills p from off on; the handle's position stays. Fewer bytes come with io.EOF.
func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, memError("readat", f.name, errNegative)
	}
	if len(p) == 0 {
		return 0, nil
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check("read"); err != nil {
		return 0, err
	}
	if errno := f.readable(); errno != 0 {
		return 0, memError("read", f.name, errno)
	}
	n := f.fs.img.ReadAt(f.ino, p, off)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// The errors of package os that it does not export, in its words.
var (
	errNegative     = errors.New("negative offset")
	errWriteAtAtEnd = errors.New("os: invalid use of WriteAt on file opened with O_APPEND")
)

// Write writes at the handle's position, with O_APPEND at the end of the file as it is now.
func (f *memFile) Write(p []byte) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check("write"); err != nil {
		return 0, err
	}
	if !f.writable() {
		return 0, memError("write", f.name, syscall.EBADF)
	}
	if len(p) == 0 {
		return 0, nil
	}
	if f.flag&os.O_APPEND != 0 {
		info, _ := f.fs.img.Stat(f.ino)
		f.off = info.Size
	}
	n, err := f.write(p, f.off)
	f.off += int64(n)
	return n, err
}

// WriteString is Write.
func (f *memFile) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

// WriteAt writes at off; the handle's position stays. With O_APPEND it is refused, as in package os.
func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	switch {
	case f.flag&os.O_APPEND != 0:
		return 0, errWriteAtAtEnd
	case off < 0:
		return 0, memError("writeat", f.name, errNegative)
	case len(p) == 0:
		return 0, nil
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check("write"); err != nil {
		return 0, err
	}
	if !f.writable() {
		return 0, memError("write", f.name, syscall.EBADF)
	}
	return f.write(p, off)
}

// write writes what fits below the greatest size a file can have.
func (f *memFile) write(p []byte, off int64) (int, error) {
	fits := p
	if room := max(memMaxSize-off, 0); int64(len(p)) > room {
		fits = p[:room]
	}
	f.fs.img.WriteAt(f.ino, fits, off)
	if len(fits) < len(p) {
		return len(fits), memError("write", f.name, syscall.EFBIG)
	}
	return len(p), nil
}

// Seek sets the handle's position. On a folder it starts the listing anew.
func (f *memFile) Seek(offset int64, whence int) (int64, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check("seek"); err != nil {
		return 0, err
	}
	f.list = memList{}
	base := int64(0)
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		base = f.off
	case io.SeekEnd:
		info, _ := f.fs.img.Stat(f.ino)
		base = info.Size
	default:
		return 0, memError("seek", f.name, syscall.EINVAL)
	}
	if offset > memMaxSize-base || base+offset < 0 {
		return 0, memError("seek", f.name, syscall.EINVAL)
	}
	f.off = base + offset
	return f.off, nil
}

// Truncate cuts the file to size bytes or extends it with zeros; the position stays.
func (f *memFile) Truncate(size int64) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check("truncate"); err != nil {
		return err
	}
	switch {
	case size < 0 || !f.writable():
		return memError("truncate", f.name, syscall.EINVAL)
	case size > memMaxSize:
		return memError("truncate", f.name, syscall.EFBIG)
	}
	f.fs.img.Truncate(f.ino, size)
	return nil
}

// Sync succeeds on any open file or folder: what an image holds is as durable as it gets. What
// a crash leaves of it is for the layer above to say.
func (f *memFile) Sync() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return f.check("sync")
}

// Stat describes the file as it is now, also without a name.
func (f *memFile) Stat() (fs.FileInfo, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check("stat"); err != nil {
		return nil, err
	}
	i := &memInfo{name: memBase(f.name)}
	i.info, _ = f.fs.img.Stat(f.ino)
	return i, nil
}

package sqlitevfs

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/faultfs/image"
)

// sectorSize is what SQLite assumes a disk to write at once, if "psow=0" takes back the claim that
// overwriting is safe: the default of its VFS for unix.
const sectorSize = 4096

// file is an open database or journal. SQLite calls it from one goroutine at a time.
type file struct {
	vfs       *VFS
	base      afero.File
	name      string
	held      vfs.LockLevel
	psow      bool
	readOnly  bool
	owesNames bool // the folder is to be synced with the first sync
	temporary bool // to be removed when it is closed
}

var (
	_ vfs.FileLockState          = (*file)(nil)
	_ vfs.FileHasMoved           = (*file)(nil)
	_ vfs.FilePowersafeOverwrite = (*file)(nil)
)

// Close lets the file and its locks go.
func (f *file) Close() error {
	err := f.Unlock(vfs.LOCK_NONE)
	err = errors.Join(err, f.closeBase())
	if f.temporary {
		err = errors.Join(err, f.vfs.fsys.Remove(f.name))
	}
	return f.vfs.fail(err, sqlite3.IOERR_CLOSE)
}

// ReadAt reads on until p is full: only the end of the file makes a read of SQLite short.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		m, err := f.base.ReadAt(p[n:], off+int64(n))
		n += m
		switch {
		case err == nil && m > 0:
		case errors.Is(err, io.ErrUnexpectedEOF) && m > 0: // short, and perhaps not at the end
		case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			if n < len(p) {
				return n, io.EOF // the value that io.ReaderAt asks for, unwrapped
			}
		default:
			return n, f.vfs.fail(err, sqlite3.IOERR_READ)
		}
	}
	return n, nil
}

// WriteAt writes on until all of p is written. A disk that takes nothing more is full.
func (f *file) WriteAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		m, err := f.base.WriteAt(p[n:], off+int64(n))
		n += m
		switch {
		case err == nil && m > 0, errors.Is(err, io.ErrShortWrite) && m > 0:
		case err == nil, errors.Is(err, io.ErrShortWrite):
			return n, f.vfs.fail(io.ErrShortWrite, sqlite3.ExtendedErrorCode(sqlite3.FULL))
		default:
			return n, f.vfs.fail(err, sqlite3.IOERR_WRITE)
		}
	}
	return n, nil
}

// Truncate sets the size.
func (f *file) Truncate(size int64) error {
	return f.vfs.fail(f.base.Truncate(size), sqlite3.IOERR_TRUNCATE)
}

// Sync makes the bytes durable, and the first time the name of a new journal too. The name is owed
// until its sync has succeeded.
func (f *file) Sync(vfs.SyncFlag) error {
	if err := f.base.Sync(); err != nil {
		return f.vfs.fail(err, sqlite3.IOERR_FSYNC)
	}
	if !f.owesNames {
		return nil
	}
	err := f.vfs.syncFolderOf(f.name)
	f.owesNames = err != nil
	return err
}

// Size is the file's length.
func (f *file) Size() (int64, error) {
	info, err := f.base.Stat()
	if err != nil {
		return 0, f.vfs.fail(err, sqlite3.IOERR_FSTAT)
	}
	return info.Size(), nil
}

// SectorSize is used without PowersafeOverwrite only.
func (f *file) SectorSize() int { return sectorSize }

// DeviceCharacteristics claims what SQLite's VFS for unix claims, and nothing about atomic writes
// or appends.
func (f *file) DeviceCharacteristics() vfs.DeviceCharacteristic {
	can := vfs.IOCAP_SUBPAGE_READ
	if f.psow {
		can |= vfs.IOCAP_POWERSAFE_OVERWRITE
	}
	return can
}

// PowersafeOverwrite says whether a torn write is thought to harm only its own range.
func (f *file) PowersafeOverwrite() bool { return f.psow }

// SetPowersafeOverwrite is "psow" of the URI.
func (f *file) SetPowersafeOverwrite(on bool) { f.psow = on }

// HasMoved says whether another file, or none, stands under the name: SQLite then writes nothing
// more, since its journal would belong to the wrong file.
func (f *file) HasMoved() (bool, error) {
	open, err := f.base.Stat()
	if err != nil {
		return false, f.vfs.fail(err, sqlite3.IOERR_FSTAT)
	}
	named, err := f.vfs.fsys.Stat(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, f.vfs.fail(err, sqlite3.IOERR_FSTAT)
	}
	return different(open, named), nil
}

// different says whether two descriptions are of different files, as far as the file system tells
// files apart; some do not tell one from itself.
func different(a, b fs.FileInfo) bool {
	if one, ok := a.Sys().(*image.Info); ok {
		other, ok := b.Sys().(*image.Info)
		return ok && one.Ino != other.Ino
	}
	return os.SameFile(a, a) && !os.SameFile(a, b)
}

package sqlitevfs

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
	"github.com/spf13/afero"
)

// VFS is a file system that SQLite knows. It may be used by several connections at once.
type VFS struct {
	fsys  afero.Fs
	name  string
	locks locks

	mu    sync.Mutex
	first error // of those that the file system returned since somebody asked
}

var _ vfs.VFS = (*VFS)(nil)

// fileMode is that of every file which SQLite makes: a session is nobody else's to read.
const fileMode fs.FileMode = 0o600

//nolint:gochecknoglobals // names of VFSes are global in SQLite: none may be given twice
var registered atomic.Int64

// Register makes fsys known to SQLite, under a name of its own.
func Register(fsys afero.Fs) *VFS {
	v := &VFS{fsys: fsys, name: fmt.Sprintf("afero-%d", registered.Add(1))}
	vfs.Register(v.name, v)
	return v
}

// Unregister makes SQLite forget the VFS. Its connections must be closed before.
func (v *VFS) Unregister() { vfs.Unregister(v.name) }

// Name is what SQLite calls the VFS.
func (v *VFS) Name() string { return v.name }

// URI is the name under which SQLite opens the database at a path of the file system, or
// attaches it. Further parameters, as in https://sqlite.org/uri.html, may follow behind an "&".
func (v *VFS) URI(name string) string {
	u := url.URL{Scheme: "file", Path: absolute(name), RawQuery: "vfs=" + v.name, OmitHost: true}
	return u.String()
}

// absolute is how SQLite is told a path, and how it tells it: journals have the database's
// path with a suffix.
func absolute(name string) string { return path.Clean(filepath.ToSlash(name)) }

// FullPathname gives the path as it is, cleaned: an [afero.Fs] has no working directory.
func (v *VFS) FullPathname(name string) (string, error) { return absolute(name), nil }

// Open opens a database or one of its journals; a file without a name is a temporary one.
func (v *VFS) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	const temporary = vfs.OPEN_TEMP_DB | vfs.OPEN_TRANSIENT_DB | vfs.OPEN_TEMP_JOURNAL | vfs.OPEN_SUBJOURNAL
	if name == "" || flags&temporary != 0 {
		return &vfsutil.SliceFile{}, flags | vfs.OPEN_MEMORY, nil
	}
	f, err := v.fsys.OpenFile(name, openFlags(flags), fileMode)
	if mayOnlyRead(err) && flags&vfs.OPEN_MAIN_DB != 0 && flags&vfs.OPEN_READWRITE != 0 {
		if read, again := v.fsys.OpenFile(name, os.O_RDONLY, 0); again == nil {
			f, err = read, nil
			flags = flags&^(vfs.OPEN_READWRITE|vfs.OPEN_CREATE) | vfs.OPEN_READONLY
		}
	}
	if err != nil {
		return nil, flags, v.cannotOpen(name, flags, err)
	}
	const journals = vfs.OPEN_MAIN_JOURNAL | vfs.OPEN_SUPER_JOURNAL | vfs.OPEN_WAL
	return &file{
		vfs: v, base: f, name: name, psow: true,
		readOnly:  flags&vfs.OPEN_READONLY != 0,
		owesNames: flags&journals != 0 && flags&vfs.OPEN_CREATE != 0,
		temporary: flags&vfs.OPEN_DELETEONCLOSE != 0,
	}, flags, nil
}

func openFlags(flags vfs.OpenFlag) int {
	out := os.O_RDONLY
	if flags&vfs.OPEN_READWRITE != 0 {
		out = os.O_RDWR
	}
	if flags&vfs.OPEN_CREATE != 0 {
		out |= os.O_CREATE
	}
	if flags&vfs.OPEN_EXCLUSIVE != 0 {
		out |= os.O_EXCL
	}
	return out
}

func mayOnlyRead(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// cannotOpen finds SQLite's word for a file that does not open.
func (v *VFS) cannotOpen(name string, flags vfs.OpenFlag, err error) error {
	if info, again := v.fsys.Stat(name); again == nil && info.IsDir() {
		return v.fail(err, sqlite3.CANTOPEN_ISDIR)
	}
	if flags&vfs.OPEN_CREATE != 0 && flags&vfs.OPEN_MAIN_DB == 0 && mayOnlyRead(err) {
		return v.fail(err, sqlite3.READONLY_DIRECTORY)
	}
	return v.fail(err, sqlite3.ExtendedErrorCode(sqlite3.CANTOPEN))
}

// Delete removes a file, and makes that durable if SQLite asks for it.
func (v *VFS) Delete(name string, syncDir bool) error {
	err := v.fsys.Remove(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return vfs.SystemError(err, sqlite3.IOERR_DELETE_NOENT)
	case err != nil:
		return v.fail(err, sqlite3.IOERR_DELETE)
	case syncDir:
		return v.syncFolderOf(name)
	}
	return nil
}

// syncFolderOf makes the name of a file, or its absence, durable.
func (v *VFS) syncFolderOf(name string) error {
	if !syncsFolders {
		return nil
	}
	dir, err := v.fsys.Open(path.Dir(name))
	if err == nil {
		err = errors.Join(dir.Sync(), dir.Close())
	}
	return v.fail(err, sqlite3.IOERR_DIR_FSYNC)
}

// Access says whether a file is there, or may be written. As in SQLite's VFS for unix an empty
// file is none: an empty journal rolls nothing back.
func (v *VFS) Access(name string, flags vfs.AccessFlag) (bool, error) {
	info, err := v.fsys.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, v.fail(err, sqlite3.IOERR_ACCESS)
	case flags == vfs.ACCESS_EXISTS:
		return info.Size() > 0 || !info.Mode().IsRegular(), nil
	}
	return info.Mode().Perm()&0o600 == 0o600, nil
}

package faultfs

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/faultfs/trace"
)

var (
	_ afero.Fs      = (*FS)(nil)
	_ afero.Lstater = (*FS)(nil)
)

// linker is a base that can give a file a second name; afero has no word for it.
type linker interface {
	Link(oldname, newname string) error
}

func parent(name string) string { return filepath.Dir(filepath.Clean(name)) }

// bits are the mode bits that Chmod can set.
func bits(info fs.FileInfo) fs.FileMode {
	return info.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
}

// Mkdir makes a folder and records it.
func (f *FS) Mkdir(name string, perm fs.FileMode) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	op := trace.Op{Kind: trace.Mkdir, Path: clean(name), Mode: perm}
	s := step{call: CallMkdir, name: name}
	if err := f.begin(&s, &op, true); err != nil {
		return f.end(&s, &op, err)
	}
	err := f.base.Mkdir(name, perm)
	if err == nil {
		var info fs.FileInfo
		if info, err = f.base.Stat(name); err == nil {
			op.Ino, op.Dir, op.Mode = f.ids.made(op.Path, info), f.dirOf(name, op.Path), bits(info)
		}
	}
	return f.end(&s, &op, err)
}

// MkdirAll makes each missing folder of name, top first, each recorded and matched by rules as
// a Mkdir of its own.
func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	info, err := f.Stat(name)
	var fault *FaultError
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return &fs.PathError{Op: "mkdir", Path: name, Err: syscall.ENOTDIR}
	case errors.As(err, &fault):
		return err
	}
	if up := parent(name); up != filepath.Clean(name) && clean(up) != "/" {
		if err := f.MkdirAll(up, perm); err != nil {
			return err
		}
	}
	err = f.Mkdir(name, perm)
	if err == nil || !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, statErr := f.Stat(name); statErr == nil && info.IsDir() {
		return nil // another goroutine was quicker
	}
	return err
}

// Remove takes away a file or an empty folder and records it.
func (f *FS) Remove(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	op := trace.Op{Kind: trace.Remove, Path: clean(name)}
	s := step{call: CallRemove, name: name}
	if err := f.begin(&s, &op, true); err != nil {
		return f.end(&s, &op, err)
	}
	op.Ino, op.Dir = f.inoAt(name, op.Path), f.dirOf(name, op.Path)
	size := f.lastName(name)
	err := f.base.Remove(name)
	if err == nil {
		f.ids.removed(op.Path)
		f.nameless(op.Ino, size)
	}
	return f.end(&s, &op, err)
}

// RemoveAll takes away name and all below it, entry by entry, each recorded and matched by
// rules as a Remove of its own. It succeeds when there is nothing.
func (f *FS) RemoveAll(name string) error {
	if name != "" && filepath.Base(name) == "." {
		return &fs.PathError{Op: "RemoveAll", Path: name, Err: syscall.EINVAL} // as package os has it
	}
	info, _, err := f.LstatIfPossible(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		dir, err := f.Open(name)
		if err != nil {
			return err
		}
		names, err := dir.Readdirnames(-1)
		if err = errors.Join(err, dir.Close()); err != nil {
			return err
		}
		for _, entry := range names {
			if err := f.RemoveAll(filepath.Join(name, entry)); err != nil {
				return err
			}
		}
	}
	if err := f.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Rename moves a file or folder, over what stands at newname where the base allows that, and
// records it.
func (f *FS) Rename(oldname, newname string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	op := trace.Op{Kind: trace.Rename, Path: clean(oldname), Path2: clean(newname)}
	s := step{call: CallRename, name: oldname, name2: newname}
	if err := f.begin(&s, &op, true); err != nil {
		return f.end(&s, &op, err)
	}
	op.Ino, op.Dir = f.inoAt(oldname, op.Path), f.dirOf(oldname, op.Path)
	op.Target, op.Dir2 = f.inoAt(newname, op.Path2), f.dirOf(newname, op.Path2)
	size := f.lastName(newname)
	err := f.base.Rename(oldname, newname)
	switch {
	case err != nil:
	case op.Ino == op.Target: // one file under both names: POSIX does nothing
		op.Kind = trace.KindNone
	default:
		f.ids.renamed(op.Path, op.Path2)
		f.nameless(op.Target, size)
	}
	return f.end(&s, &op, err)
}

// Link gives a file a further name, if the base can (it has a method Link), and records it.
func (f *FS) Link(oldname, newname string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	op := trace.Op{Kind: trace.Link, Path: clean(oldname), Path2: clean(newname)}
	s := step{call: CallLink, name: oldname, name2: newname}
	if err := f.begin(&s, &op, true); err != nil {
		return f.end(&s, &op, err)
	}
	l, ok := f.base.(linker)
	if !ok {
		return f.end(&s, &op, &fs.PathError{Op: "link", Path: newname, Err: errors.ErrUnsupported})
	}
	err := l.Link(oldname, newname)
	if err == nil {
		op.Ino, op.Dir = f.inoAt(oldname, op.Path), f.dirOf(oldname, op.Path)
		op.Dir2 = f.dirOf(newname, op.Path2)
		f.ids.linked(op.Path2, op.Ino)
	}
	return f.end(&s, &op, err)
}

// Chmod sets the permission bits and records it.
func (f *FS) Chmod(name string, mode fs.FileMode) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	op := trace.Op{Kind: trace.Chmod, Path: clean(name), Mode: mode}
	s := step{call: CallChmod, name: name}
	if err := f.begin(&s, &op, true); err != nil {
		return f.end(&s, &op, err)
	}
	err := f.base.Chmod(name, mode)
	if err == nil {
		op.Ino = f.inoAt(name, op.Path)
	}
	return f.end(&s, &op, err)
}

// Chown passes on. Owners are in no trace.
func (f *FS) Chown(name string, uid, gid int) error {
	return f.pass(CallAttr, name, true, func() error { return f.base.Chown(name, uid, gid) })
}

// Chtimes passes on. Times are in no trace.
func (f *FS) Chtimes(name string, atime, mtime time.Time) error {
	return f.pass(CallAttr, name, true, func() error { return f.base.Chtimes(name, atime, mtime) })
}

// Stat passes on.
func (f *FS) Stat(name string) (info fs.FileInfo, err error) {
	err = f.pass(CallStat, name, false, func() (err error) { info, err = f.base.Stat(name); return err })
	return unless(err, info), err
}

// LstatIfPossible passes on; a base that knows no symbolic links answers as for Stat.
func (f *FS) LstatIfPossible(name string) (info fs.FileInfo, lstat bool, err error) {
	_, lstat = f.base.(afero.Lstater)
	err = f.pass(CallStat, name, false, func() (err error) { info, err = f.lstat(name); return err })
	return unless(err, info), lstat, err
}

// unless is info, or nothing when the call failed behind the base's back.
func unless(err error, info fs.FileInfo) fs.FileInfo {
	if err != nil {
		return nil
	}
	return info
}

// pass performs a call that the log does not hold.
func (f *FS) pass(call Call, name string, changes bool, perform func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	op := trace.Op{Path: clean(name)}
	s := step{call: call, name: name}
	err := f.begin(&s, &op, changes)
	if err == nil {
		err = perform()
	}
	return f.end(&s, &op, err)
}

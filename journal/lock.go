package journal

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/spf13/afero"
)

// locker is what a file may offer: a lock that belongs to the file, not to its name. Closing
// the file gives it back.
type locker interface {
	// TryLock fails with syscall.EWOULDBLOCK when another handle has the lock.
	TryLock() error
	Unlock() error
}

// lock takes the writer's lock of a journal's first file.
func lock(f afero.File, path string, opt *Options) error {
	err := tryLock(f)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		return &LockedError{Path: path, Err: err}
	case !errors.Is(err, errors.ErrUnsupported):
		return fmt.Errorf("journal: locking %s: %w", path, err)
	case opt.AllowNoLock:
		return nil
	default:
		return &UnsupportedError{Path: path, What: lacksLock, Err: err}
	}
}

func tryLock(f afero.File) error {
	if b, ok := f.(*afero.BasePathFile); ok {
		return tryLock(b.File)
	}
	switch f := f.(type) {
	case locker:
		return f.TryLock()
	case interface{ Fd() uintptr }:
		return lockFile(f.Fd())
	default:
		return errors.ErrUnsupported
	}
}

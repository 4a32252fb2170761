//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package journal

import (
	"errors"
	"syscall"
)

// lockFile takes flock(2)'s exclusive lock. It belongs to the open file: a second handle of
// the same process is refused as another process is.
func lockFile(fd uintptr) error {
	for {
		err := syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.ENOLCK):
			return errors.Join(err, errors.ErrUnsupported)
		default:
			return err
		}
	}
}

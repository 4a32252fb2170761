//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package faultfs

import "syscall"

// tryLockFile takes flock(2)'s exclusive lock, which belongs to the open file description: a
// second handle of the same process is refused as another process is.
func tryLockFile(fd uintptr) error { return flock(fd, syscall.LOCK_EX|syscall.LOCK_NB) }

func unlockFile(fd uintptr) error { return flock(fd, syscall.LOCK_UN) }

func flock(fd uintptr, how int) error {
	for {
		if err := syscall.Flock(int(fd), how); err != syscall.EINTR {
			return err
		}
	}
}

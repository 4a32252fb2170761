package faultfs

import (
	"syscall"
	"unsafe"
)

const (
	lockExclusive       = 2 // LOCKFILE_EXCLUSIVE_LOCK
	lockFailImmediately = 1 // LOCKFILE_FAIL_IMMEDIATELY
	lockViolation       = syscall.Errno(33)
	ioPending           = syscall.Errno(997)
	lockedBytes         = 1
	lockedAt            = 0x7fffffff // Offset (high): far past any content, as Windows locks are mandatory
)

// tryLockFile takes an exclusive LockFileEx lock of one byte far past the content.
func tryLockFile(fd uintptr) error {
	at := syscall.Overlapped{OffsetHigh: lockedAt}
	ok, _, err := kernel32("LockFileEx").Call(fd, lockExclusive|lockFailImmediately, 0, lockedBytes, 0, uintptr(unsafe.Pointer(&at)))
	return windowsResult(ok, err)
}

func unlockFile(fd uintptr) error {
	at := syscall.Overlapped{OffsetHigh: lockedAt}
	ok, _, err := kernel32("UnlockFileEx").Call(fd, 0, lockedBytes, 0, uintptr(unsafe.Pointer(&at)))
	return windowsResult(ok, err)
}

func kernel32(name string) *syscall.LazyProc { return syscall.NewLazyDLL("kernel32.dll").NewProc(name) }

// windowsResult turns "another holds it" into the word that the layer uses everywhere.
func windowsResult(ok uintptr, err error) error {
	switch {
	case ok != 0:
		return nil
	case err == lockViolation || err == ioPending: //nolint:errorlint // Call gives bare numbers
		return syscall.EWOULDBLOCK
	}
	return err
}

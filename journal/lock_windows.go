package journal

import (
	"errors"
	"syscall"
	"unsafe"
)

const (
	lockExclusive   = 2
	lockFailAtOnce  = 1
	lockViolation   = syscall.Errno(33)
	lockFileExProc  = "LockFileEx"
	lockFileExOwner = "kernel32.dll"
)

// lockFile takes an exclusive lock of a range far behind the file's end, so that readers, whom
// Windows would otherwise refuse, are not held off.
func lockFile(fd uintptr) error {
	proc := syscall.NewLazyDLL(lockFileExOwner).NewProc(lockFileExProc)
	at := syscall.Overlapped{OffsetHigh: 1 << 30}
	ok, _, err := proc.Call(fd, lockExclusive|lockFailAtOnce, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	switch {
	case ok != 0:
		return nil
	case errors.Is(err, lockViolation):
		return syscall.EWOULDBLOCK
	default:
		return err
	}
}

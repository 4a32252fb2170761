package sqlitevfs

import (
	"errors"
	"syscall"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// TakeError gives the first error that the file system returned since the last call, and forgets
// it. SQLite's own error is a code: it forgets what lies behind it as soon as another call
// succeeds, and a failed commit makes many, to roll back.
func (v *VFS) TakeError() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	err := v.first
	v.first = nil
	return err
}

// fail gives SQLite a file system's error under the code of the call, or under SQLITE_FULL.
func (v *VFS) fail(err error, code sqlite3.ExtendedErrorCode) error {
	if err == nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.first == nil {
		v.first = err
	}
	return vfs.SystemError(err, codeOr(err, code))
}

// codeOr is SQLite's code for errors that have one, whatever the call was.
func codeOr(err error, code sqlite3.ExtendedErrorCode) sqlite3.ExtendedErrorCode {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, errQuota) {
		return sqlite3.ExtendedErrorCode(sqlite3.FULL)
	}
	return code
}

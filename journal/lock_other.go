//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package journal

import "errors"

// lockFile: no lock that package syscall knows.
func lockFile(uintptr) error { return errors.ErrUnsupported }

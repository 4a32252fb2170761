//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package faultfs

import "errors"

func tryLockFile(uintptr) error { return errors.ErrUnsupported }

func unlockFile(uintptr) error { return errors.ErrUnsupported }

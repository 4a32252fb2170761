package faultfs

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/faultfs/trace"
)

var _ Locker = (*file)(nil)

// TryLock takes the writer's lock of the file, or fails with an error that is
// syscall.EWOULDBLOCK when another handle holds it. The lock goes with the handle: Unlock,
// Close and a kill let it go.
func (h *file) TryLock() error {
	f := h.fs
	f.mu.Lock()
	defer f.mu.Unlock()
	op := trace.Op{Kind: trace.Lock, Ino: h.ino, Path: h.path}
	s := step{call: CallLock, name: h.name}
	err := f.begin(&s, &op, false)
	if err == nil {
		err = h.lockBase()
		h.locked = h.locked || err == nil
	}
	return f.end(&s, &op, err)
}

// Unlock lets the writer's lock go.
func (h *file) Unlock() error {
	f := h.fs
	f.mu.Lock()
	defer f.mu.Unlock()
	op := trace.Op{Kind: trace.Unlock, Ino: h.ino, Path: h.path}
	s := step{call: CallUnlock, name: h.name}
	err := f.begin(&s, &op, false)
	if err == nil {
		if err = h.unlockBase(); err == nil {
			h.locked = false
		}
	}
	return f.end(&s, &op, err)
}

func (h *file) lockBase() error {
	if l, ok := h.base.(Locker); ok {
		return l.TryLock()
	}
	return h.kernel("lock", tryLockFile)
}

func (h *file) unlockBase() error {
	if l, ok := h.base.(Locker); ok {
		return l.Unlock()
	}
	return h.kernel("unlock", unlockFile)
}

// kernel asks the operating system for a lock of the real file behind the base.
func (h *file) kernel(what string, ask func(fd uintptr) error) error {
	base := h.base
	if inner, ok := base.(*afero.BasePathFile); ok {
		base = inner.File
	}
	file, ok := base.(syscall.Conn)
	if !ok {
		return &fs.PathError{Op: what, Path: h.name, Err: fmt.Errorf("%T has no locks: %w", base, errors.ErrUnsupported)}
	}
	conn, err := file.SyscallConn()
	if err == nil {
		var asked error
		if err = conn.Control(func(fd uintptr) { asked = ask(fd) }); err == nil {
			err = asked
		}
	}
	if err != nil {
		return &fs.PathError{Op: what, Path: h.name, Err: err}
	}
	return nil
}

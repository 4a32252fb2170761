package faultfs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/unplug-go/unplug/faultfs/trace"
)

// Sync makes the file's bytes, or the folder's names, durable, unless a fault says otherwise.
func (h *file) Sync() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	return h.sync()
}

func (h *file) sync() error {
	f := h.fs
	op := trace.Op{Kind: trace.SyncFile, Ino: h.ino, Path: h.path}
	s := step{call: CallSync, name: h.name}
	if h.isDir() {
		op.Kind, s.call = trace.SyncDir, CallSyncDir
	}
	err := f.begin(&s, &op, false)
	switch {
	case err != nil:
	case f.readOnly != "":
		// ext4 after the remount: fsync has nothing to report any more, and does nothing.
		op.Result, op.Fault = trace.SyncLied, f.readOnly
	case h.owesEIO:
		h.owesEIO = false
		op.Fault = "fail-clean on another handle"
		err = s.fault(op.Fault, syscall.EIO)
	case s.hit != nil:
		err = h.failSync(&s, &op)
	default:
		err = h.base.Sync()
		if errors.Is(err, fs.ErrClosed) || f.skip != nil && f.skip(s.call, op.Path) {
			op.Kind = trace.KindNone // the handle was closed: nothing was asked of the disk
		}
	}
	return f.end(&s, &op, err)
}

// failSync performs a sync whose result a rule has chosen.
func (h *file) failSync(s *step, op *trace.Op) error {
	f := h.fs
	op.Result = trace.SyncResult(s.hit.Fault.Kind)
	s.fire(op)
	switch op.Result {
	case trace.SyncFailLate, trace.SyncLied:
		return nil
	case trace.SyncFailFalse:
		if err := h.base.Sync(); err != nil {
			return err
		}
	case trace.SyncFailClean:
		for other := f.open; other != nil; other = other.next {
			other.owesEIO = other.owesEIO || other != h && other.ino == h.ino
		}
	case trace.SyncFailRO:
		f.readOnly = op.Fault
	case trace.SyncFailShutdown:
		f.down = op.Fault
	case trace.SyncOK:
	}
	return s.fault(op.Fault, syscall.EIO)
}

// isDir reports whether the handle is a folder's. Only a handle for reading can be.
func (h *file) isDir() bool {
	if h.flag&(os.O_WRONLY|os.O_RDWR) != 0 {
		return false
	}
	if !h.asked {
		h.asked = true
		info, err := h.base.Stat()
		h.dir = err == nil && info.IsDir()
	}
	return h.dir
}

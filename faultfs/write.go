package faultfs

import (
	"io"
	"math"
	"os"
	"slices"

	"github.com/unplug-go/unplug/faultfs/trace"
)

// Write writes at the handle's position, or at the end of a file opened with O_APPEND.
func (h *file) Write(p []byte) (int, error) { return h.write(p, here) }

// WriteString is Write.
func (h *file) WriteString(s string) (int, error) { return h.write([]byte(s), here) }

// WriteAt writes at off.
func (h *file) WriteAt(p []byte, off int64) (int, error) { return h.write(p, off) }

// here is the offset of a write that goes where the handle stands.
const here = math.MinInt64

func (h *file) write(p []byte, at int64) (int, error) {
	f := h.fs
	f.mu.Lock()
	defer f.mu.Unlock()
	op := trace.Op{Kind: trace.Write, Ino: h.ino, Path: h.path, Len: len(p)}
	s := step{call: CallWrite, name: h.name}
	if err := f.begin(&s, &op, true); err != nil {
		if op.Fault != "" {
			_, op.Off, _ = h.place(at) // where it would have gone, if that is known
		}
		return 0, f.end(&s, &op, err)
	}
	n, told, err := h.put(&s, &op, p, at)
	if s.hit != nil && s.hit.Fault.kills() {
		op.Err = ErrKilled.Error()
		f.log.Record(op)
		f.slay(s.hit)
		return 0, f.end(&s, &op, err)
	}
	if n == 0 && op.Fault == "" {
		op.Kind = trace.KindNone // nothing was asked for, or the base refused: no op
	}
	if err = f.end(&s, &op, err); f.killed {
		return 0, err
	}
	if err == nil && h.flag&os.O_SYNC != 0 {
		err = h.sync()
	}
	return told, err
}

// put performs a write, or the part of it that faults let through. It gives the number of bytes
// that reached the file and the number and the error that the program is told.
func (h *file) put(s *step, op *trace.Op, p []byte, at int64) (n, told int, err error) {
	f := h.fs
	keep := len(p)
	var size int64
	var injected error
	if s.hit != nil || f.disk != nil {
		if size, op.Off, err = h.place(at); err != nil {
			return 0, 0, err
		}
		keep, injected = f.curtail(s, op, size, len(p))
	}
	if at != here {
		n, err = h.base.WriteAt(p[:keep], at)
		op.Off = at
	} else {
		n, err = h.base.Write(p[:keep])
		if n > 0 {
			end, seekErr := h.base.Seek(0, io.SeekCurrent)
			if seekErr != nil && err == nil {
				err = seekErr
			}
			op.Off = end - int64(n)
		}
	}
	if n > 0 {
		op.Data = slices.Clone(p[:n])
		f.grew(max(op.Off+int64(n)-size, 0))
	}
	told = n
	if err == nil {
		err = injected
	}
	if err == nil && s.hit != nil && s.hit.Fault.Mode == Unseen {
		told = len(p)
	}
	return n, told, err
}

// place is the size of the file and the offset that a write goes to.
func (h *file) place(at int64) (size, off int64, err error) {
	info, err := h.base.Stat()
	if err != nil {
		return 0, 0, err
	}
	switch {
	case at != here:
		return info.Size(), at, nil
	case h.flag&os.O_APPEND != 0:
		return info.Size(), info.Size(), nil
	}
	off, err = h.base.Seek(0, io.SeekCurrent)
	return info.Size(), off, err
}

// Truncate sets the size.
func (h *file) Truncate(size int64) error {
	f := h.fs
	f.mu.Lock()
	defer f.mu.Unlock()
	op := trace.Op{Kind: trace.Truncate, Ino: h.ino, Path: h.path, Size: size}
	s := step{call: CallTruncate, name: h.name}
	if err := f.begin(&s, &op, true); err != nil {
		return f.end(&s, &op, err)
	}
	var before int64
	if f.disk != nil {
		var err error
		if before, _, err = h.place(0); err != nil {
			return f.end(&s, &op, err)
		}
	}
	err := h.base.Truncate(size)
	if err == nil {
		f.grew(size - before)
	}
	return f.end(&s, &op, err)
}

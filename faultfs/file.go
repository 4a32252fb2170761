package faultfs

import (
	"io"
	"io/fs"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/faultfs/trace"
)

// file is an open handle. Its path stays the one that it was opened under, as with os.File;
// its inode number is right through renames and removal.
type file struct {
	fs         *FS
	base       afero.File
	name, path string
	ino        trace.Ino
	flag       int
	locked     bool // it holds the writer's lock
	owesEIO    bool // a sync of another handle failed: this one hears of it once
	nameless   bool // the file's last name is gone
	asked, dir bool // whether it is a folder's handle, once that was asked
	prev, next *file
}

// Name is the name that the file was opened with.
func (h *file) Name() string { return h.name }

// pass performs a call that the log does not hold.
func (h *file) pass(call Call, perform func() error) error {
	f := h.fs
	f.mu.Lock()
	defer f.mu.Unlock()
	op := trace.Op{Path: h.path, Ino: h.ino}
	s := step{call: call, name: h.name}
	err := f.begin(&s, &op, false)
	if err == nil {
		err = perform()
	}
	return f.end(&s, &op, err)
}

// Read reads on from the handle's position.
func (h *file) Read(p []byte) (int, error) {
	return h.read(p, func(p []byte) (int, error) { return h.base.Read(p) })
}

// ReadAt reads at off. A short read of [io.ReaderAt] must have an error: an injected one has
// [io.ErrUnexpectedEOF].
func (h *file) ReadAt(p []byte, off int64) (int, error) {
	full := len(p)
	n, err := h.read(p, func(p []byte) (int, error) { return h.base.ReadAt(p, off) })
	if err == nil && n < full {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (h *file) read(p []byte, perform func([]byte) (int, error)) (int, error) {
	f := h.fs
	f.mu.Lock()
	defer f.mu.Unlock()
	op := trace.Op{Path: h.path, Ino: h.ino}
	s := step{call: CallRead, name: h.name}
	if err := f.begin(&s, &op, false); err != nil {
		return 0, f.end(&s, &op, err)
	}
	if s.hit != nil { // short, the only fault of a read that is not an error
		if keep := s.hit.Fault.keep(len(p)); keep < len(p) {
			s.fire(&op)
			p = p[:keep]
		}
	}
	n, err := perform(p)
	err = f.end(&s, &op, err)
	if f.killed {
		n = 0
	}
	return n, err
}

// Seek moves the handle's position. No rule matches it.
func (h *file) Seek(offset int64, whence int) (int64, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if h.fs.killed {
		return 0, &FaultError{Op: "seek", Path: h.name, Rule: h.fs.killer, Err: ErrKilled}
	}
	return h.base.Seek(offset, whence)
}

// Stat describes the file.
func (h *file) Stat() (info fs.FileInfo, err error) {
	err = h.pass(CallStat, func() (err error) { info, err = h.base.Stat(); return err })
	return unless(err, info), err
}

// Readdir reads on in a folder.
func (h *file) Readdir(count int) (infos []fs.FileInfo, err error) {
	err = h.pass(CallReadDir, func() (err error) { infos, err = h.base.Readdir(count); return err })
	return infos, err
}

// Readdirnames reads on in a folder.
func (h *file) Readdirnames(n int) (names []string, err error) {
	err = h.pass(CallReadDir, func() (err error) { names, err = h.base.Readdirnames(n); return err })
	return names, err
}

// Close closes the handle, also when a fault gives it an error: as with close(2), there is
// nothing to close twice. Its lock is let go.
func (h *file) Close() error {
	f := h.fs
	f.mu.Lock()
	defer f.mu.Unlock()
	op := trace.Op{Path: h.path, Ino: h.ino}
	s := step{call: CallClose, name: h.name}
	err := f.begin(&s, &op, false)
	if !f.killed {
		if h.locked {
			h.locked = false
			f.log.Record(trace.Op{Kind: trace.Unlock, Ino: h.ino, Path: h.path})
		}
		f.lastClose(h)
		f.forget(h)
		closed := h.base.Close()
		if err == nil {
			err = closed
		}
	}
	return f.end(&s, &op, err)
}

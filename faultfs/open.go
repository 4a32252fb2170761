package faultfs

import (
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/faultfs/trace"
)

// Create makes or empties a file.
func (f *FS) Create(name string) (afero.File, error) {
	return f.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// Open opens for reading.
func (f *FS) Open(name string) (afero.File, error) { return f.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile opens a file or folder. For rules and the log it is one call: a "create" when it
// makes the file, a "truncate" when it cuts one that holds bytes, an "open" otherwise.
// A file opened with O_SYNC is synced behind each of its writes, as a call of its own.
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	op := trace.Op{Path: clean(name)}
	s := step{call: CallOpen, name: name}
	changes := flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC) != 0
	var cut int64
	if flag&(os.O_CREATE|os.O_TRUNC) != 0 {
		op.Kind, s.call, cut = f.foresee(name, flag)
	}
	if err := f.begin(&s, &op, changes); err != nil {
		return nil, f.end(&s, &op, err)
	}
	base, err := f.base.OpenFile(name, flag&^os.O_SYNC, perm)
	if err != nil {
		return nil, f.end(&s, &op, err)
	}
	h := &file{fs: f, base: base, name: name, path: op.Path, flag: flag}
	if op.Kind == trace.Create {
		err = f.identify(h, &op)
	} else {
		h.ino = f.inoOf(base, op.Path)
		op.Ino = h.ino
		f.grew(-cut)
	}
	f.adopt(h)
	if err = f.end(&s, &op, err); err != nil {
		if !f.killed {
			f.forget(h)
			_ = base.Close() // the first error is the one to tell
		}
		return nil, err
	}
	return h, nil
}

// foresee says what an open that may create or cut is going to do, and how many bytes it cuts.
func (f *FS) foresee(name string, flag int) (trace.Kind, Call, int64) {
	const create = os.O_CREATE | os.O_EXCL
	info, err := f.base.Stat(name)
	switch {
	case err != nil && errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0:
		return trace.Create, CallCreate, 0
	case err == nil && flag&create != create && flag&os.O_TRUNC != 0 && info.Mode().IsRegular() && info.Size() > 0:
		return trace.Truncate, CallTruncate, info.Size()
	default:
		return trace.KindNone, CallOpen, 0
	}
}

// identify fills in what the creation of a file made.
func (f *FS) identify(h *file, op *trace.Op) error {
	info, err := h.base.Stat()
	if err != nil {
		return err
	}
	h.ino = f.ids.made(op.Path, info)
	op.Ino, op.Dir, op.Mode = h.ino, f.dirOf(h.name, op.Path), bits(info)
	return nil
}

// adopt puts h on the list of open handles.
func (f *FS) adopt(h *file) {
	h.next = f.open
	if f.open != nil {
		f.open.prev = h
	}
	f.open = h
}

// forget takes h off the list.
func (f *FS) forget(h *file) {
	switch {
	case h.prev != nil:
		h.prev.next = h.next
	case f.open == h:
		f.open = h.next
	}
	if h.next != nil {
		h.next.prev = h.prev
	}
	h.prev, h.next = nil, nil
}

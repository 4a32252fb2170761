package faultfs

import (
	"path"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/faultfs/trace"
)

// FS is an [afero.Fs] that records and breaks what passes through it. Its methods, and those
// of its files, may be called at the same time from several goroutines.
type FS struct {
	base   afero.Fs
	mem    *Mem // base, if it is one
	marker func([]byte) string
	sleep  func(time.Duration)
	skip   func(call Call, name string) bool
	limit  int

	mu    sync.Mutex // held while a call is performed and recorded: the log's order is the true order
	log   *trace.Log
	own   trace.Log // the log, if none was given
	ids   inodes
	open  *file // list of open handles, newest first
	calls int
	rules []armed

	disk     *disk
	readOnly string // the rule that made the file system read-only, or ""
	down     string // the rule that took the file system down, or ""
	killed   bool
	killer   string // the rule that killed, "" for a call of Kill
	struck   int    // the log's length when the first fault changed an outcome, plus 1; 0 is never
}

// Option is a setting of [New].
type Option func(*FS)

// WithLog makes the layer record into log, behind what it holds already.
func WithLog(log *trace.Log) Option { return func(f *FS) { f.log = log } }

// WithPlan makes the layer inject p. Rules are looked at in their order; of several that would
// change the outcome of one call, the first does.
func WithPlan(p Plan) Option {
	return func(f *FS) {
		f.rules = make([]armed, len(p.Rules))
		for i, r := range p.Rules {
			f.rules[i].Rule = r
		}
	}
}

// WithOpLimit makes every call after the first n (reads, opens and closes count too) fail with
// [ErrOpLimit], so that a program which loops comes to an end.
func WithOpLimit(n int) Option { return func(f *FS) { f.limit = n } }

// WithMarker names the marks in what is written: behind each write that succeeded, and whose
// bytes marker gives a name other than "", the log holds the note "marker NAME". The function
// must not keep the bytes nor call the layer.
func WithMarker(marker func(written []byte) string) Option {
	return func(f *FS) { f.marker = marker }
}

// WithDisk leaves room for bytes more bytes of file content than base holds, counted by file
// sizes. A write past it is cut where the room ends and fails with ENOSPC; removing or cutting
// a file makes room again (at the last close, for a removed file that is open).
func WithDisk(bytes int64) Option {
	return func(f *FS) { f.disk = &disk{size: bytes, room: bytes} }
}

// WithSleep is called for "slow" faults; without it they only count as fired. It runs without
// the layer's lock held.
func WithSleep(sleep func(time.Duration)) Option { return func(f *FS) { f.sleep = sleep } }

// WithSkip asks skip at each sync of a file or folder, by its path in traces; if it says true the
// sync is not recorded, so that no crash state knows of it, as if the program had not called
// it: to see whether anybody notices. skip runs on the caller's goroutine with the layer's lock held: it
// may look at the log and at the stack, and must not call the layer.
func WithSkip(skip func(call Call, path string) bool) Option {
	return func(f *FS) { f.skip = skip }
}

// New puts the layer over base: a [*Mem], an [afero.OsFs], or any other. For a real folder give
// an [afero.BasePathFs] of it, so that paths in plans and traces begin there.
func New(base afero.Fs, opts ...Option) *FS {
	f := &FS{base: base}
	f.mem, _ = base.(*Mem)
	for _, opt := range opts {
		opt(f)
	}
	if f.log == nil {
		f.log = &f.own
	}
	return f
}

// Log is the record so far, and goes on growing.
func (f *FS) Log() *trace.Log { return f.log }

// Name is "faultfs" and the base's name.
func (f *FS) Name() string { return "faultfs over " + f.base.Name() }

// Killed reports whether a rule or [FS.Kill] has killed the process that uses the layer.
func (f *FS) Killed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.killed
}

// Kill ends the process that uses the layer, as far as the file system is concerned: its files
// are closed, its locks let go, and every later call fails with [ErrKilled] and does nothing.
func (f *FS) Kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.die("")
}

// Unused are the rules of the plan that never fired, in their order: a run with one of them has
// not tested what it was meant to.
func (f *FS) Unused() []Rule {
	f.mu.Lock()
	defer f.mu.Unlock()
	var unused []Rule
	for i := range f.rules {
		if !f.rules[i].fired {
			unused = append(unused, f.rules[i].Rule)
		}
	}
	return unused
}

// die closes what the dead process held. The lock is held.
func (f *FS) die(rule string) {
	if f.killed {
		return
	}
	f.killed, f.killer = true, rule
	for h := f.open; h != nil; h = h.next {
		if h.locked {
			_ = h.unlockBase() // a dead process reads no errors
		}
		_ = h.base.Close()
	}
	f.open = nil
}

// step is one call in flight.
type step struct {
	call  Call
	name  string // as the caller gave it
	name2 string // rename and link: the new name
	hit   *armed // the rule that changes the outcome, or nil
	after []*armed
}

// begin counts a call and lets the plan act before it. An error is what the call must return,
// through [FS.end], without being performed. The lock is held.
func (f *FS) begin(s *step, op *trace.Op, changes bool) error {
	f.calls++
	switch {
	case f.killed:
		return s.fault(f.killer, ErrKilled)
	case f.limit > 0 && f.calls > f.limit:
		op.Kind = trace.KindNone // the harness stops here: this is no event of the run
		return s.fault("op limit", ErrOpLimit)
	case f.down != "":
		op.Fault = f.down
		return s.fault(f.down, syscall.EIO)
	case f.readOnly != "" && changes:
		op.Fault = f.readOnly
		return s.fault(f.readOnly, syscall.EROFS)
	case len(f.rules) == 0:
		return nil
	}
	return f.arm(s, op)
}

// end records a call that was performed, or that a fault stopped, and lets the plan act behind
// it. It gives the error for the caller. The lock is held.
func (f *FS) end(s *step, op *trace.Op, err error) error {
	if f.killed {
		return s.fault(f.killer, ErrKilled)
	}
	if op.Fault != "" && f.struck == 0 {
		f.struck = f.log.Len() + 1
	}
	if op.Kind != trace.KindNone && (err == nil || op.Fault != "" || op.IsSync() || len(op.Data) > 0) {
		if err != nil {
			op.Err = cause(err)
		}
		f.log.Record(*op)
	}
	if err == nil && op.Kind == trace.Write && f.marker != nil && len(op.Data) == op.Len {
		if name := f.marker(op.Data); name != "" {
			f.note("marker " + name)
		}
	}
	for _, r := range s.after {
		f.strike(s, r)
	}
	if f.killed {
		return s.fault(f.killer, ErrKilled)
	}
	return err
}

func (s *step) fault(rule string, err error) error {
	return &FaultError{Op: string(s.call), Path: s.name, Rule: rule, Err: err}
}

// clean is the path of a trace: absolute, with slashes, without dots.
func clean(name string) string {
	name = filepath.ToSlash(name)
	if name == "" || name[0] != '/' {
		name = "/" + name
	}
	return path.Clean(name)
}

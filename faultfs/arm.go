package faultfs

import (
	"os"
	"syscall"

	"github.com/unplug-go/unplug/faultfs/trace"
)

// armed is a rule at work.
type armed struct {
	Rule
	count int // calls that it matched
	fired bool
}

// due counts a call and reports whether the rule acts on it.
func (r *armed) due() bool {
	r.count++
	if r.Fault.Kind == Full && r.count == max(r.Nth.From, 1)+1 {
		return true // the second half of the sequence
	}
	return r.Nth.hits(r.count)
}

// arm lets the rules act that come before the call, and finds those for its outcome and its
// end. An error is the call's; it must not be performed. The lock is held.
func (f *FS) arm(s *step, op *trace.Op) error {
	for i := range f.rules {
		r := &f.rules[i]
		if !r.matches(s.call, op) || !r.due() {
			continue
		}
		switch {
		case r.When == After:
			s.after = append(s.after, r)
		case r.When == Before || r.Fault.Kind == Slow: // on: it is slow before it does anything
			f.strike(s, r)
		case s.hit == nil && r.Fault.sides(s.call).has(r.When):
			s.hit = r
		}
		if f.killed {
			return s.fault(f.killer, ErrKilled)
		}
	}
	if s.hit == nil {
		return nil
	}
	return f.refuse(s, op)
}

// refuse deals with a hit that leaves nothing of the call but an error.
func (f *FS) refuse(s *step, op *trace.Op) error {
	r := s.hit
	if r.Fault.kills() && s.call != CallWrite {
		s.fire(op)
		if op.Kind != trace.KindNone {
			op.Err = ErrKilled.Error()
			f.log.Record(*op)
		}
		f.slay(r)
		return s.fault(f.killer, ErrKilled)
	}
	err := r.Fault.errno()
	if err == nil || r.Fault.N != 0 && s.call == CallWrite {
		return nil
	}
	s.fire(op)
	return s.fault(op.Fault, err)
}

// fire notes that the hit has happened, in the op too.
func (s *step) fire(op *trace.Op) {
	s.hit.fired = true
	op.Fault = s.hit.String()
}

// strike performs a fault before or after a call.
func (f *FS) strike(s *step, r *armed) {
	switch {
	case f.killed:
	case r.Fault.kills():
		f.slay(r)
	case r.Fault.Kind == Slow:
		f.dawdle(r)
	case r.Fault.damages():
		r.fired = f.damage(s, r) || r.fired
	}
}

// slay kills, for show or for real.
func (f *FS) slay(r *armed) {
	r.fired = true
	if r.Fault.Kind == SigKill {
		killProcess()
	}
	f.die(r.String())
}

// killProcess ends the process as kill -9 does: no deferred call, no buffer flushed.
func killProcess() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic("faultfs: sigkill: the process cannot end itself: " + err.Error())
	}
	select {} // the signal is on its way
}

// dawdle waits, with the lock let go, so that other goroutines overtake.
func (f *FS) dawdle(r *armed) {
	r.fired = true
	if f.sleep == nil {
		return
	}
	f.mu.Unlock()
	defer f.mu.Lock()
	f.sleep(r.Fault.Delay)
}

// curtail is how many of n bytes of a write may reach the file, and the error that goes with
// fewer. op.Off and the size of the file are known.
func (f *FS) curtail(s *step, op *trace.Op, size int64, n int) (keep int, err error) {
	keep = n
	if r := s.hit; r != nil {
		keep = r.Fault.keep(n)
		if r.Fault.Kind == Full {
			keep = r.blocks(op.Off, n)
		}
		told := r.Fault.told()
		if told != nil || keep < n {
			s.fire(op)
		}
		if told != nil {
			err = s.fault(op.Fault, told)
		}
	}
	if f.disk == nil {
		return keep, err
	}
	if fit := f.disk.fits(size, op.Off, keep); fit < keep {
		op.Fault = f.disk.rule()
		return fit, s.fault(op.Fault, syscall.ENOSPC)
	}
	return keep, err
}

const blockSize = 4096

// blocks is what a full disk takes of n bytes at off: up to a block boundary at first, then
// nothing.
func (r *armed) blocks(off int64, n int) int {
	if r.count != max(r.Nth.From, 1) {
		return 0
	}
	edge := (off/blockSize + 1 + r.Fault.N) * blockSize
	end := off + int64(n)
	for edge >= end {
		edge -= blockSize
	}
	return int(max(edge-off, 0))
}

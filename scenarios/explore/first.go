package explore

import (
	"errors"
	"fmt"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// firstLife drives the workload on an empty disk. A subject that fails without any fault
// is a finding, and gives no life.
func (r *run) firstLife() *life {
	l, bad, unused := drive(r.judge, r.program, r.cfg.Plan)
	for _, rule := range unused {
		r.vacuous("UP405", fmt.Sprintf("the rule %q never applied", rule))
	}
	if bad != nil {
		r.noCrash(*bad)
		return nil
	}
	ops, syncs := 0, 0
	for _, op := range l.hist.Ops {
		if op.Changes() {
			ops++
		}
		if op.IsSync() && op.Err == "" {
			syncs++
		}
	}
	switch {
	case ops == 0:
		r.vacuous("UP401", "the subject did nothing on the file system that it was given")
		return nil
	case syncs == 0 && len(r.cfg.Plan.Rules) == 0:
		r.vacuous("UP402", "the subject never synced a file or a folder")
	}
	return l
}

// drive performs a program on a fresh fault layer and gives the life that it makes; or what
// went wrong, when no plan was there to make it go wrong.
func drive(j *judge, p workload.Program, plan faultfs.Plan) (l *life, bad *oracle.Violation, unused []string) {
	base := image.New()
	tape, opts := j.syncs.tape()
	fsys := faultfs.New(faultfs.NewMem(base.Clone()), append(opts,
		faultfs.WithPlan(plan), faultfs.WithOpLimit(opBudget*(1+len(p))), faultfs.WithMarker(j.subject.Marker))...)
	d := workload.Driver{Subject: j.subject, AckOnAppend: j.contract.AckOn == oracle.AckAppend}
	var failures []workload.CallError
	var end *oracle.Outcome
	var ops []trace.Op
	back := within(j.patience, func() {
		failures, end = j.drive(&d, fsys, p)
		ops = fsys.Log().Ops()
		j.letGo(&d)
	})
	if !back {
		return nil, &oracle.Violation{Rule: "UP206", Text: "the workload did not return, with no crash at all", Want: []string{"it runs"}, Got: []string{"no answer in 30 s"}}, nil
	}
	tape.close(ops, 0)
	for _, rule := range fsys.Unused() {
		unused = append(unused, rule.String())
	}
	switch {
	case end != nil:
		return nil, &oracle.Violation{Rule: "UP206", Text: "the workload " + end.Class.String() + ", with no crash at all", Want: []string{"it runs"}, Got: []string{end.Err}}, unused
	case len(plan.Rules) == 0 && len(failures) > 0:
		return nil, &oracle.Violation{Rule: "UP206", Text: "a call failed, with no crash and no fault", Want: []string{"it succeeds"}, Got: failureWords(failures)}, unused
	}
	l = newLife(&crash.History{Base: base, Ops: ops}, 0, nil, j.lookup(p))
	l.file, l.late = j.subject.File(), j.contract.AckOn == oracle.AckSync
	l.findSynced()
	return l, nil, unused
}

// lookup finds the records of a program by number.
func (j *judge) lookup(p workload.Program) writeLookup {
	var calls []oracle.Call
	group := 0
	for n, s := range p {
		if s.Kind == workload.Compact || s.Kind == workload.Cancel {
			group++
		}
		calls = append(calls, j.callsOf(s, n, group)...)
	}
	return func(n int) oracle.Call { return calls[n] }
}

// callsOf are the records that step n of a program appends, in compaction group if it is one.
func (j *judge) callsOf(s workload.Step, n, group int) []oracle.Call {
	var calls []oracle.Call
	for i, rec := range s.Records {
		c := oracle.Call{Record: j.encode(rec)}
		if s.Kind == workload.Compact || s.Kind == workload.Cancel {
			c.Marker, c.Group = [...]string{"compacted", "world_state", "turn_context"}[i], group
		}
		if s.Kind == workload.Together && j.subject.Concurrent {
			c.Together = n + 1
		}
		if c.Marker == "compacted" {
			for _, h := range s.Replaces {
				c.Replaces = append(c.Replaces, j.encode(h))
			}
		}
		calls = append(calls, c)
	}
	return calls
}

// closed is the disk after the workload and a clean close, everything synced.
func closed(j *judge, p workload.Program) (img *image.Image, err error) {
	mem := faultfs.NewMem(image.New())
	fsys := faultfs.New(mem, faultfs.WithOpLimit(opBudget*(1+len(p))))
	d := workload.Driver{Subject: j.subject, AckOnAppend: j.contract.AckOn == oracle.AckAppend}
	if !within(j.patience, func() { err = j.finish(&d, fsys, p) }) {
		return nil, errors.New("closing did not return in 30 s")
	}
	if err != nil {
		return nil, err
	}
	return mem.Image(), nil
}

// finish drives a program and closes the journal.
func (j *judge) finish(d *workload.Driver, fsys *faultfs.FS, p workload.Program) (err error) {
	if failures, bad := j.drive(d, fsys, p); bad != nil || len(failures) > 0 {
		return errors.New("the workload failed")
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("close: %v", p)
		}
	}()
	return d.Close()
}

// closedLog is the disk after the workload and a clean close; nil, with a finding, if the
// subject fails at that.
func (r *run) closedLog() *image.Image {
	img, err := closed(r.judge, r.program)
	if err == nil {
		return img
	}
	r.noCrash(notClosed(err), "close")
	return nil
}

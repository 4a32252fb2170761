package explore

import (
	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// faultRun is a run of a program whose calls fail by a plan while the process lives on.
type faultRun struct {
	plan     faultfs.Plan
	ops      []trace.Op
	failures []workload.CallError
	end      *oracle.Outcome // how it ended, if the subject panicked or did not return
	struck   int             // the log's length when the fault struck
	used     bool
	life     *life
}

// opens is how often in a row a journal that cannot be opened is opened again.
const opens = 2

// survive performs a program on a layer that breaks it, and closes the journal at the end. The
// process lives on behind every error.
func (j *judge) survive(p workload.Program, plan faultfs.Plan) *faultRun {
	base := image.New()
	fsys := faultfs.New(faultfs.NewMem(base.Clone()),
		faultfs.WithPlan(plan), faultfs.WithOpLimit(opBudget+1000*len(p)), faultfs.WithMarker(j.subject.Marker))
	f := &faultRun{plan: plan}
	var failures []workload.CallError
	var end *oracle.Outcome
	var ops []trace.Op
	if !within(j.patience, func() {
		failures, end = j.goThrough(fsys, p)
		ops = fsys.Log().Ops()
	}) {
		f.end = &oracle.Outcome{Class: oracle.Hung, Err: "no answer in 30 s"}
		return f
	}
	f.ops, f.failures, f.end = ops, failures, end
	f.struck, f.used = fsys.Struck(), fsys.Struck() >= 0
	if f.end == nil {
		f.life = newLife(&crash.History{Base: base, Ops: f.ops}, 0, nil, j.lookup(p))
		if f.used {
			f.life.forgive()
		}
		f.life.findSynced()
	}
	return f
}

// goThrough performs a program to its end: when the journal cannot be opened, it is opened again,
// and the rest of the program performed on it.
func (j *judge) goThrough(fsys *faultfs.FS, p workload.Program) (failures []workload.CallError, end *oracle.Outcome) {
	first, steps := 0, p
	for refused := 0; refused <= opens; refused++ {
		d := workload.Driver{Subject: j.subject, AckOnAppend: j.contract.AckOn == oracle.AckAppend, First: first}
		failed, end := j.drive(&d, fsys, steps)
		failures = append(failures, failed...)
		switch {
		case end != nil:
			j.letGo(&d)
			return failures, end
		case d.Journal() != nil:
			end, err := j.close(&d)
			if err != nil {
				failures = append(failures, workload.CallError{Call: "close", Step: len(p), Err: err})
			}
			return failures, end
		case len(failed) == 0:
			return failures, nil // killed
		}
		done := failed[len(failed)-1].Step + 1 // the step at which it could not be opened
		if done > 0 {
			refused = 0
		}
		for _, s := range steps[:done] {
			first += len(s.Records)
		}
		steps = steps[done:]
	}
	return failures, nil
}

// close closes the journal and gives a panic as an outcome.
func (j *judge) close(d *workload.Driver) (end *oracle.Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			end = panicked(p)
		}
	}()
	return nil, d.Close()
}

// forgive takes back what a failed call leaves open, in a life whose process lives on: a sync or
// close that fails makes the records optional that had only returned, and an open behind it does
// not promise them.
func (l *life) forgive() {
	for n, op := range l.hist.Ops {
		m, ok := workload.ParseMark(op.Text)
		if op.Kind != trace.Note || !ok || m.Event != workload.Failed || m.What != "sync" && m.What != "close" {
			continue
		}
		for i := range l.w {
			if e := &l.w[i]; e.returned < n && e.acked > n {
				e.failed = min(e.failed, n)
			}
		}
	}
	for i := range l.w {
		if e := &l.w[i]; e.acked > e.kept {
			e.kept = never
		}
	}
}

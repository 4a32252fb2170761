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
	on       *ground
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

// ground is what a run begins on: an empty disk, or what a power cut left, a torn tail in it.
type ground struct {
	name    string // the word for it in a repro
	program workload.Program
	first   int // number of the first record
	lookup  writeLookup
	base    *image.Image
	from    *caseOf // the crash; nil is none
	found   oracle.Outcome
}

// fresh is an empty disk.
func (j *judge) fresh(p workload.Program) *ground {
	return &ground{name: "workload", program: p, lookup: j.lookup(p), base: image.New()}
}

// survive performs a program on a layer that breaks it, and closes the journal at the end. The
// process lives on behind every error.
func (j *judge) survive(g *ground, plan faultfs.Plan) *faultRun {
	fsys := faultfs.New(faultfs.NewMem(g.base),
		faultfs.WithPlan(plan), faultfs.WithOpLimit(opBudget+1000*len(g.program)), faultfs.WithMarker(j.subject.Marker))
	f := &faultRun{on: g, plan: plan}
	var failures []workload.CallError
	var end *oracle.Outcome
	var ops []trace.Op
	if !within(j.patience, func() {
		failures, end = j.goThrough(fsys, g)
		ops = fsys.Log().Ops()
	}) {
		f.end = &oracle.Outcome{Class: oracle.Hung, Err: "no answer in 30 s"}
		return f
	}
	f.ops, f.failures, f.end = ops, failures, end
	f.struck, f.used = fsys.Struck(), fsys.Struck() >= 0
	if f.end != nil {
		return f
	}
	if g.from == nil {
		f.life = newLife(&crash.History{Base: g.base, Ops: ops}, 0, nil, g.lookup)
	} else {
		f.life = j.secondLife(g.from, &crash.History{Base: g.base}, ops, g.found, g.lookup)
	}
	f.life.file = j.subject.File()
	if f.used {
		f.life.forgive()
	}
	if g.from == nil {
		f.life.findSynced()
	}
	return f
}

// goThrough performs a program to its end: when the journal cannot be opened, it is opened again,
// and the rest of the program performed on it.
func (j *judge) goThrough(fsys *faultfs.FS, g *ground) (failures []workload.CallError, end *oracle.Outcome) {
	first, steps := g.first, g.program
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
				failures = append(failures, workload.CallError{Call: "close", Step: len(g.program), Err: err})
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
		if e := &l.w[i]; e.called >= 0 && e.acked > e.kept {
			e.kept = never
		}
	}
}

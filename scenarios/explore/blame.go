package explore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/target"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// DefaultBlame is how many states the search for what a finding lacks may judge.
const DefaultBlame = 20_000

// blamePerCut is how many states of one cut are judged; more are sampled, corners first.
const blamePerCut = 400

// Blame says in words which one sync of a file or folder, put into the trace of the life that was
// cut, makes all its failing states pass; or which one change of order does; or that none does.
// It is for shrunk findings: in a long workload the same sync is missing many times.
//
// The text is empty for findings that are no crash, for those that do not happen any more, and
// when the search would take more states than budget (0 is [DefaultBlame]) or ctx ended. The
// error says what does not fit the subject.
func Blame(ctx context.Context, s target.Subject, c oracle.Contract, p *report.Repro, budget int) (string, error) {
	if budget == 0 {
		budget = DefaultBlame
	}
	switch {
	case len(p.Probe) > 0 || len(p.Ops) > 0:
		return "", nil
	case p.Damage != "":
		return "no sync is missing: every byte was on the disk when it was damaged", nil
	}
	b := &blamer{ctx: ctx, judge: &judge{subject: s, contract: c, patience: watchdog}, rule: p.Expect, left: budget}
	err := b.find(p)
	if err != nil || b.build == nil {
		return "", err
	}
	text := b.blame()
	if b.left <= 0 || ctx.Err() != nil {
		return "", b.err
	}
	return text, b.err
}

// blamer tries changes of one trace.
type blamer struct {
	ctx   context.Context //nolint:containedctx // of one search; it ends the search early
	judge *judge
	rule  string
	left  int // states that may still be judged

	ops   []trace.Op                 // the trace of the life that was cut, its own ops only
	first int                        // the number of the first of them in the life's history
	build func(ops []trace.Op) *life // the life with another trace
	check func(*caseOf) []oracle.Violation
	any   bool // every violation counts, not only the rule's
	model crash.Model
	tear  int
	where string // which life it is, in words; empty is the workload's
	err   error
}

// find performs the finding and keeps the life whose trace is to blame: the one that was cut
// last, or, if the trouble showed behind one more append, the one that appended it.
func (b *blamer) find(p *report.Repro) error {
	plan, err := plans(p.Plan)
	if err != nil {
		return err
	}
	l, bad, _ := drive(b.judge, p.Program, plan)
	if bad != nil || l == nil {
		return errors.New("the workload fails before any crash")
	}
	b.level0(l, b.judge.lookup(p.Program))
	for i, cut := range p.Cuts {
		state, err := l.stateAt(cut, b.judge.subject.File())
		if err != nil {
			return fmt.Errorf("cut %d: %w", i+1, err)
		}
		res := b.run(state)
		if b.err != nil {
			return b.err
		}
		at := slices.IndexFunc(res.verdict.Violations, func(v oracle.Violation) bool { return v.Rule == b.rule })
		switch {
		case at >= 0:
			b.aim(state, cut, res.verdict.Violations[at].Then)
			return nil
		case res.second == nil:
			b.build = nil
			return nil
		}
		l = res.second
		b.nested(state)
	}
	b.build = nil // it does not fail any more
	return nil
}

// level0 takes the life of the workload.
func (b *blamer) level0(l *life, lookup writeLookup) {
	base := l.hist.Base
	b.ops, b.first = l.hist.Ops, 0
	b.build = func(ops []trace.Op) *life {
		l := newLife(&crash.History{Base: base, Ops: ops}, 0, nil, lookup)
		l.file = b.judge.subject.File()
		l.findSynced()
		return l
	}
}

// nested takes the life that recovers from a state and appends one record.
func (b *blamer) nested(c *caseOf) {
	j := b.judge
	mem := faultfs.NewMem(c.state.Image.Clone())
	first := j.recover(faultfs.New(mem, faultfs.WithOpLimit(opBudget)))
	object := extraRecord(len(c.life.chain), first.Recovered.Tail.Length)
	write := faultfs.New(mem, faultfs.WithOpLimit(opBudget))
	d := workload.Driver{Subject: j.subject, AckOnAppend: j.contract.AckOn == oracle.AckAppend, First: extra + len(c.life.chain)}
	steps := workload.Program{{Kind: workload.Append, Records: [][]byte{object}}}
	if j.contract.AckOn == oracle.AckSync {
		steps = append(steps, workload.Step{Kind: workload.Sync})
	}
	_, _ = j.drive(&d, write, steps) // it went through before
	b.ops = write.Log().Ops()
	j.letGo(&d)
	pending := c.state.Pending()
	b.first = len(pending.Ops)
	b.where = " of the recovery"
	appended := func(int) oracle.Call { return oracle.Call{Record: j.encode(object)} }
	b.build = func(ops []trace.Op) *life { return j.secondLife(c, pending, ops, first, appended) }
}

// aim sets which states are looked at, and for what.
func (b *blamer) aim(c *caseOf, cut report.Cut, then string) {
	b.model, b.tear, b.check = modelOf(cut), cut.Tear, b.judge.read
	switch {
	case then == "":
	case strings.Contains(then, "CUT"): // behind one more append: that life is to blame
		b.nested(c)
		b.model, b.tear, b.any = crash.Synced, 0, true
		if strings.Contains(then, "CUT (kill") {
			b.model = crash.Kill
		}
	default:
		b.check = func(c *caseOf) []oracle.Violation { return b.judge.run(c).verdict.Violations }
	}
}

// read recovers a state and judges what came back, and nothing behind it.
func (j *judge) read(c *caseOf) []oracle.Violation {
	mem := faultfs.NewMem(c.state.Image.Clone())
	first := j.recover(faultfs.New(mem, faultfs.WithOpLimit(opBudget)))
	return oracle.Check(j.contract, c.promise, c.witness.look(c.state.Image, first.Recovered.Tail), first).Violations
}

// run judges one state under the watchdog.
func (b *blamer) run(c *caseOf) *caseResult {
	p := pool{workers: 1, patience: b.judge.patience, work: func(c *caseOf) *caseResult { return &caseResult{result: b.judge.run(c)} }}
	res := p.run([]*caseOf{c})[0]
	b.err = res.err
	return res
}

// failing counts the different states of a trace that fail, up to most. sampled: some were left out.
func (b *blamer) failing(ops []trace.Op, most int) (n int, sampled bool) {
	l := b.build(ops)
	cuts := cutsFor(b.model, places(l.hist.Ops, l.first), l.hist.Ops, l.first, nil)
	w, err := newWalk(l, b.model, crash.Options{Tear: b.tear}, b.judge.subject.File(), cuts, math.MaxInt)
	if err != nil {
		b.err = err
		return most, false
	}
	w.limit = blamePerCut
	seen := map[key]bool{}
	for c, err := range w.cases(b.ctx, 1) {
		if b.left <= 0 || b.ctx.Err() != nil || err != nil {
			b.err = err
			return most, false
		}
		if k := keyOf(c); seen[k] {
			continue
		} else {
			seen[k] = true
		}
		b.left--
		var bad []oracle.Violation
		if !within(b.judge.patience, func() { bad = b.check(c) }) {
			b.left = 0 // it hangs: each further state would take as long
			return most, false
		}
		if slices.ContainsFunc(bad, b.counts) {
			if n++; n == most {
				break
			}
		}
	}
	return n, slices.ContainsFunc(w.spaces, func(s spaceOf) bool { return s.count > w.limit })
}

// counts reports whether a violation is what is to go away. A sync that saves the bytes and not
// the name has saved nothing: all rules about lost records are one here.
func (b *blamer) counts(v oracle.Violation) bool {
	lost := []string{"UP201", "UP207", "UP211"}
	return b.any || v.Rule == b.rule || slices.Contains(lost, b.rule) && slices.Contains(lost, v.Rule)
}

// passes reports whether no state of a trace fails.
func (b *blamer) passes(ops []trace.Op) bool {
	n, _ := b.failing(ops, 1)
	return n == 0
}

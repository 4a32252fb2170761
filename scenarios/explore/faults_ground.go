package explore

import (
	"context"
	"errors"
	"fmt"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// tailLeast is how many bytes a torn tail must have to be worth a recovery under faults.
const tailLeast = 16

// torn is what a power cut leaves of a workload: records, and a torn tail behind them, which an
// open for writing has to repair. It is the state with the most records; nil if there is none, as
// with a journal that leaves no tails.
func (j *judge) torn(ctx context.Context, l *life) (*ground, error) {
	cuts := cutsFor(crash.Prefix, nil, l.hist.Ops, 0, nil)
	w, err := newWalk(l, crash.Prefix, crash.Options{Tear: 512}, j.subject.File(), cuts, len(cuts)*nestedPerCut)
	if err != nil {
		return nil, err
	}
	var best *ground
	for c, err := range w.cases(ctx, 0) {
		if err != nil {
			return nil, fmt.Errorf("replaying the trace: %w", err)
		}
		found := j.recover(faultfs.New(faultfs.NewMem(c.state.Image), faultfs.WithOpLimit(opBudget)))
		if found.Class != oracle.OK || found.Recovered.Tail.Length < tailLeast {
			continue
		}
		if best != nil && len(found.Recovered.Records) < len(best.found.Recovered.Records) {
			continue
		}
		c.cut.Choice = c.state.Choice()
		best = j.repairing(c, found)
	}
	return best, ctx.Err()
}

// repairing is the ground of a crash state, and what is done on it: a record behind the repair, one
// behind a reopening, and one more.
func (j *judge) repairing(c *caseOf, found oracle.Outcome) *ground {
	g := &ground{name: "recovery", base: c.state.Image, from: c, found: found, first: extra}
	var calls []oracle.Call
	for i := range 3 {
		record := fmt.Appendf(nil, `{"type":"message","role":"user","content":"behind the repair %d"}`, i)
		g.program = append(g.program, workload.Step{Kind: workload.Append, Records: [][]byte{record}})
		if j.contract.AckOn == oracle.AckSync {
			g.program = append(g.program, workload.Step{Kind: workload.Sync})
		}
		if i == 1 {
			g.program = append(g.program, workload.Step{Kind: workload.Reopen})
		}
		calls = append(calls, oracle.Call{Record: j.encode(record)})
	}
	g.lookup = func(n int) oracle.Call { return calls[n-extra] }
	return g
}

// groundOf finds the ground that a repro's run began on, and the cuts that came behind.
func (j *judge) groundOf(p *report.Repro, name string) (*ground, []report.Cut, error) {
	if name != "recovery" {
		return j.fresh(p.Program), p.Cuts, nil
	}
	l, bad, _ := drive(j, p.Program, faultfs.Plan{})
	switch {
	case bad != nil:
		return nil, nil, fmt.Errorf("the workload failed without a fault: %s", bad.Text)
	case len(p.Cuts) == 0:
		return nil, nil, errors.New("the file has no cut for a recovery to come behind")
	}
	c, err := l.stateAt(p.Cuts[0], j.subject.File())
	if err != nil {
		return nil, nil, fmt.Errorf("cut 1: %w", err)
	}
	return j.repairing(c, j.recover(faultfs.New(faultfs.NewMem(c.state.Image), faultfs.WithOpLimit(opBudget)))), p.Cuts[1:], nil
}

package explore

import (
	"errors"
	"fmt"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/target"
)

// Replayed is what became of a repro.
type Replayed struct {
	// Violations are all that the last state breaks now.
	Violations []oracle.Violation
	// Expected is the one that the file is about, nil if it no longer happens.
	Expected *report.Finding
	Story    string
}

// Replay performs a repro on a subject under a contract. An error means that the file does
// not fit the subject (or this version): the trace is shorter than a cut, or the state does
// not exist.
func Replay(s target.Subject, c oracle.Contract, p *report.Repro) (*Replayed, error) {
	plan, err := planOf(p)
	if err != nil {
		return nil, err
	}
	j := &judge{subject: s, contract: c, patience: watchdog}
	if len(p.Probe) > 0 && p.Probe[0] == workloadProbe {
		return j.replayWorkload(p)
	}
	if len(p.Probe) > 0 {
		return j.replayScene(p)
	}
	if p.Damage != "" {
		return j.replayDamage(p)
	}
	l, bad, _ := drive(j, p.Program, plan)
	if bad != nil {
		return replayed(p, []oracle.Violation{*bad}, storyless), nil
	}
	return j.replayCuts(l, p)
}

// planOf is the fault plan of a repro.
func planOf(p *report.Repro) (plan faultfs.Plan, err error) {
	for _, text := range p.Plan {
		one, err := faultfs.ParsePlan(text)
		if err != nil {
			return plan, fmt.Errorf("plan %q: %w", text, err)
		}
		plan.Rules = append(plan.Rules, one.Rules...)
	}
	return plan, nil
}

// replayCuts crashes a life, and the recoveries behind it, as a repro says.
func (j *judge) replayCuts(l *life, p *report.Repro) (*Replayed, error) {
	violations, story, err := j.lastCut(l, p)
	if err != nil {
		return nil, err
	}
	return replayed(p, violations, story), nil
}

// lastCut crashes a life, and the recoveries behind it, as a repro says, and judges the last
// state (or the first that breaks a promise).
func (j *judge) lastCut(l *life, p *report.Repro) (violations []oracle.Violation, story string, err error) {
	for i, cut := range p.Cuts {
		state, err := l.stateAt(cut, j.subject.File())
		if err != nil {
			return nil, "", fmt.Errorf("cut %d: %w", i+1, err)
		}
		one := pool{workers: 1, patience: watchdog, work: func(c *caseOf) *caseResult { return &caseResult{result: j.run(c)} }}
		res := one.run([]*caseOf{state})[0]
		if res.err != nil {
			return nil, "", res.err
		}
		if len(res.verdict.Violations) > 0 || i == len(p.Cuts)-1 {
			return res.verdict.Violations, then(state, res.verdict.Violations), nil
		}
		if res.second == nil {
			return nil, then(state, res.verdict.Violations), nil // refused, so there is nothing left to cut
		}
		l = res.second
	}
	return nil, "", errors.New("the file has no cut")
}

// then is the story of a case with the violations that it has.
func then(c *caseOf, violations []oracle.Violation) string {
	if len(violations) == 0 {
		return story(c, "")
	}
	return story(c, violations[0].Then)
}

// stateAt rebuilds one crash state of a life.
func (l *life) stateAt(cut report.Cut, file string) (*caseOf, error) {
	m, err := crash.ParseModel(cut.Model)
	if err != nil {
		return nil, err
	}
	at := crash.Cut{At: cut.At, Inside: cut.Inside}
	if cut.At < l.first {
		return nil, fmt.Errorf("at=%d lies before the life that it cuts (its first op is %d): cuts are out of order", cut.At, l.first)
	}
	if cut.At > len(l.hist.Ops) || cut.Inside && cut.At == len(l.hist.Ops) {
		return nil, fmt.Errorf("at=%d is behind the end of the trace (%d ops): the subject does less than when the file was written", cut.At, len(l.hist.Ops))
	}
	space, err := crash.NewSpace(m, l.hist, at, crash.Options{Tear: cut.Tear})
	if err != nil {
		return nil, err
	}
	state, err := space.At(cut.Choice)
	if err != nil {
		return nil, err
	}
	now, err := newLive(l.hist).upTo(at)
	if err != nil {
		return nil, err
	}
	domain := oracle.Power
	if m == crash.Kill {
		domain = oracle.Kill
	}
	return &caseOf{
		life: l, state: state, cut: cut,
		promise: l.promise(at, domain, m == crash.Synced),
		witness: newWitness(l, file, now, l.hist.Ops[:min(cut.At+1, len(l.hist.Ops))]),
	}, nil
}

func replayed(p *report.Repro, violations []oracle.Violation, story string) *Replayed {
	out := &Replayed{Violations: violations, Story: story}
	for _, v := range violations {
		if v.Rule != p.Expect {
			continue
		}
		rule, _ := oracle.FindRule(v.Rule)
		out.Expected = &report.Finding{ID: v.Rule, Name: rule.Name, Text: v.Text, Story: story, Want: v.Want, Got: v.Got, Times: 1, File: p}
		if len(p.Cuts) > 0 {
			out.Expected.Model = p.Cuts[len(p.Cuts)-1].Model
		}
		break
	}
	return out
}

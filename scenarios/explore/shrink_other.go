package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
)

// How many tries a scene or the damage to a log has on each smaller workload, and how much more a
// try of a scene costs than a crash state. A damage costs less than one.
const (
	quickTries    = 300
	fullTries     = 2000
	tryCost       = 4
	fullDamages   = 4000
	damagesAState = 4
)

// looker searches what an attempt can do for the promise to be broken again. whole: it is not,
// and nothing was left out.
type looker func(a attempt, e effort) (hit *report.Repro, whole bool)

// lookerFor is how findings like p are looked for; nil if they cannot be.
func (s *shrinker) lookerFor(p *report.Repro) looker {
	switch {
	case len(p.Ops) > 0:
		return nil
	case p.Damage != "" && len(p.Probe) == 0:
		return s.lookDamage
	case len(p.Probe) == 0:
		return s.look
	case p.Probe[0] == workloadProbe:
		return s.lookAgain
	default:
		return s.lookScene
	}
}

// lookAgain performs the finding's own probe with another workload. Calls have moved, so each
// rule of a plan is tried at its earlier calls too.
func (s *shrinker) lookAgain(a attempt, _ effort) (*report.Repro, bool) {
	p := *s.best
	p.Program, p.Comment = a.program, nil
	for _, plan := range earlier(p.Plan) {
		p.Plan = plan
		s.info.Judged++
		now, err := Replay(s.judge.subject, s.judge.contract, &p)
		if err == nil && slices.ContainsFunc(now.Violations, s.same) {
			return &p, false
		}
	}
	return nil, true
}

// earlier are plans with their one rule at each call up to that which it names, the first first.
func earlier(plan []string) [][]string {
	if len(plan) != 1 {
		return [][]string{plan}
	}
	parsed, err := faultfs.ParsePlan(plan[0])
	if err != nil || len(parsed.Rules) != 1 {
		return [][]string{plan}
	}
	var out [][]string
	rule := parsed.Rules[0]
	for n := 1; n < rule.Nth.From; n++ {
		r := rule
		r.Nth.From = n
		out = append(out, []string{r.String()})
	}
	return append(out, plan)
}

// lookScene performs the finding's probe with another workload, and, if that shows nothing, the
// whole scene: what it does in it may have another name there.
func (s *shrinker) lookScene(a attempt, e effort) (*report.Repro, bool) {
	if hit, _ := s.lookAgain(a, e); hit != nil {
		return hit, false
	}
	for _, sc := range scenes() {
		if sc.name == s.best.Probe[0] {
			return s.rerun(a, tries(e, fullTries), func(r *run) (bool, error) {
				row := &report.Scene{}
				err := sc.run(s.ctx, &stage{run: r, name: sc.name, seed: 1, row: row})
				s.info.Judged += tryCost * row.Tried
				return row.Tried <= r.cfg.Probes/2, err // a part that has more to try than it may draws as many as it may
			})
		}
	}
	return nil, false
}

// lookDamage damages the closed log of another workload, by the finding's kind of damage.
func (s *shrinker) lookDamage(a attempt, e effort) (*report.Repro, bool) {
	kind, _, _ := strings.Cut(s.best.Damage, " ")
	return s.rerun(a, tries(e, fullDamages), func(r *run) (bool, error) {
		r.cfg.damageKind = faultfs.DamageKind(kind)
		err := r.damage(s.ctx, 1)
		whole := true
		for _, l := range r.report.Coverage.Damage.Logs {
			s.info.Judged += (l.Tried + damagesAState - 1) / damagesAState
			whole = whole && l.Complete()
		}
		return whole, err
	})
}

// tries is how many things are tried at most.
func tries(e effort, full int) int {
	if e == hunt {
		return quickTries
	}
	return full
}

// rerun does a part of an exploration on another workload, and takes the first finding that
// breaks the rule: what has to be done for that is often another thing there. The part says
// whether it left nothing out.
func (s *shrinker) rerun(a attempt, tries int, part func(*run) (whole bool, err error)) (*report.Repro, bool) {
	cfg := Config{
		Subject: s.judge.subject, Bug: s.best.Bug, Contract: s.judge.contract, Seed: 1, Program: a.program,
		Damages: tries, Probes: tries, Workers: s.options.Workers, patience: s.judge.patience,
	}
	cfg.fill()
	r := &run{cfg: cfg, judge: s.judge, report: &report.Report{}, finds: newFindings(false), broken: map[string]bool{}, program: a.program}
	whole, err := part(r)
	if err != nil {
		if s.ctx.Err() == nil {
			s.err = err
		}
		return nil, false
	}
	for _, f := range r.finds.list {
		if f.ID == s.about.Rule && f.File != nil && sameSort(f.File, s.best) {
			p := *f.File
			p.Subject, p.Bug, p.Contract, p.Comment = s.best.Subject, s.best.Bug, s.best.Contract, nil
			return &p, false
		}
	}
	return nil, whole
}

// sameSort reports whether two findings are of one scene, or both damages.
func sameSort(a, b *report.Repro) bool {
	if len(a.Probe) > 0 && len(b.Probe) > 0 {
		return a.Probe[0] == b.Probe[0]
	}
	return len(a.Probe) == len(b.Probe) && (a.Damage != "") == (b.Damage != "")
}

// workloadProbe is the word of a repro for a workload that fails with no crash at all; the
// further word "close" says that the journal is closed at the end.
const workloadProbe = "workload"

// noCrash adds a finding of the workload itself.
func (r *run) noCrash(bad oracle.Violation, args ...string) {
	r.finds.add(found{violation: violation{bad, ""}}, func(x found) *report.Finding {
		f := r.describe(x)
		f.File = &report.Repro{
			Subject: r.cfg.Subject.Name, Bug: r.cfg.Bug, Contract: r.cfg.Contract.Name, Expect: bad.Rule,
			Program: r.program, Plan: planWordsOf(r.cfg.Plan), Probe: append([]string{workloadProbe}, args...), Comment: []string{bad.Text},
		}
		return f
	})
}

func planWordsOf(p faultfs.Plan) []string {
	var out []string
	for _, rule := range p.Rules {
		out = append(out, rule.String())
	}
	return out
}

// replayWorkload performs a repro of a workload that fails with no crash.
func (j *judge) replayWorkload(p *report.Repro) (*Replayed, error) {
	plan, err := plans(p.Plan)
	if err != nil {
		return nil, err
	}
	switch {
	case len(p.Probe) == 1:
		_, bad, _ := drive(j, p.Program, plan)
		if bad != nil {
			return replayed(p, []oracle.Violation{*bad}, storyless), nil
		}
	case slices.Equal(p.Probe[1:], []string{"close"}):
		if _, err := closed(j, p.Program); err != nil {
			return replayed(p, []oracle.Violation{notClosed(err)}, storyless), nil
		}
	default:
		return nil, fmt.Errorf(`probe %q: want "workload", or "workload" "close"`, p.Probe)
	}
	return replayed(p, nil, storyless), nil
}

// storyless is the story of a workload that fails by itself.
const storyless = "the workload, with no crash"

// notClosed is the violation of a journal that cannot be closed behind a workload.
func notClosed(err error) oracle.Violation {
	return oracle.Violation{
		Rule: "UP206", Text: "closing after the workload failed, with no crash and no fault",
		Want: []string{"it closes"}, Got: []string{err.Error()},
	}
}

package explore

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
)

// effort is how hard an attempt is looked at.
type effort struct {
	states int  // that may be judged
	perCut int  // states of one cut, corners first
	outer  int  // the same for crashes that are followed by another
	late   bool // the last cuts first
	mild   bool // cut everywhere, between ops before inside them, the earliest first
}

// The efforts: hunt is quick, for attempts of which there are many; thorough is for the claim
// that an attempt passes; gentle is for the choice of the mildest cut.
//
//nolint:gochecknoglobals // three constants that Go cannot spell as such
var (
	hunt     = effort{states: 600, perCut: 48, outer: 12, late: true}
	thorough = effort{states: 4000, perCut: 2000, outer: 300}
	gentle   = effort{states: 4000, perCut: 400, outer: 48, mild: true}
)

// shrinkBatch is how many states are judged between two looks at what came out.
const shrinkBatch = 32

// look searches the crash states of an attempt for one that breaks the same promise. whole:
// there is none, and none was left out.
func (s *shrinker) look(a attempt, e effort) (hit *report.Repro, whole bool) {
	plan, err := plans(a.plan)
	if err != nil {
		s.err = err
		return nil, false
	}
	l, bad, unused := drive(s.judge, a.program, plan)
	if bad != nil || l == nil || len(unused) > 0 {
		return nil, bad == nil || !s.same(*bad)
	}
	if hit := s.moved(a, l); hit != nil && !e.mild {
		return hit, false
	}
	x := &search{shrinker: s, effort: e, attempt: a, whole: true}
	x.life(l, a.crashes)
	return x.hit, x.whole && x.hit == nil && s.err == nil
}

// moved tries the cuts of the best so far on another workload, as far from the end of the
// trace as before: most steps that go stand in front of the trouble.
func (s *shrinker) moved(a attempt, l *life) *report.Repro {
	if len(a.crashes) != len(s.best.Cuts) {
		return nil
	}
	plan, err := plans(s.best.Plan)
	if err != nil {
		return nil
	}
	old, _, _ := drive(s.judge, s.best.Program, plan)
	if old == nil {
		return nil
	}
	p := s.repro(a, slices.Clone(s.best.Cuts))
	shift := len(l.hist.Ops) - len(old.hist.Ops)
	for i := range p.Cuts {
		p.Cuts[i].At += shift
		if modelOf(p.Cuts[i]) != crash.Kill {
			break // the ops of a killed life stay in front of the next one's; others do not
		}
	}
	if p.Cuts[0].At < 0 {
		return nil
	}
	s.info.Judged += len(p.Cuts)
	now, err := s.judge.replayCuts(l, p)
	if err != nil || !slices.ContainsFunc(now.Violations, s.same) {
		return nil
	}
	return p
}

// repro is an attempt with its cuts.
func (s *shrinker) repro(a attempt, cuts []report.Cut) *report.Repro {
	p := *s.best
	p.Program, p.Plan, p.Cuts, p.Comment = a.program, a.plan, cuts, nil
	return &p
}

// search looks through the crash states of one attempt.
type search struct {
	*shrinker
	effort
	attempt attempt
	whole   bool
	hit     *report.Repro
}

// life looks through the states of one life; rest are the crashes, its own first. It reports
// whether the search is over.
func (x *search) life(l *life, rest []report.Cut) bool {
	m := modelOf(rest[0])
	all := places(l.hist.Ops, l.first)
	cuts := cutsFor(m, all, l.hist.Ops, l.first, nil)
	groups := [][]crash.Cut{cuts}
	if x.mild {
		groups = mildFirst(all)
	}
	seen := map[key]bool{}
	for _, cuts := range groups {
		w, err := newWalk(l, m, crash.Options{Tear: rest[0].Tear}, x.judge.subject.File(), cuts, math.MaxInt)
		if err != nil {
			x.err = err
			return true
		}
		w.limit = x.perCut
		if len(rest) > 1 {
			w.limit = x.outer
		}
		if x.walk(w, seen, rest[1:]) {
			return true
		}
	}
	return false
}

// mildFirst are the cuts between ops, and then those inside one.
func mildFirst(all []place) [][]crash.Cut {
	groups := make([][]crash.Cut, 2)
	for _, p := range all {
		i := 0
		if p.cut.Inside {
			i = 1
		}
		groups[i] = append(groups[i], p.cut)
	}
	return groups
}

// walk judges the states of a walk, and those nested in them.
func (x *search) walk(w *walk, seen map[key]bool, rest []report.Cut) bool {
	var batch []*caseOf
	order := w.spaces
	if x.late {
		order = slices.Clone(order)
		slices.Reverse(order)
	}
	for _, sp := range order {
		if sp.count > w.limit || w.narrowed != "" {
			x.whole = false
		}
		for c := range w.casesAt(sp, w.limit) {
			if k := keyOf(c); !seen[k] {
				seen[k] = true
				batch = append(batch, c)
			}
			if len(batch) == shrinkBatch {
				if x.judgeAll(batch, rest) {
					return true
				}
				batch = batch[:0]
			}
		}
	}
	return x.judgeAll(batch, rest)
}

// casesAt are the states of one cut.
func (w *walk) casesAt(sp spaceOf, limit int) iter.Seq[*caseOf] {
	return func(yield func(*caseOf) bool) {
		now, err := newLive(w.life.hist).upTo(sp.cut)
		if err != nil {
			panic(err) // the trace was recorded on an image
		}
		ops := w.life.hist.Ops
		witness := newWitness(w.life, w.file, now, ops[:min(sp.cut.At+1, len(ops))])
		domain := oracle.Power
		if w.model == crash.Kill {
			domain = oracle.Kill
		}
		promise := w.life.promise(sp.cut, domain, w.model == crash.Synced)
		for st := range sp.states(limit, rand.New(rand.NewPCG(1, uint64(sp.cut.At)))) {
			cut := report.Cut{Model: string(w.model), Tear: w.options.Tear, At: sp.cut.At, Inside: sp.cut.Inside}
			if !yield(&caseOf{life: w.life, state: st, cut: cut, promise: promise, witness: witness}) {
				return
			}
		}
	}
}

// judgeAll judges a batch, and then crashes the recoveries of those that pass, if there are
// crashes left. It reports whether the search is over.
func (x *search) judgeAll(batch []*caseOf, rest []report.Cut) bool {
	if x.states <= 0 || x.stopped() {
		x.whole = false
		return true
	}
	x.states -= len(batch)
	x.info.Judged += len(batch)
	p := pool{workers: x.options.Workers, patience: x.judge.patience, work: func(c *caseOf) *caseResult {
		return &caseResult{result: x.judge.run(c)}
	}}
	for i, res := range p.run(batch) {
		if res.err != nil {
			x.err = res.err
			return true
		}
		if slices.ContainsFunc(res.verdict.Violations, func(v oracle.Violation) bool { return hangs(v.Got) }) {
			x.info.Judged = max(x.info.Judged, x.options.Budget) // each further state would take as long
		}
		if slices.ContainsFunc(res.verdict.Violations, x.same) {
			c := batch[i]
			c.cut.Choice = c.state.Choice()
			x.hit = x.repro(x.attempt, append(slices.Clip(c.life.chain), c.cut))
			return true
		}
		if len(rest) == 0 || res.second == nil || len(res.verdict.Violations) > 0 {
			continue
		}
		batch[i].cut.Choice = batch[i].state.Choice()
		res.second.chain[len(res.second.chain)-1].Choice = batch[i].cut.Choice
		if x.life(res.second, rest) {
			return true
		}
	}
	return false
}

// mildest looks for the mildest crash of the best so far: between two ops rather than inside
// one, early rather than late, and of the states there the first in the model's order.
func (s *shrinker) mildest() {
	if s.stopped() || len(s.attempt().crashes) == 0 {
		return
	}
	if hit, _ := s.look(s.attempt(), gentle); hit != nil {
		s.best = hit
	}
}

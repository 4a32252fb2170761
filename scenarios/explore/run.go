package explore

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// batchSize is how many cases are judged between two looks at the context.
const batchSize = 64

// violation is a broken promise and the model under which it broke.
type violation struct {
	oracle.Violation
	model string
}

// run is one exploration under way.
type run struct {
	cfg     Config
	judge   *judge
	report  *report.Report
	finds   *findings
	reached map[crash.Cut]bool
	kinds   map[CutKind]int
	broken  map[string]bool // models under which something broke, nested crashes too
	planned int             // states at level 0 of the rounds so far
	records int             // most that a state gave back
	round   int
	program workload.Program
}

// Run explores cfg. When ctx ends it returns what it has with [ErrInterrupted]. Any other
// error means that the harness could not work, not that the journal is wrong.
func Run(ctx context.Context, cfg Config) (*report.Report, error) {
	cfg.fill()
	if err := errors.Join(cfg.Contract.Check(), CheckPlan(cfg.Plan), CheckScenes(cfg.Scenes)); err != nil {
		return nil, err
	}
	for _, m := range cfg.Models {
		if _, err := tearFor(m, cfg.Tear); err != nil {
			return nil, err
		}
	}
	r := &run{cfg: cfg, judge: &judge{cfg.Subject, cfg.Contract, cfg.patience, cfg.syncs}, finds: newFindings(cfg.Wordings), broken: map[string]bool{}}
	r.report = &report.Report{
		Schema: report.Schema, Subject: cfg.Subject.Name, Bug: cfg.Bug, Contract: cfg.Contract.Name,
		Seed: cfg.Seed, Ops: cfg.Steps, Coverage: report.Coverage{Kinds: map[string]int{}, Never: []string{}, Scenes: []report.Scene{}},
	}
	for _, m := range cfg.Models {
		tear, _ := tearFor(m, cfg.Tear)
		r.report.Models = append(r.report.Models, report.Model{Model: string(m), Tear: tear, Exhaustive: true, Total: new(big.Int)})
	}
	var err error
	for {
		if err = r.oneRound(ctx); err != nil {
			break
		}
		r.round++
		if cfg.Again == nil || cfg.FailFast && r.finds.any() || !cfg.Again(r.round) {
			break
		}
	}
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	r.report.Interrupted = ctx.Err() != nil
	r.finish()
	if r.report.Interrupted {
		return r.report, ErrInterrupted
	}
	return r.report, nil
}

// tearFor is the tear unit that a model runs with.
func tearFor(m crash.Model, tear int) (int, error) {
	if tear == 0 {
		return m.DefaultTear(), nil
	}
	switch tear {
	case 1, 512, 4096:
		return tear, nil
	}
	return 0, fmt.Errorf("tear unit %d: want 1, 512 or 4096", tear)
}

// oneRound explores one workload.
func (r *run) oneRound(ctx context.Context) error {
	seed := r.cfg.Seed + uint64(r.round)
	r.program = r.cfg.Program
	if r.program == nil {
		r.program = workload.Random(seed, r.cfg.Steps)
	}
	first := r.firstLife()
	if first == nil {
		return nil
	}
	if !r.cfg.NoCrash {
		if err := r.crashes(ctx, seed, first); err != nil {
			return err
		}
	}
	if err := r.damage(ctx, seed); err != nil {
		return err
	}
	return r.play(ctx, seed)
}

// crashes pulls the plug on the workload, under each model, and on its recoveries.
func (r *run) crashes(ctx context.Context, seed uint64, first *life) error {
	all := places(first.hist.Ops, 0)
	r.reached, r.kinds = map[crash.Cut]bool{}, map[CutKind]int{}
	walks, err := r.walks(first, all)
	if err != nil {
		return err
	}
	seen := map[key]*level0{}
	n := r.nest(ctx, seed, walks)
	for i, w := range walks {
		if err := r.explore(ctx, i, w, n, seen); err != nil {
			return err
		}
		if r.stop() {
			break
		}
		r.reach(w, all)
	}
	r.report.Coverage.Cuts += len(all)
	r.report.Coverage.Reached += len(r.reached)
	for k, n := range r.kinds {
		r.report.Coverage.Kinds[string(k)] += n
	}
	return nil
}

// stop reports whether the run ends with the first finding.
func (r *run) stop() bool { return r.cfg.FailFast && r.finds.any() }

// walks sizes up the first life under each model.
func (r *run) walks(first *life, all []place) ([]*walk, error) {
	var out []*walk
	for i, m := range r.cfg.Models {
		tear, err := tearFor(m, r.cfg.Tear)
		if err != nil {
			return nil, err
		}
		cuts := cutsFor(m, all, first.hist.Ops, 0, r.cfg.Cuts)
		w, err := newWalk(first, m, crash.Options{Tear: tear}, r.cfg.Subject.File(), cuts, r.cfg.MaxStates)
		if err != nil {
			return nil, err
		}
		row := &r.report.Models[i]
		row.Total.Add(row.Total, w.total)
		r.planned += w.states
		row.Exhaustive = row.Exhaustive && w.narrowed == ""
		if w.narrowed != "" {
			r.report.Notes = append(r.report.Notes, fmt.Sprintf("model %s: %s", m, w.narrowed))
		}
		out = append(out, w)
	}
	return out, nil
}

// nest plans the crashes of recoveries: the budgets are shared out evenly over the models, so
// that the many torn bytes of one model do not crowd out the few states of another.
func (r *run) nest(ctx context.Context, seed uint64, walks []*walk) *nest {
	n := &nest{ctx: ctx, judge: r.judge, file: r.cfg.Subject.File(), seed: seed, tear: r.cfg.Tear, wildest: wildest(r.cfg.Models), rates: map[string][2]float64{}}
	share := func(budget int, of float64) float64 {
		return min(1, float64(budget)/float64(len(walks))/max(of, 1))
	}
	for _, w := range walks {
		var rates [2]float64
		if r.cfg.Levels >= 1 {
			rates[0] = share(r.cfg.Lives, float64(w.states))
		}
		if r.cfg.Levels >= 2 {
			rates[1] = share(r.cfg.Deep, casesPerLife*rates[0]*float64(w.states))
		}
		n.rates[string(w.model)] = rates
	}
	return n
}

// level0 is a judged case of the first life, kept for equal states of other models.
type level0 struct {
	verdict oracle.Verdict
	row     int // the last model row that counted it as unique
}

// explore judges the states of one model.
func (r *run) explore(ctx context.Context, row int, w *walk, n *nest, seen map[key]*level0) error {
	p := pool{workers: r.cfg.Workers, patience: r.cfg.patience, work: n.run}
	var states []state
	var fresh, known []*caseOf // known: judged under another model, its recovery not cut under this one
	nested := map[key]bool{}
	flush := func() error {
		for i, res := range p.run(fresh) {
			if res.err != nil {
				return res.err
			}
			seen[keyOf(fresh[i])].verdict = res.verdict
			r.nestedDone(res)
		}
		for _, res := range p.run(known) {
			if res.err != nil {
				return res.err
			}
			r.nestedDone(res)
		}
		for _, s := range states {
			r.tally(row, s, seen[s.key])
		}
		fresh, known, states = nil, nil, nil
		r.progress(string(w.model))
		return ctx.Err()
	}
	for c, err := range w.cases(ctx, n.seed) {
		if err != nil {
			return fmt.Errorf("replaying the trace: %w", err)
		}
		k := keyOf(c)
		if seen[k] == nil {
			seen[k] = &level0{row: -1}
			fresh = append(fresh, c)
			nested[k] = true
			c.cut.Choice = c.state.Choice()
		} else if !nested[k] {
			nested[k] = true
			if c.cut.Choice = c.state.Choice(); n.wants(c) {
				known = append(known, c)
			}
		}
		states = append(states, state{c, k})
		if len(fresh)+len(known) >= batchSize || len(states) >= 256*batchSize {
			if err := flush(); err != nil {
				return err
			}
			if r.stop() {
				return nil
			}
		}
	}
	return flush()
}

// state is one enumerated state and the case that it is.
type state struct {
	c   *caseOf
	key key
}

// tally counts one state under its model.
func (r *run) tally(row int, s state, judged *level0) {
	m, v := &r.report.Models[row], judged.verdict
	m.States++
	r.report.States++
	if judged.row < row {
		if judged.row < 0 {
			r.report.Unique++
		}
		judged.row = row
		m.Unique++
	}
	r.records = max(r.records, v.Records)
	if v.Tail {
		m.Tails++
	}
	if v.Refused {
		m.Refused++
	}
	if m.Model == string(crash.LyingFlush) || v.Lied {
		if v.Lost || len(v.Violations) > 0 {
			m.Lost++
		} else {
			m.Detected++
		}
		return
	}
	if len(v.Violations) > 0 {
		m.Violations++
		r.broken[m.Model] = true
	}
	for _, x := range v.Violations {
		r.finds.add(found{violation: violation{x, m.Model}, c: s.c}, r.describe)
	}
}

// nestedDone counts what was nested in a case.
func (r *run) nestedDone(res *caseResult) {
	cov := &r.report.Coverage
	for i, n := range res.nested {
		if n.Of == 0 {
			continue
		}
		for len(cov.Nested) <= i {
			cov.Nested = append(cov.Nested, report.Nested{Level: len(cov.Nested) + 1})
		}
		t := &cov.Nested[i]
		t.Lives += n.Lives
		t.Of += n.Of
		t.States += n.States
		t.Unique += n.Unique
		t.Bad += n.Bad
		t.All = t.Lives == t.Of
		r.report.States += n.States
		r.report.Unique += n.Unique
	}
	for _, f := range res.found {
		r.broken[f.c.cut.Model] = true
		r.finds.add(f, r.describe)
	}
}

// outermost is the model of the first crash in a case's chain.
func (c *caseOf) outermost() string {
	if len(c.life.chain) > 0 {
		return c.life.chain[0].Model
	}
	return c.cut.Model
}

// reach notes which places a walk cut. The end of an epoch stands for every place in it.
func (r *run) reach(w *walk, all []place) {
	cut := map[crash.Cut]bool{}
	for _, s := range w.spaces {
		cut[s.cut] = true
	}
	collapsed := len(r.cfg.Cuts) == 0 && w.model != crash.Kill && len(w.spaces) > 0
	for _, p := range all {
		if !collapsed && !cut[p.cut] || r.reached[p.cut] {
			continue
		}
		r.reached[p.cut] = true
		for _, k := range p.kinds {
			r.kinds[k]++
		}
	}
}

func (r *run) progress(model string) {
	if r.cfg.Progress == nil {
		return
	}
	p := Progress{Round: r.round, Model: model, States: r.report.States, Unique: r.report.Unique, Bad: r.finds.times}
	p.Of = r.planned
	for _, m := range r.report.Models {
		p.Tails += m.Tails
		p.Done += m.States
		p.Closed += m.Refused
	}
	r.cfg.Progress(p)
}

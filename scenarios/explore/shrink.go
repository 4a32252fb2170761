package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/target"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// DefaultShrink is how many states the shrinking of one finding may judge.
const DefaultShrink = 20_000

// ErrPasses is returned by [Shrink] for a file whose promise is kept now.
var ErrPasses = errors.New("the promise is kept now, so there is nothing to shrink")

// ShrinkOptions bound a shrinking. The zero value is the default of each.
type ShrinkOptions struct {
	Budget  int // states that may be judged; 0 is DefaultShrink
	Workers int // 0 is one; the result does not depend on it
	// Progress is told, from one goroutine, how far it is; nil is fine.
	Progress func(Shrunk)
}

// Shrunk says how far a finding was shrunk.
type Shrunk struct {
	From, To int // steps of the workload, before and after
	Judged   int // states that were judged, or tries of a scene
	// Minimal: every finding with one step, record, plan rule or crash less was looked through,
	// and passes.
	Minimal bool
	// Stopped: the budget or the context ended it, so a smaller finding may be left.
	Stopped bool
	// Fixed says why the workload could not be made smaller at all; empty if it could be tried.
	Fixed string
}

// String is the outcome in words: "41 → 4 steps; removing any one passes".
func (s Shrunk) String() string {
	var b strings.Builder
	switch {
	case s.From == 0 && s.To == 0:
		return "no step is needed: opening is enough"
	case s.From == s.To:
		fmt.Fprintf(&b, "%s as found", steps(s.To))
	default:
		fmt.Fprintf(&b, "%d → %s", s.From, steps(s.To))
	}
	switch {
	case s.Fixed != "":
		b.WriteString("; " + s.Fixed)
	case s.Minimal && s.To == 0:
		b.WriteString("; nothing is left to remove")
	case s.Minimal:
		b.WriteString("; removing any one passes")
	case s.Stopped:
		b.WriteString("; stopped early, so there may be a smaller one")
	default:
		b.WriteString("; no smaller one was found among the states that were sampled")
	}
	return b.String()
}

func steps(n int) string {
	switch n {
	case 0:
		return "no step"
	case 1:
		return "1 step"
	default:
		return fmt.Sprintf("%d steps", n)
	}
}

// attempt is a finding that may be there: a workload, faults, and under which models it is
// crashed. Where it is crashed must be looked for: every step that goes moves all cuts.
type attempt struct {
	program workload.Program
	plan    []string
	crashes []report.Cut // model and tear of each
}

// key tells attempts apart.
func (a attempt) key() string {
	var b strings.Builder
	b.WriteString(a.program.String())
	for _, p := range a.plan {
		b.WriteString("plan " + p + "\n")
	}
	for _, c := range a.crashes {
		fmt.Fprintf(&b, "%s %d\n", c.Model, c.Tear)
	}
	return b.String()
}

// shrinker is one shrinking under way.
type shrinker struct {
	ctx     context.Context //nolint:containedctx // of one shrinking; it ends the search early
	judge   *judge
	options ShrinkOptions
	about   oracle.Violation // what must break again
	best    *report.Repro
	info    Shrunk
	find    looker
	passed  map[string]bool // attempts that do not fail; true: every state was looked at
	err     error           // the harness failed
}

// Shrink makes a saved finding smaller: fewer steps, fewer and simpler records, fewer faults,
// fewer crashes, an earlier cut, a simpler crash state. The result breaks the same rule in the
// same way and replays. The same file gives the same result. When ctx ends, the best so far is
// returned, with Stopped set.
//
// The error is [ErrPasses] for a finding that is none any more, and says otherwise what does not
// fit the subject.
func Shrink(ctx context.Context, s target.Subject, c oracle.Contract, p *report.Repro, o ShrinkOptions) (*report.Repro, Shrunk, error) {
	now, err := Replay(s, c, p)
	if err != nil {
		return nil, Shrunk{}, err
	}
	if now.Expected == nil {
		return nil, Shrunk{}, ErrPasses
	}
	if o.Budget == 0 {
		o.Budget = DefaultShrink
	}
	o.Workers = max(o.Workers, 1)
	x := &shrinker{
		ctx: ctx, judge: &judge{subject: s, contract: c, patience: watchdog}, options: o, best: p, passed: map[string]bool{},
		about: oracle.Violation{Rule: p.Expect, Text: now.Expected.Text},
		info:  Shrunk{From: len(p.Program), To: len(p.Program)},
	}
	switch x.find = x.lookerFor(p); {
	case hangs(now.Expected.Got):
		x.info.Fixed = "not shrunk, because every try takes 30 s"
	case x.find == nil:
		x.info.Fixed = "not shrunk, because it is a recorded trace"
	default:
		x.shrink()
	}
	if x.err != nil {
		return nil, Shrunk{}, x.err
	}
	x.info.To = len(x.best.Program)
	return x.describe(), x.info, nil
}

// hangs reports whether what came back is the watchdog's word.
func hangs(got []string) bool {
	return len(got) > 0 && strings.HasPrefix(got[0], "no answer in ")
}

// describe is the best finding with comments that say what it shows.
func (s *shrinker) describe() *report.Repro {
	out := *s.best
	out.Comment = []string{s.about.Text}
	if now, err := Replay(s.judge.subject, s.judge.contract, s.best); err == nil && now.Expected != nil {
		out.Comment = []string{now.Expected.Text, now.Expected.Story}
	}
	out.Comment = append(out.Comment, "shrunk: "+s.info.String())
	return &out
}

// shrink looks for smaller findings until there is none.
func (s *shrinker) shrink() {
	a := s.attempt()
	for _, tiny := range tinyPrograms(a.program) {
		if len(tiny) < len(s.best.Program) && s.try(attempt{tiny, a.plan, a.crashes}, hunt) {
			break
		}
	}
	s.halves()
	for s.pass() { // until nothing more can go
	}
	s.mildest()
	s.info.Stopped = s.stopped()
	s.info.Minimal = !s.info.Stopped && s.minimal()
}

// attempt is the best so far, as an attempt.
func (s *shrinker) attempt() attempt {
	a := attempt{program: s.best.Program}
	if len(s.best.Probe) > 0 || s.best.Damage != "" {
		return a // its faults and crashes are found anew for each workload
	}
	a.plan = s.best.Plan
	for _, c := range s.best.Cuts {
		a.crashes = append(a.crashes, report.Cut{Model: c.Model, Tear: c.Tear})
	}
	return a
}

// stopped reports whether the budget or the context ended.
func (s *shrinker) stopped() bool {
	return s.err != nil || s.ctx.Err() != nil || s.info.Judged >= s.options.Budget
}

// try looks whether an attempt fails, and takes it as the best if so.
func (s *shrinker) try(a attempt, e effort) bool {
	if _, known := s.passed[a.key()]; s.stopped() || known && e != thorough {
		return false
	}
	if s.passed[a.key()] {
		return false
	}
	hit, whole := s.find(a, e)
	if hit == nil {
		s.passed[a.key()] = whole
		return false
	}
	s.best = hit
	s.tell()
	return true
}

func (s *shrinker) tell() {
	s.info.To = len(s.best.Program)
	if s.options.Progress != nil {
		s.options.Progress(s.info)
	}
}

// halves takes out runs of steps, long ones first.
func (s *shrinker) halves() {
	for size := len(s.best.Program) / 2; size >= 1; size /= 2 {
		for at := 0; at+size <= len(s.best.Program) && !s.stopped(); {
			a := s.attempt()
			a.program = slices.Delete(slices.Clone(a.program), at, at+size)
			if !s.try(a, hunt) {
				at += size
			}
		}
	}
}

// pass tries everything that makes the best a little smaller, and reports whether something did.
func (s *shrinker) pass() bool {
	smaller := false
	for _, list := range []func(attempt) []attempt{lessOne, simpler} {
		for again := true; again && !s.stopped(); {
			again = false
			for _, a := range list(s.attempt()) {
				if s.try(a, thorough) {
					smaller, again = true, true
					break
				}
			}
		}
	}
	return smaller && !s.stopped()
}

// minimal reports whether every attempt with one thing less was looked through and passes.
func (s *shrinker) minimal() bool {
	for _, a := range lessOne(s.attempt()) {
		if !s.passed[a.key()] {
			return false
		}
	}
	return true
}

// same reports whether a violation is the one that is being shrunk. Numbers in the text move
// when steps go; which marker of a compaction stands where may change too.
func (s *shrinker) same(v oracle.Violation) bool {
	return v.Rule == s.about.Rule && (v.Rule == "UP210" || shape(v.Text) == shape(s.about.Text))
}

// shape is a text without its numbers.
func shape(text string) string {
	var b strings.Builder
	digits := false
	for _, r := range text {
		digit := r >= '0' && r <= '9'
		switch {
		case digit && !digits:
			b.WriteByte('#')
		case !digit:
			b.WriteRune(r)
		}
		digits = digit
	}
	return b.String()
}

// plans parses the rules of a repro.
func plans(rules []string) (faultfs.Plan, error) {
	var plan faultfs.Plan
	for _, text := range rules {
		one, err := faultfs.ParsePlan(text)
		if err != nil {
			return plan, fmt.Errorf("plan %q: %w", text, err)
		}
		plan.Rules = append(plan.Rules, one.Rules...)
	}
	return plan, nil
}

// modelOf is the model of a crash; its name was parsed when the finding was replayed.
func modelOf(c report.Cut) crash.Model { return crash.Model(c.Model) }

package explore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// togetherRounds is how many times concurrent appenders are recorded.
const togetherRounds = 4

// togetherScene crashes appenders that run at the same time. A run of them takes another order
// each time, so it is recorded once and its trace explored; a finding keeps the trace. Syncs
// are slow in it, so that appends gather behind one.
func togetherScene(ctx context.Context, s *stage) error {
	if !s.cfg.Subject.Concurrent {
		s.skip("the subject is for one goroutine only (Subject.Concurrent)")
		return nil
	}
	met := meeting{}
	for round := range togetherRounds {
		p := togetherProgram(s.seed + uint64(round))
		ops, bad := recordTogether(s.judge, p, []faultfs.When{faultfs.On, faultfs.After}[round%2])
		if bad != nil {
			s.tried([]oracle.Violation{*bad}, "appends from several goroutines, with no crash", report.Repro{Program: p})
			return nil
		}
		met.count(ops)
		l := newLife(&crash.History{Base: image.New(), Ops: ops}, 0, nil, s.judge.lookup(p))
		l.late = s.cfg.Contract.AckOn == oracle.AckSync
		l.findSynced()
		if err := s.crashTogether(ctx, l, p, s.cfg.Probes/togetherRounds); err != nil {
			return err
		}
	}
	s.row.Note = met.String()
	return nil
}

// crashTogether judges crash states of a recorded life, its share of each model.
func (s *stage) crashTogether(ctx context.Context, l *life, p workload.Program, budget int) error {
	all := places(l.hist.Ops, 0)
	seen := map[key]bool{}
	for _, m := range s.cfg.Models {
		if m == crash.LyingFlush {
			continue // it broke the promise already
		}
		cuts := cutsFor(m, all, l.hist.Ops, 0, nil)
		w, err := newWalk(l, m, crash.Options{Tear: s.cfg.Tear}, s.cfg.Subject.File(), cuts, budget/len(s.cfg.Models))
		if err != nil {
			return err
		}
		var batch []*caseOf
		for c, err := range w.cases(ctx, s.seed) {
			if err != nil {
				return fmt.Errorf("replaying the trace: %w", err)
			}
			if k := keyOf(c); !seen[k] {
				seen[k] = true
				c.cut.Choice = c.state.Choice()
				batch = append(batch, c)
			}
		}
		one := pool{workers: s.cfg.Workers, patience: s.cfg.patience, work: func(c *caseOf) *caseResult { return &caseResult{result: s.judge.run(c)} }}
		for i, res := range one.run(batch) {
			if res.err != nil {
				return res.err
			}
			c := batch[i]
			s.tried(res.verdict.Violations, then(c, res.verdict.Violations),
				report.Repro{Program: p, Ops: l.hist.Ops, Cuts: []report.Cut{c.cut}})
		}
	}
	return ctx.Err()
}

// replayTogether crashes the trace that the file holds once more.
func replayTogether(j *judge, p *report.Repro, _ []string) (*Replayed, error) {
	if len(p.Ops) == 0 {
		if _, bad := recordTogether(j, p.Program, faultfs.On); bad != nil {
			return replayed(p, []oracle.Violation{*bad}, "appends from several goroutines, with no crash"), nil
		}
		return replayed(p, nil, "appends from several goroutines, with no crash"), nil
	}
	if n := p.Program.Records(); marksBehind(p.Ops, n) {
		return nil, fmt.Errorf("the trace notes more records than the program has (%d)", n)
	}
	l := newLife(&crash.History{Base: image.New(), Ops: p.Ops}, 0, nil, j.lookup(p.Program))
	l.late = j.contract.AckOn == oracle.AckSync
	l.findSynced()
	return j.replayCuts(l, p)
}

// marksBehind reports whether a trace tells of a record that a program does not have.
func marksBehind(ops []trace.Op, records int) bool {
	for _, op := range ops {
		if m, ok := workload.ParseMark(op.Text); op.Kind == trace.Note && ok && m.What == "append" && (m.N < 0 || m.N >= records) {
			return true
		}
	}
	return false
}

// togetherProgram has a few groups of appends at the same time, with a single one and a sync
// between.
func togetherProgram(seed uint64) workload.Program {
	rng := rand.New(rand.NewPCG(seed, 0x746f6765))
	var p workload.Program
	n := 0
	group := func(size int) {
		s := workload.Step{Kind: workload.Together}
		for range size {
			pad := strings.Repeat("side by side ", rng.IntN(40))
			s.Records = append(s.Records, fmt.Appendf(nil, `{"type":"message","role":"user","content":"t%d %s"}`, n, pad))
			n++
		}
		p = append(p, s)
	}
	group(1)
	group(2 + rng.IntN(3))
	p = append(p, workload.Step{Kind: workload.Sync})
	group(3 + rng.IntN(5))
	return append(p, workload.Step{Kind: workload.Sync})
}

// recordTogether runs a program whose syncs are slow, before or after they took effect, so that
// what is written meanwhile is in them or is not, and gives its trace; or what went wrong,
// though no fault was there to make it go wrong.
func recordTogether(j *judge, p workload.Program, when faultfs.When) (ops []trace.Op, bad *oracle.Violation) {
	slow := faultfs.Plan{Rules: []faultfs.Rule{{
		When: when, Call: faultfs.CallSync, Match: "*", Nth: faultfs.Nth{From: 1, On: true},
		Fault: faultfs.Fault{Kind: faultfs.Slow, Delay: time.Millisecond},
	}}}
	fsys := faultfs.New(faultfs.NewMem(image.New()), faultfs.WithPlan(slow), faultfs.WithOpLimit(opBudget*(1+len(p))),
		faultfs.WithMarker(j.subject.Marker), faultfs.WithSleep(gather))
	d := workload.Driver{Subject: j.subject, AckOnAppend: j.contract.AckOn == oracle.AckAppend}
	var failures []workload.CallError
	var end *oracle.Outcome
	back := within(j.patience, func() {
		failures, end = j.drive(&d, fsys, p)
		ops = fsys.Log().Ops()
		j.letGo(&d)
	})
	wrong := func(text, want string, got []string) *oracle.Violation {
		return &oracle.Violation{Rule: "UP206", Text: text, Want: []string{want}, Got: got}
	}
	switch {
	case !back:
		return nil, wrong("appends from several goroutines did not return, with no crash at all", "they return", []string{fmt.Sprintf("no answer in %d s", j.patience)})
	case end != nil:
		return nil, wrong("appends from several goroutines: the subject "+end.Class.String()+", with no crash at all", "they return", []string{end.Err})
	case len(failures) > 0:
		return nil, wrong("an append from one of several goroutines failed, with no crash and no fault", "it succeeds", failureWords(failures))
	}
	for i := range ops {
		ops[i].Fault = "" // slowness leaves no trace
	}
	return ops, nil
}

// gatherTurns is how often a sync gives its turn away while appenders gather: a real sync takes
// milliseconds, in which they would come.
const gatherTurns = 2000

// gather lets the other appenders come to the journal's door while one syncs.
func gather(time.Duration) {
	for range gatherTurns {
		runtime.Gosched()
	}
}

// meeting counts how many appends of recorded runs met.
type meeting struct{ appends, overlapped, syncs int }

func (m *meeting) count(ops []trace.Op) {
	open := map[int]bool{} // calls under way, and whether they met another
	for _, op := range ops {
		if op.Kind == trace.SyncFile {
			m.syncs++
		}
		mark, ok := workload.ParseMark(op.Text)
		if op.Kind != trace.Note || !ok || mark.What != "append" {
			continue
		}
		switch mark.Event {
		case workload.Dropped:
		case workload.Called:
			m.appends++
			open[mark.N] = false
			if len(open) > 1 {
				for n := range open {
					open[n] = true
				}
			}
		case workload.Returned, workload.Failed:
			if open[mark.N] {
				m.overlapped++
			}
			delete(open, mark.N)
		case workload.Acked, workload.Reached:
		}
	}
}

func (m *meeting) String() string {
	if m.overlapped == 0 {
		return "no two appends overlapped: nothing was tested"
	}
	return fmt.Sprintf("%d of %d appends overlapped another; %d file syncs", m.overlapped, m.appends, m.syncs)
}

package explore

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// faultBatch is how many runs are judged between two looks at the context.
const faultBatch = 128

// faultScene lets every kind of fault befall every call of a workload, once and for good, while
// the process lives on: the driver goes on behind errors, reopens where the program says so, and
// opens again what did not open. The same befalls a recovery that has a torn tail to repair. Each
// run is judged by its trace and by crashes behind the fault.
//
// A record whose call failed is optional. Syncs that succeed and do nothing are counted as lost
// or not, and are never a finding.
func faultScene(ctx context.Context, s *stage) error {
	known := &inOrder{seed: maphash.MakeSeed()} // decides nothing but what is judged twice
	sweep := sweep{kinds: map[string]bool{}}
	on := s.judge.fresh(s.shortProgram())
	for on != nil {
		whole := s.judge.faultVerdict(ctx, faultTry{on, faultfs.Plan{}}, known)
		if whole.broken != nil {
			return whole.broken
		}
		if len(whole.finds) > 0 { // each of the faults would tell of it again
			whole.finds = slices.DeleteFunc(whole.finds, func(x faultFind) bool { return s.finds.has(x.violation.Rule) })
			s.faulted(on.program, faultTry{on, faultfs.Plan{}}, whole)
			s.row.Note = "the workload breaks a promise without any fault, so that none was tried"
			return nil
		}
		sweep.add(s.judge, on)
		if on.from != nil {
			break
		}
		var err error
		if on, err = s.judge.torn(ctx, whole.life); err != nil {
			return err
		}
	}
	all := len(sweep.tries)
	sweep.draw(s.seed, s.cfg.Probes)
	var t faultTally
	for from := 0; from < len(sweep.tries) && !t.hung; from += faultBatch {
		tries := sweep.tries[from:min(from+faultBatch, len(sweep.tries))]
		for i, v := range s.judgeFaults(ctx, tries, known) {
			if v.broken != nil {
				return v.broken
			}
			t.count(v)
			s.faulted(s.shortProgram(), tries[i], v)
			if v.hung {
				break // the next one would not come back either
			}
		}
		if ctx.Err() != nil || s.stop() {
			break
		}
	}
	s.row.Note = t.words(&sweep, all)
	return ctx.Err()
}

// judgeFaults judges runs on all workers, and gives their verdicts in the order of the plans. When
// one does not come back, those behind it are left out: every one of them could take as long.
func (s *stage) judgeFaults(ctx context.Context, tries []faultTry, known *inOrder) []faultVerdict {
	out := make([]faultVerdict, len(tries))
	var next atomic.Int64
	var hung atomic.Bool
	var wg sync.WaitGroup
	for range s.cfg.Workers {
		wg.Go(func() {
			for !hung.Load() { // what was taken is judged, so that all in front of one that hangs are
				i := int(next.Add(1)) - 1
				if i >= len(tries) {
					return
				}
				out[i] = s.judge.faultVerdict(ctx, tries[i], known)
				if out[i].hung {
					hung.Store(true)
				}
			}
		})
	}
	wg.Wait()
	return out
}

// faultVerdict makes a run and judges it. A recovery that does not come back is a finding.
func (j *judge) faultVerdict(ctx context.Context, t faultTry, known *inOrder) faultVerdict {
	f := j.survive(t.on, t.plan)
	var v faultVerdict
	if !within(j.patience, func() { v = j.consider(ctx, f, known) }) {
		return faultVerdict{hung: true, finds: []faultFind{{
			violation: oracle.Violation{Rule: "UP205", Text: "a recovery behind a fault did not return", Want: []string{"it opens"}, Got: []string{"no answer in 30 s, and no file operation"}},
			story:     f.tale(),
		}}}
	}
	return v
}

// faulted counts one run and its findings, each with the crashes that show it.
func (s *stage) faulted(p workload.Program, t faultTry, v faultVerdict) {
	if len(v.finds) == 0 {
		s.tried(nil, "", report.Repro{})
		return
	}
	tried, bad := s.row.Tried, s.row.Bad
	for _, x := range v.finds {
		file := report.Repro{Program: p, Plan: planLines(t.plan), Cuts: x.cuts}
		if t.on.from != nil && len(x.cuts) == 0 {
			file.Cuts = []report.Cut{t.on.from.cut}
		}
		s.tried([]oracle.Violation{x.violation}, x.story, file, t.on.name)
	}
	s.row.Tried, s.row.Bad = tried+1, bad+1
}

// faultTally is what became of the runs.
type faultTally struct {
	ends            [faultEnds]int
	lied, lost, all int
	hung            bool
}

func (t *faultTally) count(v faultVerdict) {
	t.all++
	t.ends[v.end]++
	t.hung = t.hung || v.hung
	if v.lied {
		t.lied++
	}
	if v.lost {
		t.lost++
	}
}

func (t *faultTally) words(s *sweep, all int) string {
	how := ""
	switch {
	case t.hung:
		how = ", up to one that did not come back"
	case t.all < all:
		how = fmt.Sprintf(", a seeded draw of %d", all)
	}
	text := fmt.Sprintf("%d kinds at %d calls%s: %d poisoned, %d healed, %d did not open, %d unnoticed",
		len(s.kinds), s.calls, how, t.ends[faultPoisoned], t.ends[faultHealed], t.ends[faultRefused], t.ends[faultUnnoticed])
	if t.lied > 0 {
		text += fmt.Sprintf("; of %d with a sync that lied %d lost something, which is no finding", t.lied, t.lost)
	}
	return text
}

// replayFault performs one run again: its plan, and the crashes behind it. args name the ground.
func replayFault(j *judge, p *report.Repro, args []string) (*Replayed, error) {
	plan, err := planOf(p)
	if err != nil {
		return nil, err
	}
	on, cuts, err := j.groundOf(p, strings.Join(args, " "))
	if err != nil {
		return nil, err
	}
	if len(cuts) > 0 {
		f := j.survive(on, plan)
		if f.life == nil {
			return nil, fmt.Errorf("the run did not come to its end: %s", f.end.Err)
		}
		behind := *p
		behind.Cuts = cuts
		violations, story, err := j.lastCut(f.life, &behind)
		if err != nil {
			return nil, err
		}
		for i := range violations {
			f.blame(&violations[i], cuts[0].At)
		}
		return replayed(p, violations, f.tale()+" · "+story), nil
	}
	v := j.faultVerdict(context.Background(), faultTry{on, plan}, &inOrder{seed: maphash.MakeSeed()})
	if v.broken != nil {
		return nil, v.broken
	}
	var violations []oracle.Violation
	story := "no finding"
	for _, x := range v.finds {
		if len(x.cuts) == 0 {
			violations, story = append(violations, x.violation), x.story
		}
	}
	return replayed(p, violations, story), nil
}

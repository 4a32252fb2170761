package explore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// Bounds of the damage that a round does.
const (
	smallBytes  = 2048   // bytes of a log that is damaged everywhere
	smallBudget = 8_000  // below it, damage everywhere is not tried
	wholeSample = 20_000 // to the whole log, when the small one is damaged everywhere
	damageBatch = 512    // between two looks at the context
)

// damage puts one fault at a time into the bytes of cleanly closed logs, and grades what
// recovery says: UP203. Nothing of it is a crash: these bytes were synced. A log is damaged at every
// place by every kind if the budget allows; else a small log is, made of the workload's shortest
// steps, and the whole one at a seeded sample of places.
func (r *run) damage(ctx context.Context, seed uint64) error {
	if r.cfg.Damages <= 0 || len(r.cfg.Plan.Rules) > 0 || r.stop() {
		return nil
	}
	img := r.closedLog()
	if img == nil {
		return nil
	}
	budget := r.cfg.Damages
	whole := newDamagedLog(r.judge, r.program, img)
	if whole == nil {
		return nil // recovery fails with no damage at all: its crash states tell that
	}
	whole.only(r.cfg.damageKind)
	rng := rand.New(rand.NewPCG(seed, 0xda3a9e))
	if budget >= smallBudget && whole.total > budget {
		if small := r.smallLog(); small != nil && small.total <= budget-budget/10 {
			if err := r.damageLog(ctx, small, "small", small.total, rng); err != nil {
				return err
			}
			budget = min(budget-small.total, wholeSample)
		}
	}
	return r.damageLog(ctx, whole, "whole", budget, rng)
}

// smallLog is the closed log of those steps of the workload that fit into a small one; nil if
// there is none.
func (r *run) smallLog() *damagedLog {
	var kept workload.Program
	var small *damagedLog
	for _, step := range r.program {
		next := append(slices.Clip(kept), step)
		img, err := closed(r.judge, next)
		if err != nil {
			return nil
		}
		size := int64(0)
		for _, n := range sizes(img, r.cfg.Subject.File()) {
			size += n
		}
		if size > smallBytes {
			continue
		}
		s := newDamagedLog(r.judge, next, img)
		if s == nil {
			return nil
		}
		kept, small = next, s
	}
	return small
}

// damageJob is one damage that is done.
type damageJob struct {
	slot   *damageSlot
	damage faultfs.Damage
	graded graded
}

// damageLog damages a log at up to so many places.
func (r *run) damageLog(ctx context.Context, s *damagedLog, log string, budget int, rng *rand.Rand) error {
	row := r.logRow(log)
	row.Bytes = max(row.Bytes, s.bytes)
	s.share(budget)
	defer func() { r.report.Coverage.Damage.Unique += len(s.answers) }()
	for _, slot := range s.slots {
		kind := r.damageRow(slot.kind.name)
		kind.Of += slot.count
		row.Of += slot.count
		for done := 0; done < slot.share; {
			n := min(slot.share-done, damageBatch)
			jobs := make([]damageJob, n)
			for i := range jobs {
				jobs[i] = damageJob{slot: slot, damage: slot.kind.at(slot.file, slot.place(done+i, rng))}
			}
			done += n
			hung := s.run(jobs, r.cfg.Workers)
			for i := range jobs[:hung] {
				r.grade(s, &jobs[i], kind, row)
			}
			r.progress("damage")
			if ctx.Err() != nil || r.stop() || hung < n {
				return ctx.Err() // a subject that hangs at one place does at many, and each takes its time
			}
		}
	}
	return nil
}

// run does jobs on several workers. It gives how many count: up to the first that hung.
func (s *damagedLog) run(jobs []damageJob, workers int) int {
	var next, hung atomic.Int64
	hung.Store(int64(len(jobs)))
	var wait sync.WaitGroup
	for range min(workers, len(jobs)) {
		wait.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= int64(len(jobs)) || hung.Load() < int64(len(jobs)) {
					return // jobs begin in order, so all in front of one that hung were begun
				}
				j := &jobs[i]
				j.graded = s.try(j.slot.file, j.damage)
				for old := hung.Load(); j.graded.hung && i+1 < old && !hung.CompareAndSwap(old, i+1); {
					old = hung.Load()
				}
			}
		})
	}
	wait.Wait()
	return int(hung.Load())
}

// grade counts one answer and adds its findings.
func (r *run) grade(s *damagedLog, j *damageJob, kind *report.DamageKind, log *report.DamagedLog) {
	g := &j.graded
	if g.nothing {
		kind.Of--
		log.Of--
		return
	}
	log.Tried++
	if all := &r.report.Coverage.Damage; g.vouched {
		all.Add(g.grades)
		kind.Add(g.grades)
	} else {
		all.Excused.Add(g.grades)
		kind.Excused.Add(g.grades)
	}
	for _, v := range g.violations {
		p := &report.Repro{
			Subject: r.cfg.Subject.Name, Bug: r.cfg.Bug, Contract: r.cfg.Contract.Name, Expect: v.Rule,
			Program: s.program, Damage: j.damage.String(), File: j.slot.file.name, Comment: []string{v.Text},
		}
		r.finds.add(found{violation: violation{v, ""}}, func(x found) *report.Finding {
			f := r.describe(x)
			f.Story = damageStory(p.Damage, p.File)
			f.File = p
			return f
		})
	}
}

// damageRow is the row of a kind in the report.
func (r *run) damageRow(kind string) *report.DamageKind {
	d := &r.report.Coverage.Damage
	for i := range d.Kinds {
		if d.Kinds[i].Kind == kind {
			return &d.Kinds[i]
		}
	}
	d.Kinds = append(d.Kinds, report.DamageKind{Kind: kind})
	return &d.Kinds[len(d.Kinds)-1]
}

// logRow is the row of a log in the report.
func (r *run) logRow(log string) *report.DamagedLog {
	d := &r.report.Coverage.Damage
	for i := range d.Logs {
		if d.Logs[i].Log == log {
			return &d.Logs[i]
		}
	}
	d.Logs = append(d.Logs, report.DamagedLog{Log: log})
	return &d.Logs[len(d.Logs)-1]
}

func damageStory(d, file string) string {
	return fmt.Sprintf("the workload · close · everything synced · DAMAGE (%s in %s)", d, file)
}

// replayDamage performs a repro of UP203.
func (j *judge) replayDamage(p *report.Repro) (*Replayed, error) {
	rule, err := faultfs.ParseRule("after sync * 1 -> " + p.Damage) // a damage is spelt as in a plan
	if err != nil {
		return nil, fmt.Errorf("damage %q: %w", p.Damage, err)
	}
	img, err := closed(j, p.Program)
	if err != nil {
		return nil, err
	}
	var violations []oracle.Violation
	if s := newDamagedLog(j, p.Program, img); s != nil {
		f := s.file(p.File)
		if f == nil {
			return nil, fmt.Errorf("damage in %s: the workload leaves no such file", p.File)
		}
		g := s.try(f, rule.Fault.Damage)
		if g.nothing {
			return nil, fmt.Errorf("damage %q changes nothing in %s: the workload writes other bytes than when the file was saved", p.Damage, p.File)
		}
		violations = g.violations
	}
	return replayed(p, violations, damageStory(p.Damage, p.File)), nil
}

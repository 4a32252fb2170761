package explore

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"slices"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/report"
)

// nestedPerCut is how many states of one cut of a recovery are tried: all that a short
// write or a folder entry gives, the corners of a long one (all old, all new, prefixes
// first).
const nestedPerCut = 16

// casesPerLife is about how many different states the cuts of one recovery give.
const casesPerLife = 20

// caseResult is what became of a case and of the crashes nested in it.
type caseResult struct {
	result
	root   *caseOf          // the case at level 0
	err    error            // the harness failed
	nested [2]report.Nested // level 1, level 2
	found  []found          // what the nested crashes broke
}

// found is a violation with the crashes that led to it.
type found struct {
	violation
	c     *caseOf
	scene string
}

// nest crashes the recovery of a case, and the recoveries of those crashes in turn.
type nest struct {
	ctx   context.Context //nolint:containedctx // of one round; it ends the descent early
	judge *judge
	file  string
	seed  uint64
	tear  int
	// wildest is the model that cuts what a kill left: no wilder one than the run's own.
	wildest crash.Model
	rates   map[string][2]float64 // share of recoveries that are cut, by outermost model and level
}

// run judges a case and what is nested in it.
func (n *nest) run(c *caseOf) *caseResult {
	res := &caseResult{root: c, result: n.judge.run(c)}
	n.descend(res, res.second, 0, c)
	res.second = nil // its trace is not needed any more
	return res
}

// wants reports whether the recovery of a case that was judged before, under another model,
// is to be cut under this one as well.
func (n *nest) wants(c *caseOf) bool {
	rate := n.rates[c.cut.Model][0]
	return rate > 0 && c.cut.Model != string(crash.LyingFlush) && n.chosen(c, 0, rate)
}

// descend crashes one life at level (0 is the first nested one).
func (n *nest) descend(res *caseResult, l *life, level int, parent *caseOf) {
	if l == nil || level >= len(res.nested) || n.ctx.Err() != nil {
		return
	}
	rate := n.rates[parent.outermost()][level]
	if rate == 0 {
		return
	}
	models := n.modelsAfter(l)
	if len(models) == 0 {
		return
	}
	count := &res.nested[level]
	count.Of++
	if !n.chosen(parent, level, rate) {
		return
	}
	count.Lives++
	seen := map[key]bool{}
	all := places(l.hist.Ops, l.first)
	for _, m := range models {
		opt := crash.Options{Tear: n.tear}
		cuts := cutsFor(m, all, l.hist.Ops, l.first, nil)
		w, err := newWalk(l, m, opt, n.file, cuts, len(cuts)*nestedPerCut)
		if err != nil {
			panic(err) // the same options passed at level 0
		}
		w.limit = nestedPerCut
		for c, err := range w.cases(n.ctx, n.seed) {
			if err != nil {
				panic(err)
			}
			count.States++
			k := keyOf(c)
			if seen[k] {
				continue
			}
			seen[k] = true
			count.Unique++
			n.one(res, c, level)
		}
	}
}

// one judges a nested case and goes deeper.
func (n *nest) one(res *caseResult, c *caseOf, level int) {
	res.root.beat.Add(1)
	c.cut.Choice = c.state.Choice()
	r := n.judge.run(c)
	if len(r.verdict.Violations) > 0 {
		res.nested[level].Bad++
	}
	for _, v := range r.verdict.Violations {
		res.found = append(res.found, found{violation: violation{v, c.cut.Model}, c: c})
	}
	if len(r.verdict.Violations) == 0 {
		n.descend(res, r.second, level+1, c)
	}
}

// modelsAfter are the models that crash a life, by how it began. A kill keeps what was not
// synced, so a power cut behind it shows what the reopening should have synced; it does no more
// than the models of the run let it do.
func (n *nest) modelsAfter(l *life) []crash.Model {
	if !l.kill {
		m, err := crash.ParseModel(l.model)
		if err != nil {
			panic(err) // the model's own name
		}
		if m == crash.LyingFlush {
			return nil // it broke the promise already
		}
		return []crash.Model{m, crash.Kill}
	}
	if n.wildest == crash.Synced {
		return []crash.Model{crash.Synced}
	}
	return []crash.Model{crash.Synced, n.wildest}
}

// wildest is the model of a run that lets a power cut do the most; synced is the least.
func wildest(models []crash.Model) crash.Model {
	for _, m := range []crash.Model{crash.PosixWorst, crash.Writeback, crash.Ext4OOO, crash.OwnPage, crash.Ext4Ordered, crash.Contiguous, crash.Prefix} {
		if slices.Contains(models, m) {
			return m
		}
	}
	return crash.Synced
}

// chosen draws whether the recovery of a case is cut: the same for the same seed and case.
func (n *nest) chosen(c *caseOf, level int, rate float64) bool {
	if rate >= 1 {
		return true
	}
	h := fnv.New64a()
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n.seed+uint64(level))
	_, _ = h.Write(b[:])
	_, _ = h.Write([]byte(c.cut.Model))
	binary.LittleEndian.PutUint64(b[:], uint64(c.cut.At))
	_, _ = h.Write(b[:])
	_, _ = h.Write([]byte(c.state.Choice()))
	for _, before := range c.life.chain {
		_, _ = h.Write([]byte(before.Choice))
	}
	return float64(mix(h.Sum64())>>11)/(1<<53) < rate
}

// mix spreads the bits of a hash whose high bits are weak.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return x
}

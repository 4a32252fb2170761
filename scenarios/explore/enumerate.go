package explore

import (
	"context"
	"iter"
	"math"
	"math/big"
	"math/rand/v2"
	"sort"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
)

// key tells cases apart: the bytes and names of the state, and what was promised there.
type key struct {
	image    image.Hash
	standing uint64
	kill     bool
	exact    bool
}

// spaceOf is the set of states at one cut of a life.
type spaceOf struct {
	cut   crash.Cut
	space *crash.Space
	count int // states, or math.MaxInt if more
}

// walk is the enumeration of one life under one model.
type walk struct {
	life     *life
	model    crash.Model
	options  crash.Options
	file     string
	spaces   []spaceOf
	limit    int // per space: above it, sampled
	total    *big.Int
	states   int    // that will be enumerated
	narrowed string // what a space left out, if any did
}

// newWalk sizes up a life under a model. budget bounds the states over all cuts; each cut
// gets the same bound, as high as the budget allows.
func newWalk(l *life, m crash.Model, opt crash.Options, file string, cuts []crash.Cut, budget int) (*walk, error) {
	w := &walk{life: l, model: m, options: opt, file: file, total: new(big.Int)}
	counts := make([]int, 0, len(cuts))
	planner, err := crash.NewPlanner(m, l.hist, opt)
	if err != nil {
		return nil, err
	}
	for _, c := range cuts {
		space, err := planner.Space(c)
		if err != nil {
			return nil, err
		}
		if why := space.Narrowed(); why != "" {
			w.narrowed = why
		}
		n := space.Count()
		w.total.Add(w.total, n)
		count := math.MaxInt
		if n.IsInt64() && n.Int64() < math.MaxInt {
			count = int(n.Int64())
		}
		w.spaces = append(w.spaces, spaceOf{c, space, count})
		counts = append(counts, count)
	}
	w.limit = waterline(counts, budget)
	for _, n := range counts {
		w.states += min(n, w.limit)
	}
	return w, nil
}

// waterline is the highest bound per cut for which the sum stays within budget; at least 1.
func waterline(counts []int, budget int) int {
	sorted := append([]int(nil), counts...)
	sort.Ints(sorted)
	left := budget
	for i, n := range sorted {
		share := left / (len(sorted) - i)
		if n > share {
			return max(share, 1)
		}
		left -= n
	}
	return math.MaxInt
}

// cases walks the states, all of them, equal ones too.
func (w *walk) cases(ctx context.Context, seed uint64) iter.Seq2[*caseOf, error] {
	return func(yield func(*caseOf, error) bool) {
		live := newLive(w.life.hist)
		for i, s := range w.spaces {
			now, err := live.upTo(s.cut)
			if err != nil {
				yield(nil, err)
				return
			}
			end := min(s.cut.At+1, len(w.life.hist.Ops))
			witness := newWitness(w.life, w.file, now, w.life.hist.Ops[:end])
			domain := oracle.Power
			if w.model == crash.Kill {
				domain = oracle.Kill
			}
			promise := w.life.promise(s.cut, domain, w.model == crash.Synced)
			for st := range s.states(w.limit, rand.New(rand.NewPCG(seed, uint64(i)))) {
				cut := report.Cut{Model: string(w.model), Tear: w.options.Tear, At: s.cut.At, Inside: s.cut.Inside}
				if !yield(&caseOf{life: w.life, state: st, cut: cut, promise: promise, witness: witness}, nil) {
					return
				}
			}
			if ctx.Err() != nil {
				return
			}
		}
	}
}

func (s spaceOf) states(limit int, rng *rand.Rand) iter.Seq[crash.State] {
	if s.count <= limit {
		return s.space.All()
	}
	return s.space.Sample(rng, limit)
}

// keyOf identifies a case within its life.
func keyOf(c *caseOf) key {
	return key{
		image:    c.state.Image.Hash(),
		standing: c.life.standing(crash.Cut{At: c.cut.At, Inside: c.cut.Inside}),
		kill:     c.promise.Domain == oracle.Kill,
		exact:    c.promise.Exact,
	}
}

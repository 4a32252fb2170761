package crash

import (
	"fmt"
	"iter"
	"math/big"
	"math/rand/v2"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// Space is every state that one model allows at one cut. It does not change, and several
// goroutines may use it at once.
type Space struct {
	cut    Cut
	hist   *History
	kill   bool
	synced bool // the model is synced: one state
	body   body
}

// body is one way to hold a set of states: a line of them (kill, prefix, synced) or a
// product of independent choices (the rest).
type body interface {
	set
	naming
	narrowed() string // what was left out, if anything
}

// set is the body as a set of images.
type set interface {
	count() *big.Int
	walk(yield func(*image.Image, place) bool)
	sample(rng *rand.Rand, n int, yield func(*image.Image, place) bool)
	contains(img *image.Image) error
}

// naming makes states from names and says what they are.
type naming interface {
	parse(choice string) (place, error)
	make(p place) *image.Image
	text(p place) string
	why(p place) string
}

// place names one state within a body: its number in walking order, or its choices
// spelt out where numbers would not fit.
type place struct {
	rank uint64
	at   *position
}

// State is one image that a model allows. Its image is its own: changing it changes no
// other state.
type State struct {
	Image *image.Image
	Cut   Cut

	space *Space
	place place
}

// NewSpace is the space of one cut. For many cuts of one history, [NewPlanner] does not
// begin at the start each time. The error names the setting that is wrong.
func NewSpace(m Model, h *History, cut Cut, opt Options) (*Space, error) {
	p, err := NewPlanner(m, h, opt)
	if err != nil {
		return nil, err
	}
	return p.Space(cut)
}

// Count is the exact number of states, computed without walking them.
func (s *Space) Count() *big.Int { return s.body.count() }

// Narrowed is empty if the space is every state that the model allows, as it nearly always
// is. Otherwise it says what was left out because it would not fit any memory: it happens
// under posix-worst when a dozen unsynced changes of names hang together, or a dozen
// unsynced writes overlap in one unit. Count, Contains and the rest then speak of what is left.
func (s *Space) Narrowed() string { return s.body.narrowed() }

// All are the states, oldest choices first, one unit changed from each to the next. The
// order is the same in every run. It is for spaces whose Count is small.
func (s *Space) All() iter.Seq[State] {
	return func(yield func(State) bool) {
		s.body.walk(func(img *image.Image, p place) bool {
			return yield(State{img, s.cut, s, p})
		})
	}
}

// Sample are at most n different states: all of them if there are no more, else first the
// telling ones (all old, all new, every prefix and suffix, each unit alone old and alone
// new, pairs within the page of the last synced byte), then draws from rng.
func (s *Space) Sample(rng *rand.Rand, n int) iter.Seq[State] {
	if s.Count().Cmp(big.NewInt(int64(n))) <= 0 {
		return s.All()
	}
	return func(yield func(State) bool) {
		s.body.sample(rng, n, func(img *image.Image, p place) bool {
			return yield(State{img, s.cut, s, p})
		})
	}
}

// Contains is nil if the model allows img at this cut. Otherwise the error says which
// name, size or byte it does not allow; where several cuts come near, of the nearest.
// Inode numbers and times are not compared.
func (s *Space) Contains(img *image.Image) error { return s.body.contains(img) }

// At is the state that [State.Choice] named.
func (s *Space) At(choice string) (State, error) {
	p, err := s.body.parse(choice)
	if err != nil {
		return State{}, fmt.Errorf("choice %q: %w", choice, err)
	}
	return State{s.body.make(p), s.cut, s, p}, nil
}

// Choice names the state within its space, in a form that does not depend on how it was
// found. [Space.At] makes the state again.
func (st State) Choice() string { return st.space.body.text(st.place) }

// Why says what became of the pending changes in this state.
func (st State) Why() string {
	if st.space.synced {
		return whySynced(st)
	}
	return st.space.body.why(st.place)
}

// Pending is the history that the next life starts from. After a kill the page cache is
// still there: the ops up to the cut, the torn one included, may yet be lost to a power
// cut. After a power cut nothing is pending.
func (st State) Pending() *History {
	if !st.space.kill {
		return &History{Base: st.Image}
	}
	c, _ := st.space.body.(*chain)
	h := st.space.hist
	ops := h.Ops[:min(st.Cut.At, len(h.Ops)):min(st.Cut.At, len(h.Ops))]
	if torn, ok := c.torn(st.place.rank); ok {
		ops = append(ops, torn)
	}
	return &History{Base: h.Base, Ops: ops}
}

// Planner makes the spaces of one history at rising cuts; each costs what has changed
// since the one before and what is pending, not what the history weighs.
type Planner struct {
	set  settings
	hist *History
	line *line
	plan *plan
	next int
	held []int // completed syncs that count as lies, oldest first
}

// NewPlanner is a planner at the start of h. The error names the setting that is wrong.
func NewPlanner(m Model, h *History, opt Options) (*Planner, error) {
	set, err := resolve(m, opt)
	if err != nil {
		return nil, err
	}
	p := &Planner{set: set, hist: h}
	if set.linear {
		p.line = newLine(h, set)
	} else {
		p.plan = newPlan(h, set)
	}
	return p, nil
}

// Space is the space at cut. Cuts must not go back: an earlier one than the last is an
// error, as is one outside the history.
func (p *Planner) Space(cut Cut) (*Space, error) {
	if cut.At < 0 || cut.At > len(p.hist.Ops) || cut.Inside && cut.At == len(p.hist.Ops) {
		return nil, fmt.Errorf("cut %d of %d ops: it lies outside the history", cut.At, len(p.hist.Ops))
	}
	s := &Space{cut: cut, hist: p.hist, kill: p.set.model == Kill, synced: p.set.single}
	end := cut.end(p.hist.Ops)
	if s.kill {
		end = cut.At
	}
	if end < p.next {
		return nil, fmt.Errorf("cut %d: the planner is at %d already; use a new one to go back", cut.At, p.next)
	}
	for ; p.next < end; p.next++ {
		p.take(p.next)
	}
	if p.plan == nil {
		s.body = p.line.space(cut)
		return s, nil
	}
	s.body = p.plan.space()
	return s, nil
}

// take lets op number i happen; a completed sync that still counts as a lie waits.
func (p *Planner) take(i int) {
	op := &p.hist.Ops[i]
	sink := p.sink()
	if !op.IsSync() {
		sink.change(i, op)
		return
	}
	switch effectOf(op) {
	case effectDurable:
		if p.held = append(p.held, i); len(p.held) > p.set.lies {
			i, p.held = p.held[0], p.held[1:]
			sink.durable(i, &p.hist.Ops[i])
		}
	case effectDrop:
		sink.drop(i, op.Ino)
	case effectFreeze:
		sink.freeze(i, false)
	case effectStop:
		sink.freeze(i, true)
	case effectNone:
	}
}

// sink is what a planner feeds. Positions are op numbers.
type sink interface {
	change(at int, op *trace.Op)  // an op that is no sync was done
	durable(at int, op *trace.Op) // the sync op, done at that position, counts
	drop(at int, ino trace.Ino)   // the dirty bytes of ino will never be written
	freeze(at int, pending bool)  // nothing later persists; with pending false, nothing pending either
}

func (p *Planner) sink() sink {
	if p.line != nil {
		return p.line
	}
	return p.plan
}

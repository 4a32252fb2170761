package crash

import (
	"math/big"
	"sync"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// product is a space of independent parts. Each part is a choice of names (a family), each
// family shows files, each file has a size (a box), each box has cells with contents. The
// number of states is, at every level, a sum of products.
type product struct {
	dur   *image.Image
	live  *image.Image // names as the running system saw them, for Why
	sizes map[trace.Ino]int64
	parts []part
	page  int64
	left  string          // what was left out of the space, if anything
	total func() *big.Int // computed when first asked for
}

// part is one independent part of a space.
type part struct {
	fams []*family
}

// position spells a state out: the family of each part, then the box of each slot of those
// families, then the content of each cell of those boxes that has a choice.
type position struct {
	fams, boxes, opts []int
}

func newProduct(p *plan) *product {
	m := newMaker(p)
	s := &product{page: p.set.page, dur: p.dur.Clone(), live: p.dur.Clone(), sizes: map[trace.Ino]int64{}}
	s.total = sync.OnceValue(func() *big.Int {
		n := big.NewInt(1)
		for i := range s.parts {
			n.Mul(n, s.parts[i].count())
		}
		return n
	})
	for i := range p.names {
		p.names[i].apply(s.live)
	}
	for ino, f := range p.files {
		s.sizes[ino] = f.size
	}
	if !p.set.free {
		s.parts = []part{{fams: m.fifo()}}
		return s
	}
	s.parts = m.free()
	s.left = m.narrowed
	return s
}

func (s *product) narrowed() string { return s.left }

func (b *box) count() *big.Int {
	n := big.NewInt(1)
	small := uint64(1)
	for _, c := range b.cells {
		if small *= uint64(len(c.opts)); small > 1<<31 {
			n.Mul(n, new(big.Int).SetUint64(small))
			small = 1
		}
	}
	return n.Mul(n, new(big.Int).SetUint64(small))
}

func (s *slot) count() *big.Int {
	n := new(big.Int)
	for i := range s.boxes {
		n.Add(n, s.boxes[i].count())
	}
	return n
}

func (f *family) count() *big.Int {
	n := big.NewInt(1)
	for _, s := range f.slots {
		n.Mul(n, s.count())
	}
	return n
}

func (p *part) count() *big.Int {
	n := new(big.Int)
	for _, f := range p.fams {
		n.Add(n, f.count())
	}
	return n
}

func (s *product) count() *big.Int {
	return new(big.Int).Set(s.total())
}

// slots are the files of the families at fams.
func (s *product) slots(fams []int) []*slot {
	var all []*slot
	for i, f := range fams {
		all = append(all, s.parts[i].fams[f].slots...)
	}
	return all
}

// choices are the cells with a choice in the boxes of slots.
func choices(slots []*slot, boxes []int) []cellOf {
	var all []cellOf
	for i, b := range boxes {
		for _, c := range slots[i].boxes[b].cells {
			if len(c.opts) > 1 {
				all = append(all, cellOf{c, slots[i].ino})
			}
		}
	}
	return all
}

// cellOf is a cell and the inode it belongs to.
type cellOf struct {
	*cell
	ino trace.Ino
}

// first is the oldest choice of n dimensions.
func first(n int) []int { return make([]int, n) }

// spell is the position of a rank. The count must fit 64 bits, as it does for any space
// that a walk can get through.
func (s *product) spell(rank uint64) *position {
	at := &position{fams: first(len(s.parts))}
	share(at.fams, &rank, func(i int) []*big.Int {
		w := make([]*big.Int, len(s.parts[i].fams))
		for j, f := range s.parts[i].fams {
			w[j] = f.count()
		}
		return w
	})
	slots := s.slots(at.fams)
	at.boxes = first(len(slots))
	share(at.boxes, &rank, func(i int) []*big.Int {
		w := make([]*big.Int, len(slots[i].boxes))
		for j := range slots[i].boxes {
			w[j] = slots[i].boxes[j].count()
		}
		return w
	})
	cells := choices(slots, at.boxes)
	at.opts = first(len(cells))
	for i := len(cells) - 1; i >= 0; i-- {
		n := uint64(len(cells[i].opts))
		at.opts[i] = int(rank % n)
		rank /= n
	}
	return at
}

// share picks, for one dimension after the other, the value in whose share of the states
// rank lies, and leaves in rank the number within the states that share those values.
// Weights of dimension i are how many states each of its values stands for.
func share(digits []int, rank *uint64, weights func(i int) []*big.Int) {
	all := make([][]uint64, len(digits))
	rest := make([]uint64, len(digits)+1) // rest[i]: states of dimensions i and up
	rest[len(digits)] = 1
	for i := len(digits) - 1; i >= 0; i-- {
		sum := uint64(0)
		for _, w := range weights(i) {
			all[i] = append(all[i], w.Uint64())
			sum += w.Uint64()
		}
		rest[i] = rest[i+1] * sum
	}
	fixed := uint64(1) // states of the values chosen so far
	for i := range digits {
		for j, w := range all[i] {
			part := fixed * w * rest[i+1]
			if *rank < part {
				digits[i] = j
				fixed *= w
				break
			}
			*rank -= part
		}
	}
}

// position is where p is, spelt out.
func (s *product) position(p place) *position {
	if p.at != nil {
		return p.at
	}
	return s.spell(p.rank)
}

func (s *product) make(p place) *image.Image {
	w := newWalker(s)
	w.set(s.position(p))
	return w.img
}

func (s *product) walk(yield func(*image.Image, place) bool) {
	w := newWalker(s)
	rank := uint64(0)
	fams := first(len(s.parts))
	for more := true; more; more = next(fams, func(i int) int { return len(s.parts[i].fams) }) {
		w.setNames(fams)
		slots := w.slots
		boxes := first(len(slots))
		for more := true; more; more = next(boxes, func(i int) int { return len(slots[i].boxes) }) {
			w.setBoxes(boxes)
			for more := true; more; more = w.nextOpt() {
				if !yield(w.img.Clone(), place{rank: rank}) {
					return
				}
				rank++
			}
		}
	}
}

// next counts digits up by one, the last fastest; false is the end.
func next(digits []int, base func(i int) int) bool {
	for i := len(digits) - 1; i >= 0; i-- {
		if digits[i]++; digits[i] < base(i) {
			return true
		}
		digits[i] = 0
	}
	return false
}

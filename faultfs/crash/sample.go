package crash

import (
	"iter"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/unplug-go/unplug/faultfs/image"
)

// sampler shows different positions, at most n.
type sampler struct {
	s     *product
	w     *walker
	seen  map[string]struct{}
	left  int
	spare int  // how many of left the telling states leave over
	done  bool // the caller has seen enough
	yield func(*image.Image, place) bool
}

// maxFrames bounds the metadata cuts for which the telling states are tried.
const maxFrames = 1 << 12

// sample shows the telling states of each metadata cut (a choice of names and sizes): all
// units old and all new of every cut, then the prefixes of every cut, and so on, as far as
// three quarters of n go; the rest are draws. The newest cut comes first, the others so that
// the first few are spread over all.
func (s *product) sample(rng *rand.Rand, n int, yield func(*image.Image, place) bool) {
	d := &sampler{s: s, w: newWalker(s), seen: make(map[string]struct{}, n), left: n, yield: yield}
	if !d.telling(s.frames(), n/4) {
		return
	}
	for range 20 * n {
		if !d.draw(rng) {
			return
		}
	}
}

// telling shows the telling states until only spare ones are left to show; false is the end.
func (d *sampler) telling(frames []frame, spare int) bool {
	for _, pattern := range []func(*sampler, *frame) bool{
		(*sampler).extremes, (*sampler).prefixes, (*sampler).suffixes,
		(*sampler).aloneOld, (*sampler).aloneNew, (*sampler).pairs,
	} {
		for i := range spread(len(frames)) {
			if d.left <= spare {
				return true
			}
			f := &frames[i]
			if f.cells == nil {
				f.cells = choices(d.s.slots(f.fams), f.boxes)
			}
			d.spare = spare
			if !pattern(d, f) {
				return d.left > 0 && !d.done
			}
		}
	}
	return true
}

// frame is a metadata cut and the cells that have a choice in it.
type frame struct {
	fams, boxes []int
	cells       []cellOf // nil until asked for
}

func (s *product) frame(fams, boxes []int) frame {
	return frame{fams: slices.Clone(fams), boxes: slices.Clone(boxes)}
}

// spread are the numbers below n, 0 first, then so that each next few lie between those
// before.
func spread(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		width := bits.Len(uint(max(n-1, 0)))
		for i := range 1 << width {
			if j := int(bits.Reverse64(uint64(i)) >> (64 - width)); j < n && !yield(j) {
				return
			}
		}
	}
}

// frames are the metadata cuts, newest first. Where their product is too large, each
// dimension is varied alone, with all others newest.
func (s *product) frames() []frame {
	var out []frame
	fams := make([]int, len(s.parts))
	base := func(i int) int { return len(s.parts[i].fams) }
	for ok := top(fams, base); ok && len(out) < maxFrames; ok = down(fams, base) {
		slots := s.slots(fams)
		boxes := make([]int, len(slots))
		sizes := func(i int) int { return len(slots[i].boxes) }
		for ok := top(boxes, sizes); ok && len(out) < maxFrames; ok = down(boxes, sizes) {
			out = append(out, s.frame(fams, boxes))
		}
	}
	if len(out) == maxFrames {
		out = s.alone()
	}
	return out
}

// alone are the frames in which one part or one file is not the newest.
func (s *product) alone() []frame {
	var out []frame
	fams := make([]int, len(s.parts))
	base := func(i int) int { return len(s.parts[i].fams) }
	for i := range fams {
		top(fams, base)
		for fams[i] = base(i) - 1; fams[i] >= 0; fams[i]-- {
			slots := s.slots(fams)
			boxes := make([]int, len(slots))
			sizes := func(i int) int { return len(slots[i].boxes) }
			for j := range boxes {
				top(boxes, sizes)
				for boxes[j] = sizes(j) - 1; boxes[j] >= 0; boxes[j]-- {
					out = append(out, s.frame(fams, boxes))
				}
			}
			if len(boxes) == 0 {
				out = append(out, s.frame(fams, nil))
			}
		}
	}
	return out
}

// top sets every digit to its greatest value; false if one has none.
func top(digits []int, base func(i int) int) bool {
	for i := range digits {
		if digits[i] = base(i) - 1; digits[i] < 0 {
			return false
		}
	}
	return true
}

// down counts digits down by one, the last fastest; false is the end.
func down(digits []int, base func(i int) int) bool {
	for i := len(digits) - 1; i >= 0; i-- {
		if digits[i]--; digits[i] >= 0 {
			return true
		}
		digits[i] = base(i) - 1
	}
	return false
}

// show yields a position unless it was shown before; false is the end.
func (d *sampler) show(f *frame, opt func(i int) int) bool {
	at := &position{f.fams, f.boxes, make([]int, len(f.cells))}
	for i := range at.opts {
		at.opts[i] = opt(i)
	}
	p := place{at: at}
	key := d.s.text(p)
	if _, ok := d.seen[key]; ok {
		return true
	}
	d.seen[key] = struct{}{}
	d.left--
	d.w.set(at)
	d.done = !d.yield(d.w.img.Clone(), p)
	return !d.done && d.left > d.spare
}

// extremes are all old and all new.
func (d *sampler) extremes(f *frame) bool {
	return d.show(f, func(int) int { return 0 }) && d.show(f, func(i int) int { return f.cells[i].newest })
}

// old is some content of the cell that is not the newest: the oldest that there is.
func (f *frame) old(i int) int {
	if f.cells[i].newest == 0 {
		return len(f.cells[i].opts) - 1
	}
	return 0
}

// mixed shows the state in which exactly the cells that new accepts are new.
func (d *sampler) mixed(f *frame, isNew func(i int) bool) bool {
	return d.show(f, func(i int) int {
		if isNew(i) {
			return f.cells[i].newest
		}
		return f.old(i)
	})
}

func (d *sampler) prefixes(f *frame) bool {
	for k := 1; k < len(f.cells); k++ {
		if !d.mixed(f, func(i int) bool { return i < k }) {
			return false
		}
	}
	return true
}

func (d *sampler) suffixes(f *frame) bool {
	for k := 1; k < len(f.cells); k++ {
		if !d.mixed(f, func(i int) bool { return i >= k }) {
			return false
		}
	}
	return true
}

func (d *sampler) aloneOld(f *frame) bool {
	for k := range f.cells {
		if !d.mixed(f, func(i int) bool { return i != k }) {
			return false
		}
	}
	return true
}

func (d *sampler) aloneNew(f *frame) bool {
	for k := range f.cells {
		if !d.mixed(f, func(i int) bool { return i == k }) {
			return false
		}
	}
	return true
}

// pairs shows each two units old together, of those in the page that holds the last byte
// known durable: there an acknowledged record shares its page with bytes that are not.
func (d *sampler) pairs(f *frame) bool {
	var near []int
	for i, c := range f.cells {
		info, _ := d.s.dur.Stat(c.ino)
		if last := max(info.Size-1, 0); c.off/d.s.page == last/d.s.page {
			near = append(near, i)
		}
	}
	for a := range near {
		for b := range a {
			if !d.mixed(f, func(i int) bool { return i != near[a] && i != near[b] }) {
				return false
			}
		}
	}
	return true
}

// draw shows a state with names, sizes and contents drawn one after the other.
func (d *sampler) draw(rng *rand.Rand) bool {
	fams := make([]int, len(d.s.parts))
	for i := range fams {
		fams[i] = rng.IntN(len(d.s.parts[i].fams))
	}
	slots := d.s.slots(fams)
	boxes := make([]int, len(slots))
	for i := range boxes {
		boxes[i] = rng.IntN(len(slots[i].boxes))
	}
	f := d.s.frame(fams, boxes)
	f.cells, d.spare = choices(slots, boxes), 0
	return d.show(&f, func(i int) int { return rng.IntN(len(f.cells[i].opts)) })
}

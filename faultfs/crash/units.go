package crash

import (
	"slices"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// content is what is pending of one inode, taken apart: the steps of its size, the versions
// of its units, the truncates that freed pages.
type content struct {
	set   settings
	dur   *image.Image
	ino   trace.Ino
	size  int64 // durable
	steps []step
	cuts  []shrink
	units []*unit          // by offset
	alloc map[pageGen]int  // the op that gave a page its block, where that is pending
	byIdx map[int64]*unit  // the same units
	spans map[int64]*spans // posix-worst: overlapping writes of a unit, by unit number
	high  int64            // the greatest size so far: past it there is nothing to zero
	rise  []int64          // rise[i]: the greatest size at or after pending change i
}

// step is one value that the size of an inode passes through. The first is the durable one.
type step struct {
	size int64
	at   int // op number, -1 for the durable one
}

// shrink is a truncate to less: pages from free on lose their blocks when it takes effect.
type shrink struct {
	at   int
	step int // index of its step
	free int64
	size int64
}

// pageGen is a page between two truncates that freed it.
type pageGen struct {
	page int64
	gen  int
}

// unit is the chain of versions of one tear unit, oldest first.
type unit struct {
	idx  int64
	vers []version
	memo map[[3]int]*cell // by first and last version and visible bytes: boxes share cells
}

// version is a unit as the page cache held it after an op; bytes past data are zero.
type version struct {
	at   int // -1: durable
	gen  int // how many truncates had freed its page
	data []byte
}

// newContent takes f apart.
func newContent(set settings, dur *image.Image, f *file) *content {
	info, _ := dur.Stat(f.ino)
	c := &content{
		set: set, dur: dur, ino: f.ino, size: info.Size,
		steps: []step{{info.Size, -1}}, high: info.Size,
		alloc: map[pageGen]int{},
		byIdx: map[int64]*unit{},
	}
	c.measure(f.pend)
	size := info.Size
	for i := range f.pend {
		p := &f.pend[i]
		switch {
		case !p.cut:
			c.grow(p.at, size, p.size, true)
			c.write(p)
		case p.size < size:
			c.shrink(i, p, size)
		default:
			c.grow(p.at, size, p.size, false)
		}
		size = p.size
		c.high = max(c.high, size)
	}
	slices.SortFunc(c.units, func(a, b *unit) int { return int(a.idx - b.idx) })
	return c
}

// measure notes how far the file still grows, so that a truncate touches only units that
// can be seen again.
func (c *content) measure(pend []pend) {
	c.rise = make([]int64, len(pend)+1)
	for i := len(pend) - 1; i >= 0; i-- {
		c.rise[i] = max(pend[i].size, c.rise[i+1])
	}
}

// grow makes the steps of the size from a to e: with pages, one at each boundary that is
// crossed, and one to e.
func (c *content) grow(at int, a, e int64, pages bool) {
	if e <= a {
		return
	}
	if pages {
		for b := (a/c.set.page + 1) * c.set.page; b < e; b += c.set.page {
			c.steps = append(c.steps, step{b, at})
		}
	}
	c.steps = append(c.steps, step{e, at})
}

// gen is how often the page of unit idx has been freed so far.
func (c *content) gen(idx int64) int { return c.genAt(idx*c.set.tear/c.set.page, len(c.steps)) }

// genAt is how often page has been freed by the steps up to number m.
func (c *content) genAt(page int64, m int) int {
	n := 0
	for i := range c.cuts {
		if c.cuts[i].step <= m && c.cuts[i].free <= page {
			n++
		}
	}
	return n
}

// touch is the unit with at least one version of its present generation: the durable bytes,
// or the hole that a truncate left.
func (c *content) touch(idx int64) *unit {
	u := c.byIdx[idx]
	if u == nil {
		u = &unit{idx: idx}
		off := idx * c.set.tear
		if n := min(c.set.tear, c.size-off); n > 0 {
			buf := make([]byte, n)
			c.dur.ReadAt(c.ino, buf, off)
			u.vers = append(u.vers, version{at: -1, data: buf})
		} else {
			u.vers = append(u.vers, version{at: -1})
		}
		c.byIdx[idx] = u
		c.units = append(c.units, u)
	}
	if g := c.gen(idx); u.vers[len(u.vers)-1].gen != g {
		u.vers = append(u.vers, version{at: c.freed(idx), gen: g})
	}
	return u
}

// freed is the op that freed the page of unit idx last.
func (c *content) freed(idx int64) int {
	at := -1
	for i := range c.cuts {
		if c.cuts[i].free <= idx*c.set.tear/c.set.page {
			at = c.cuts[i].at
		}
	}
	return at
}

// write adds a version to each unit that p covers.
func (c *content) write(p *pend) {
	end := p.off + int64(len(p.data))
	for b := (p.off / c.set.page) * c.set.page; b < end; b += c.set.page {
		page := b / c.set.page
		key := pageGen{page, c.genAt(page, len(c.steps))}
		if _, ok := c.alloc[key]; !ok && (key.gen > 0 || b >= c.size) {
			c.alloc[key] = p.at
		}
	}
	for idx := p.off / c.set.tear; idx*c.set.tear < end; idx++ {
		u := c.touch(idx)
		last := &u.vers[len(u.vers)-1]
		base := idx * c.set.tear
		lo, hi := max(p.off-base, 0), min(end-base, c.set.tear)
		part := p.data[base+lo-p.off : base+hi-p.off]
		u.vers = append(u.vers, version{at: p.at, gen: last.gen, data: overlay(last.data, part, lo)})
		c.span(idx, p.at, last.gen, lo, part)
	}
}

// overlay is old with part at off over it, as new bytes (or part itself if that is all).
func overlay(old, part []byte, off int64) []byte {
	if off == 0 && len(part) >= len(old) {
		return part
	}
	out := make([]byte, max(len(old), int(off)+len(part)))
	copy(out, old)
	copy(out[off:], part)
	return out
}

// shrink frees the pages beyond the new size and zeroes the rest of the one that survives.
func (c *content) shrink(i int, p *pend, old int64) {
	free := (p.size + c.set.page - 1) / c.set.page
	for idx := p.size / c.set.tear; idx*c.set.tear < min(c.high, free*c.set.page); idx++ {
		u := c.touch(idx)
		last := &u.vers[len(u.vers)-1]
		keep := min(max(p.size-idx*c.set.tear, 0), int64(len(last.data)))
		u.vers = append(u.vers, version{at: p.at, gen: last.gen, data: last.data[:keep:keep]})
		lo := max(p.size-idx*c.set.tear, 0)
		c.span(idx, p.at, last.gen, lo, make([]byte, max(min(c.set.tear, c.high-idx*c.set.tear)-lo, 0)))
	}
	c.steps = append(c.steps, step{p.size, p.at})
	c.cuts = append(c.cuts, shrink{at: p.at, step: len(c.steps) - 1, free: free, size: p.size})
	for idx := free * c.set.page / c.set.tear; idx*c.set.tear < min(old, c.rise[i+1]); idx++ {
		c.touch(idx) // a hole, where it is seen again
	}
}

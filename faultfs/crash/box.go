package crash

import (
	"bytes"

	"github.com/unplug-go/unplug/faultfs/trace"
)

// cell is a range of bytes of one file and the different contents that it may have.
type cell struct {
	off    int64
	opts   [][]byte // oldest first, all of one length; never changed
	at     []int    // the op that left each, -1 for what is durable
	newest int      // the one that the page cache held last
}

// box is one size of a file and the contents that its cells may have, each independently
// of the others. Cells lie in order and do not overlap; what no cell covers is as in the
// durable image, or zero past its end.
type box struct {
	size  int64
	at    int // the op whose size step is the last, -1 for the durable size
	cells []*cell
}

// slot is every content that one inode may have: boxes without a common member.
type slot struct {
	ino   trace.Ino
	boxes []box
}

// box is what the file may hold when the size steps up to number m have taken effect.
// Changes up to op number flushed were on the disk before.
func (c *content) box(m, flushed int) box {
	s := c.steps[m]
	b := box{size: s.size, at: s.at}
	for _, u := range c.units {
		off := u.idx * c.set.tear
		if off >= s.size {
			break
		}
		n := min(c.set.tear, s.size-off)
		page := off / c.set.page
		gen := c.genAt(page, m)
		if c.set.free {
			b.cells = c.spans[u.idx].cells(c, u, gen, n, b.cells)
			continue
		}
		lo, hi := u.allowed(gen, max(c.need(m, u.idx, page, gen), flushed))
		if c.set.stale {
			lo = 0
		}
		b.cells = append(b.cells, u.cell(off, n, lo, hi))
	}
	return b
}

// need is the op whose version unit idx of page must have at least, when size step m has taken
// effect; -1 is none. This is the data/size edge of each model.
func (c *content) need(m int, idx, page int64, gen int) int {
	s, need := c.steps[m], -1
	last := (s.size - 1) / c.set.page
	switch c.set.edge {
	case edgeNone:
		return -1
	case edgeContiguous:
		need = s.at
	case edgeOwnPage:
		if page == last {
			need = s.at
		}
	case edgeOrdered, edgeOOO:
		if first, ok := c.alloc[pageGen{page, gen}]; ok && first <= s.at && (c.set.edge == edgeOrdered || page == last) {
			need = first
		}
	}
	for i := range c.cuts {
		if t := &c.cuts[i]; t.step <= m && t.size/c.set.page == page && t.size%c.set.page != 0 && idx >= t.size/c.set.tear {
			need = max(need, t.at) // the zeroing goes before its truncate
		}
	}
	return need
}

// cell is the cell of versions lo to hi, n bytes of them, made once.
func (u *unit) cell(off, n int64, lo, hi int) *cell {
	key := [3]int{lo, hi, int(n)}
	c := u.memo[key]
	if c == nil {
		c = newCell(off, n, u.vers[lo:hi])
		if u.memo == nil {
			u.memo = map[[3]int]*cell{}
		}
		u.memo[key] = c
	}
	return c
}

// allowed are the versions of a generation from the one as of op number need on.
func (u *unit) allowed(gen, need int) (lo, hi int) {
	for lo < len(u.vers) && u.vers[lo].gen < gen {
		lo++
	}
	for hi = lo; hi < len(u.vers) && u.vers[hi].gen == gen; hi++ {
		if u.vers[hi].at <= need {
			lo = hi
		}
	}
	return lo, hi
}

// newCell is the cell of n bytes at off with the different contents of vers, of which none
// at all means zeros.
func newCell(off, n int64, vers []version) *cell {
	c := &cell{off: off}
	if len(vers) == 0 {
		c.add(fit(nil, n), -1)
	}
	for i := range vers {
		c.add(fit(vers[i].data, n), vers[i].at)
	}
	return c
}

// add takes in one more content, newer than those before.
func (c *cell) add(b []byte, at int) {
	for i := range c.opts {
		if bytes.Equal(c.opts[i], b) {
			c.newest = i
			return
		}
	}
	c.newest = len(c.opts)
	c.opts, c.at = append(c.opts, b), append(c.at, at)
}

// fit is data cut or filled with zeros to n bytes.
func fit(data []byte, n int64) []byte {
	if int64(len(data)) >= n {
		return data[:n:n]
	}
	out := make([]byte, n)
	copy(out, data)
	return out
}

// slot is every content of the inode, given that changes up to op number flushed are on
// the disk: one box for each size step from there on, made disjoint.
func (c *content) slot(flushed int) *slot {
	s := &slot{ino: c.ino}
	from := 0
	for i := range c.steps {
		if c.steps[i].at <= flushed {
			from = i
		}
	}
	for m := from; m < len(c.steps); m++ {
		s.add(c.box(m, flushed), len(c.cuts) > 0)
	}
	return s
}

// add takes in b, or those of its members that are not there yet. Without repeat the sizes
// are known to differ.
func (s *slot) add(b box, repeat bool) {
	fresh := []box{b}
	for i := 0; repeat && i < len(s.boxes); i++ {
		var rest []box
		for _, f := range fresh {
			rest = append(rest, subtract(f, &s.boxes[i])...)
		}
		fresh = rest
	}
	s.boxes = append(s.boxes, fresh...)
}

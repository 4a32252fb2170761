package crash

import (
	"bytes"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// Two metadata cuts may leave the same sizes and names, and sets of contents that overlap.
// The functions here take from the later set what the earlier one has, so that each state
// is one image and counts are exact. A set is a union of boxes; a box minus a box is boxes
// again.

// subtract is the members of b that a has not. Both must have the same cells (see align).
func subtract(b box, a *box) []box {
	both, rest, ok := compare(&b, a)
	if !ok {
		return []box{b}
	}
	var out []box
	for j := range b.cells {
		if rest[j] == nil {
			continue
		}
		part := box{size: b.size, at: b.at}
		part.cells = append(part.cells, both[:j]...)
		part.cells = append(part.cells, rest[j])
		part.cells = append(part.cells, b.cells[j+1:]...)
		out = append(out, part)
	}
	return out
}

// intersect is the members of b that a has too.
func intersect(b box, a *box) (box, bool) {
	both, _, ok := compare(&b, a)
	return box{b.size, b.at, both}, ok
}

// compare splits each cell of b into what a's cell has too and what it has not (nil for
// nothing). It is false if the boxes have no common member.
func compare(b, a *box) (both, rest []*cell, ok bool) {
	if a.size != b.size || len(a.cells) != len(b.cells) {
		return nil, nil, false
	}
	for j, c := range b.cells {
		in, out := c.part(a.cells[j])
		if in == nil {
			return nil, nil, false
		}
		both, rest = append(both, in), append(rest, out)
	}
	return both, rest, true
}

// part splits the contents of c by whether d has them.
func (c *cell) part(d *cell) (in, out *cell) {
	if c == d {
		return c, nil
	}
	for i := range c.opts {
		to := &out
		if d.index(c.opts[i]) >= 0 {
			to = &in
		}
		if *to == nil {
			*to = &cell{off: c.off}
		}
		(*to).opts, (*to).at = append((*to).opts, c.opts[i]), append((*to).at, c.at[i])
		if i <= c.newest {
			(*to).newest = len((*to).opts) - 1
		}
	}
	return in, out
}

// index is the number of the content b, -1 if the cell may not hold it.
func (c *cell) index(b []byte) int {
	for i := range c.opts {
		if bytes.Equal(c.opts[i], b) {
			return i
		}
	}
	return -1
}

// minus is f without the members that g has, as families of the same names. Their slots
// must belong together pairwise (equal keys).
func (f *family) minus(g *family, dur *image.Image) []*family {
	both := make([]*slot, len(f.slots))
	rest := make([]*slot, len(f.slots))
	for i := range f.slots {
		both[i], rest[i] = f.slots[i].split(g.slots[i], dur)
		if len(both[i].boxes) == 0 {
			return []*family{f}
		}
	}
	var out []*family
	for i := range f.slots {
		if len(rest[i].boxes) == 0 {
			continue
		}
		part := *f
		part.slots = append([]*slot{}, both[:i]...)
		part.slots = append(part.slots, rest[i])
		part.slots = append(part.slots, f.slots[i+1:]...)
		out = append(out, &part)
	}
	return out
}

// split parts the contents of s by whether t has them.
func (s *slot) split(t *slot, dur *image.Image) (both, rest *slot) {
	if s == t {
		return s, &slot{ino: s.ino}
	}
	both, rest = &slot{ino: s.ino}, &slot{ino: s.ino}
	for _, b := range s.boxes {
		left := []box{b}
		for i := range t.boxes {
			var next []box
			for _, l := range left {
				a, l, ok := align(&t.boxes[i], &l, t.ino, s.ino, dur)
				if !ok {
					next = append(next, l)
					continue
				}
				if in, ok := intersect(l, &a); ok {
					both.boxes = append(both.boxes, in)
				}
				next = append(next, subtract(l, &a)...)
			}
			left = next
		}
		rest.boxes = append(rest.boxes, left...)
	}
	return both, rest
}

// align gives a box of inode ai and one of inode bi the same cells: where only one has a
// cell, the other gets one with its single durable content. It is false if the boxes can
// have no common member, or if cells overlap without being the same range, in which case
// members that both have stay with both.
func align(a, b *box, ai, bi trace.Ino, dur *image.Image) (aa, bb box, ok bool) {
	if a.size != b.size {
		return *a, *b, false
	}
	if ai == bi && len(a.cells) == len(b.cells) {
		return *a, *b, true
	}
	aa, bb = box{size: a.size, at: a.at}, box{size: b.size, at: b.at}
	da, db := durable(dur, ai, a.size), durable(dur, bi, b.size)
	at, i, j := int64(0), 0, 0
	for i < len(a.cells) || j < len(b.cells) {
		off := a.size
		if i < len(a.cells) {
			off = a.cells[i].off
		}
		if j < len(b.cells) {
			off = min(off, b.cells[j].off)
		}
		if off < at || !bytes.Equal(da[at:off], db[at:off]) {
			return *a, *b, false
		}
		ca, na := take(a.cells, i, off)
		cb, nb := take(b.cells, j, off)
		if ca != nil && cb != nil && len(ca.opts[0]) != len(cb.opts[0]) {
			return *a, *b, false
		}
		ca, cb = fill(ca, cb, off, da), fill(cb, ca, off, db)
		n := int64(len(ca.opts[0]))
		aa.cells, bb.cells = append(aa.cells, ca), append(bb.cells, cb)
		at, i, j = off+n, na, nb
	}
	return aa, bb, bytes.Equal(da[at:], db[at:])
}

// fill is c, or in its place the cell like d that has only the durable content.
func fill(c, d *cell, off int64, durable []byte) *cell {
	if c != nil {
		return c
	}
	n := int64(len(d.opts[0]))
	return newCell(off, n, []version{{at: -1, data: durable[off : off+n]}})
}

// take is the i-th cell if it begins at off, and the index of the next one.
func take(cells []*cell, i int, off int64) (*cell, int) {
	if i < len(cells) && cells[i].off == off {
		return cells[i], i + 1
	}
	return nil, i
}

// durable is the durable content of ino, cut or filled with zeros to size bytes.
func durable(dur *image.Image, ino trace.Ino, size int64) []byte {
	buf := make([]byte, size)
	dur.ReadAt(ino, buf, 0)
	return buf
}

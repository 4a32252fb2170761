package crash

import (
	"fmt"
	"slices"
	"sort"
)

// maxContents bounds the different contents of one overlapping group of writes in one
// sector under posix-worst.
const maxContents = 1 << 12

// spans are the writes to one unit under posix-worst, where any subset of them may have
// reached the disk. Writes that overlap form a group, which is one cell; groups are
// independent of each other.
type spans struct {
	all    []span
	groups []group
}

// span is one write (or the zeroing of a truncate) within a unit.
type span struct {
	at, gen int
	lo      int64
	data    []byte
}

// group is a range of a unit and its contents in each generation of the page.
type group struct {
	lo, hi int64
	gens   map[int][]version
	cached map[int][]byte // what the page cache held last
}

// span notes a write for posix-worst; other models keep versions only.
func (c *content) span(idx int64, at, gen int, lo int64, data []byte) {
	if !c.set.free || len(data) == 0 {
		return
	}
	if c.spans == nil {
		c.spans = map[int64]*spans{}
	}
	s := c.spans[idx]
	if s == nil {
		s = &spans{}
		c.spans[idx] = s
	}
	s.all = append(s.all, span{at, gen, lo, data})
}

// split groups the spans of every unit. The error says where too many writes overlap.
func (c *content) split() error {
	for _, u := range c.units {
		s := c.spans[u.idx]
		if s == nil {
			s = &spans{}
			if c.spans == nil {
				c.spans = map[int64]*spans{}
			}
			c.spans[u.idx] = s
		}
		s.split(c.set.tear, u)
		for i := range s.groups {
			if err := s.fill(&s.groups[i], u, c.set.stale); err != nil {
				off := u.idx * c.set.tear
				return fmt.Errorf("file %d, bytes %d to %d: %w", c.ino, off+s.groups[i].lo, off+s.groups[i].hi, err)
			}
		}
	}
	return nil
}

// split finds the ranges in which spans overlap. In a unit that was freed, what lies
// between them is a group too: it is old bytes or a hole.
func (s *spans) split(tear int64, u *unit) {
	order := slices.Clone(s.all)
	sort.SliceStable(order, func(i, j int) bool { return order[i].lo < order[j].lo })
	freed := u.vers[0].gen != u.vers[len(u.vers)-1].gen
	end := int64(0)
	gap := func(to int64) {
		if freed && to > end {
			s.groups = append(s.groups, group{lo: end, hi: to})
		}
	}
	for _, p := range order {
		hi := p.lo + int64(len(p.data))
		if n := len(s.groups); n > 0 && p.lo < end && s.groups[n-1].hi == end {
			s.groups[n-1].hi = max(end, hi)
			end = max(end, hi)
			continue
		}
		gap(p.lo)
		s.groups = append(s.groups, group{lo: p.lo, hi: hi})
		end = hi
	}
	gap(tear)
}

// fill computes the contents of g in each generation: the bytes that were there, with any
// subset of the writes over them, in order.
func (s *spans) fill(g *group, u *unit, stale bool) error {
	g.gens, g.cached = map[int][]version{}, map[int][]byte{}
	var before []version
	for i := range u.vers {
		v := &u.vers[i]
		if _, ok := g.gens[v.gen]; ok {
			continue
		}
		set := []version{{at: v.at, gen: v.gen, data: piece(v.data, g.lo, g.hi)}}
		if stale {
			set = append(slices.Clone(before), set...)
		}
		for _, p := range s.all {
			if p.gen != v.gen || p.lo >= g.hi || p.lo+int64(len(p.data)) <= g.lo {
				continue
			}
			for _, old := range slices.Clip(set) {
				set = addVersion(set, version{at: p.at, gen: v.gen, data: overlay(old.data, p.data, p.lo-g.lo)})
			}
			if len(set) > maxContents {
				return fmt.Errorf("more than %d contents from unsynced writes that overlap: sync between them, or use another model", maxContents)
			}
		}
		last := u.last(v.gen)
		g.gens[v.gen], g.cached[v.gen], before = set, piece(last, g.lo, g.hi), set
	}
	return nil
}

// last is what the page cache held of u at the end of a generation.
func (u *unit) last(gen int) []byte {
	var data []byte
	for i := range u.vers {
		if u.vers[i].gen == gen {
			data = u.vers[i].data
		}
	}
	return data
}

func addVersion(set []version, v version) []version {
	for i := range set {
		if slices.Equal(set[i].data, v.data) {
			set[i].at = max(set[i].at, v.at)
			return set
		}
	}
	return append(set, v)
}

// piece is bytes lo to hi of data, with zeros past its end.
func piece(data []byte, lo, hi int64) []byte {
	out := make([]byte, hi-lo)
	if lo < int64(len(data)) {
		copy(out, data[lo:])
	}
	return out
}

// cells appends the cells of u in generation gen, n bytes of it being inside the size.
func (s *spans) cells(c *content, u *unit, gen int, n int64, cells []*cell) []*cell {
	for i := range s.groups {
		g := &s.groups[i]
		if g.lo >= n {
			break
		}
		to := min(g.hi, n)
		k := newCell(u.idx*c.set.tear+g.lo, to-g.lo, g.gens[gen])
		if last, ok := g.cached[gen]; ok {
			k.add(fit(last, to-g.lo), k.at[k.newest])
		}
		cells = append(cells, k)
	}
	return cells
}

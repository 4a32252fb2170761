package crash

import (
	"fmt"
	"slices"
	"sort"
)

// maxContents bounds the different contents of one overlapping group of writes in one unit
// under posix-worst. Beyond it only the telling subsets are taken, and the space says so.
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
	memo   map[[2]int64]*cell
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

// split groups the spans of every unit. It is the first range in which too many writes
// overlap, if there is one.
func (c *content) split() (narrowed string) {
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
			if g := &s.groups[i]; !s.fill(g, u, c.set.stale) && narrowed == "" {
				off := u.idx * c.set.tear
				narrowed = fmt.Sprintf("of the unsynced writes that overlap in bytes %d to %d of file %d, only each prefix, each alone and all but each",
					off+g.lo, off+g.hi, c.ino)
			}
		}
	}
	return narrowed
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
// subset of the writes over them, in order. It is false if there were too many subsets.
func (s *spans) fill(g *group, u *unit, stale bool) bool {
	whole := true
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
		mine := s.within(g, v.gen)
		if all, ok := subsets(set, mine); ok {
			set = all
		} else {
			set, whole = telling(set, mine), false
		}
		last := u.last(v.gen)
		g.gens[v.gen], g.cached[v.gen], before = set, piece(last, g.lo, g.hi), set
	}
	return whole
}

// within are the spans of generation gen in g, with offsets from its beginning.
func (s *spans) within(g *group, gen int) []span {
	var mine []span
	for _, p := range s.all {
		if p.gen == gen && p.lo < g.hi && p.lo+int64(len(p.data)) > g.lo {
			p.lo -= g.lo
			mine = append(mine, p)
		}
	}
	return mine
}

// subsets are the different contents that any subset of the writes may leave over set;
// false if they are more than maxContents.
func subsets(set []version, writes []span) ([]version, bool) {
	set = slices.Clip(set)
	for _, p := range writes {
		for _, old := range slices.Clip(set) {
			set = addVersion(set, p.over(old))
		}
		if len(set) > maxContents {
			return nil, false
		}
	}
	return set, true
}

// telling are the contents that each prefix of the writes leaves, each write alone, and all
// but each.
func telling(set []version, writes []span) []version {
	base := slices.Clip(set)
	set = base
	for _, v := range base {
		for i := range writes {
			set = addVersion(set, writes[i].over(v))
		}
		for skip := range len(writes) + 1 {
			all := v
			for i := range writes {
				if i != skip {
					all = writes[i].over(all)
				}
				if skip == len(writes) {
					set = addVersion(set, all)
				}
			}
			set = addVersion(set, all)
		}
	}
	return set
}

// over is the content v with the write over it.
func (p *span) over(v version) version {
	return version{at: p.at, gen: v.gen, data: overlay(v.data, p.data, p.lo)}
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
		cells = append(cells, g.cell(u.idx*c.set.tear+g.lo, gen, min(g.hi, n)-g.lo))
	}
	return cells
}

// cell is the cell of g at off in a generation, n bytes of it, made once.
func (g *group) cell(off int64, gen int, n int64) *cell {
	key := [2]int64{int64(gen), n}
	c := g.memo[key]
	if c == nil {
		c = newCell(off, n, g.gens[gen])
		if last, ok := g.cached[gen]; ok {
			c.add(fit(last, n), c.at[c.newest])
		}
		if g.memo == nil {
			g.memo = map[[2]int64]*cell{}
		}
		g.memo[key] = c
	}
	return c
}

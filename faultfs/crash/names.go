package crash

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// family is one choice of names and, for each file that it shows and whose content is in
// doubt, every content. Families of one part of a space have no state in common.
type family struct {
	names int // which choice: how many pending name changes, or its number among choices
	sel   []entry
	modes []modeSet
	slots []*slot
	key   string // the shape of the tree; equal keys may hide equal images
}

// modeSet is the permission bits of an inode.
type modeSet struct {
	ino  trace.Ino
	mode fs.FileMode
}

// maker builds the families of a plan at one cut.
type maker struct {
	p        *plan
	all      map[trace.Ino]*content
	inos     []trace.Ino // every inode that may become a slot, in order
	slots    map[slotKey]*slot
	shown    []entry                 // every directory entry that a pending change touches
	moded    []trace.Ino             // every inode whose mode one touches
	repeat   bool                    // two choices may show the same tree
	narrowed string                  // what was left out, if anything
	above    map[trace.Ino]trace.Ino // the durable folder of each durable folder; filled when asked for
}

type slotKey struct {
	ino     trace.Ino
	step    int // -1: every step
	flushed int
}

func newMaker(p *plan) *maker {
	m := &maker{p: p, all: map[trace.Ino]*content{}, slots: map[slotKey]*slot{}}
	m.inos = p.active()
	for i := range p.names {
		m.touch(&p.names[i])
	}
	if p.set.free {
		m.repeat = len(p.names) > 0
	}
	for _, ino := range m.inos {
		f := p.files[ino]
		if f == nil {
			f = &file{ino: ino}
		}
		c := newContent(p.set, p.dur, f)
		if p.set.free {
			if n := c.split(); n != "" {
				m.narrowed = n
			}
		}
		m.all[ino] = c
	}
	return m
}

// touch notes what n may change. Only names that go away can bring back a tree that was
// there before; then each file that such a change names takes part in the comparison.
func (m *maker) touch(n *nameOp) {
	for _, e := range n.sets {
		known := slices.ContainsFunc(m.shown, func(s entry) bool { return s.dir == e.dir && s.name == e.name })
		if !known {
			m.shown = append(m.shown, entry{e.dir, e.name, 0})
		}
	}
	if n.mode != nil && !slices.Contains(m.moded, n.op.Ino) {
		m.moded = append(m.moded, n.op.Ino)
	}
	switch n.op.Kind {
	case trace.Create, trace.Mkdir, trace.Link:
	default:
		m.repeat = true
	}
	for _, ino := range []trace.Ino{n.op.Ino, n.op.Target} {
		info, ok := m.p.dur.Stat(ino)
		if ok && !info.Dir && !slices.Contains(m.inos, ino) {
			m.inos = append(m.inos, ino)
		}
	}
}

// slot is the content of ino at one size step, or at any (-1).
func (m *maker) slot(ino trace.Ino, step, flushed int) *slot {
	key := slotKey{ino, step, flushed}
	s := m.slots[key]
	if s == nil {
		c := m.all[ino]
		if step < 0 {
			s = c.slot(flushed)
		} else {
			s = &slot{ino: ino, boxes: []box{c.box(step, flushed)}}
		}
		m.slots[key] = s
	}
	return s
}

// family is the choice of names that img shows.
func (m *maker) family(names int, img *image.Image) *family {
	f := &family{names: names}
	for _, e := range m.shown {
		ino, _ := img.Child(e.dir, e.name)
		f.sel = append(f.sel, entry{e.dir, e.name, ino})
	}
	for _, ino := range m.moded {
		info, _ := img.Stat(ino)
		f.modes = append(f.modes, modeSet{ino, info.Mode})
	}
	return f
}

// fifo are the families of a model in which names form one chain: for each number of name
// changes that took effect, the files that are visible then.
func (m *maker) fifo() []*family {
	if m.p.set.merged {
		return m.merged()
	}
	img := m.p.dur.Clone()
	flushed := map[trace.Ino]int{}
	var fams []*family
	for k := range len(m.p.names) + 1 {
		if k > 0 {
			m.step(img, k-1, flushed)
		}
		f := m.family(k, img)
		m.fill(f, img, func(ino trace.Ino) *slot { return m.slot(ino, -1, since(flushed, ino)) })
		fams = append(fams, f)
	}
	return m.disjoint(fams)
}

// step lets pending name change k take effect.
func (m *maker) step(img *image.Image, k int, flushed map[trace.Ino]int) {
	n := &m.p.names[k]
	n.apply(img)
	if m.p.flushes(n) {
		flushed[n.op.Ino] = n.at
	}
}

func since(flushed map[trace.Ino]int, ino trace.Ino) int {
	if at, ok := flushed[ino]; ok {
		return at
	}
	return -1
}

// fill gives f the slots of the files that img shows, and its key where one is needed.
func (m *maker) fill(f *family, img *image.Image, slot func(trace.Ino) *slot) {
	if !m.repeat {
		for _, ino := range m.inos {
			if info, _ := img.Stat(ino); info.Nlink > 0 {
				f.slots = append(f.slots, slot(ino))
			}
		}
		return
	}
	v, _ := look(img, m.all)
	f.key = v.key
	for _, ino := range v.inos {
		f.slots = append(f.slots, slot(ino))
	}
}

// merged are the families of ext4-ordered: names and size steps in one chain, in program
// order.
func (m *maker) merged() []*family {
	img := m.p.dur.Clone()
	steps, flushed := map[trace.Ino]int{}, map[trace.Ino]int{}
	items := m.items()
	linked := m.p.dur.Clone()
	for k := range m.p.names {
		m.p.names[k].apply(linked)
	}
	for _, ino := range m.inos {
		info, _ := linked.Stat(ino)
		m.repeat = m.repeat || info.Nlink == 0 || len(m.all[ino].cuts) > 0
	}
	var fams []*family
	names := 0
	for i := -1; i < len(items); i++ {
		switch {
		case i < 0:
		case items[i].ino == 0:
			m.step(img, names, flushed)
			names++
		default:
			steps[items[i].ino] = items[i].step
		}
		if i+1 < len(items) && items[i+1].at <= m.p.chain {
			continue
		}
		f := m.family(i+1, img)
		m.fill(f, img, func(ino trace.Ino) *slot { return m.slot(ino, steps[ino], since(flushed, ino)) })
		fams = append(fams, f)
	}
	return m.disjoint(fams)
}

// item is one link of the chain of ext4-ordered: a size step of ino, or a name change (0).
type item struct {
	at   int
	ino  trace.Ino
	step int
}

func (m *maker) items() []item {
	var items []item
	for i := range m.p.names {
		items = append(items, item{at: m.p.names[i].at})
	}
	for _, ino := range m.inos {
		for s, st := range m.all[ino].steps[1:] {
			items = append(items, item{st.at, ino, s + 1})
		}
	}
	slices.SortStableFunc(items, func(a, b item) int { return a.at - b.at })
	return items
}

// disjoint takes from each family what an earlier one with the same tree has.
func (m *maker) disjoint(fams []*family) []*family {
	if !m.repeat {
		return fams
	}
	seen := map[string][]*family{}
	var out []*family
	for _, f := range fams {
		key := f.key
		if m.p.set.merged {
			key += f.sizes()
		}
		fresh := []*family{f}
		for _, old := range seen[key] {
			var rest []*family
			for _, g := range fresh {
				rest = append(rest, g.minus(old, m.p.dur)...)
			}
			fresh = rest
		}
		seen[key] = append(seen[key], fresh...)
		out = append(out, fresh...)
	}
	return out
}

// sizes tells families that have one size per file apart at once.
func (f *family) sizes() string {
	var b strings.Builder
	for _, s := range f.slots {
		b.WriteString(strconv.FormatInt(s.boxes[0].size, 10) + ";")
	}
	return b.String()
}

// view is a tree as a person would list it, with the contents of some inodes left open.
type view struct {
	key  string
	inos []trace.Ino // those inodes, in the order of their first paths
}

// look lists img. It is false if a folder has two names or holds itself: no such tree is a
// state.
func look(img *image.Image, open map[trace.Ino]*content) (view, bool) {
	l := looker{img: img, open: open, seen: map[trace.Ino]int{trace.Root: 0}, ok: true}
	l.folder(trace.Root)
	return view{l.b.String(), l.inos}, l.ok
}

type looker struct {
	img  *image.Image
	open map[trace.Ino]*content
	b    strings.Builder
	seen map[trace.Ino]int
	inos []trace.Ino
	ok   bool
}

func (l *looker) folder(dir trace.Ino) {
	for _, e := range l.img.Entries(dir) {
		info, _ := l.img.Stat(e.Ino)
		nth, again := l.seen[e.Ino]
		l.b.WriteString(e.Name + "/" + strconv.FormatUint(uint64(info.Mode.Perm()), 8))
		if info.Dir {
			if again {
				l.ok = false
				continue
			}
			l.seen[e.Ino] = 0
			l.b.WriteString("{")
			l.folder(e.Ino)
			l.b.WriteString("}")
			continue
		}
		if !again {
			nth = len(l.seen)
			l.seen[e.Ino] = nth
			if l.open[e.Ino] != nil {
				l.inos = append(l.inos, e.Ino)
			}
		}
		l.b.WriteString("=" + strconv.Itoa(nth) + "\n")
	}
}

package crash

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// maxNames bounds the choices of names that hang together under posix-worst. Beyond it only
// the telling choices are taken, and the space says so.
const maxNames = 1 << 12

// variable is a directory entry or the mode of an inode, and what it may be, the durable
// value first. Under posix-worst each pending change of it may have taken effect alone.
type variable struct {
	dir   trace.Ino
	name  string
	inos  []trace.Ino   // the values of an entry, 0 is none
	self  trace.Ino     // for a mode: the inode
	modes []fs.FileMode // the values of a mode
}

func (v *variable) len() int { return max(len(v.inos), len(v.modes)) }

// free are the parts of posix-worst: names that share no inode are independent of each
// other, and so are files whose names are not in doubt.
func (m *maker) free() []part {
	vars := m.variables()
	knots := newKnots()
	for i := range vars {
		m.tie(knots, i, &vars[i])
	}
	groups := map[int][]int{}
	var order []int
	for i := range vars {
		root := knots.find(knots.variable(i))
		if groups[root] == nil {
			order = append(order, root)
		}
		groups[root] = append(groups[root], i)
	}
	base, _ := look(m.p.dur, m.all)
	rest := &family{}
	for _, ino := range base.inos {
		if !knots.has(ino) {
			rest.slots = append(rest.slots, m.slot(ino, -1, -1))
		}
	}
	parts := []part{{fams: []*family{rest}}}
	for _, root := range order {
		var group []*variable
		for _, i := range groups[root] {
			group = append(group, &vars[i])
		}
		mine := func(ino trace.Ino) bool { return knots.has(ino) && knots.find(knots.inode(ino)) == root }
		parts = append(parts, part{fams: m.disjoint(m.choices(group, mine))})
	}
	return parts
}

// variables are the entries and modes that pending changes touch, in order of first touch.
func (m *maker) variables() []variable {
	var vars []variable
	for _, e := range m.shown {
		ino, _ := m.p.dur.Child(e.dir, e.name)
		v := variable{dir: e.dir, name: e.name, inos: []trace.Ino{ino}}
		for i := range m.p.names {
			for _, s := range m.p.names[i].sets {
				if s.dir == e.dir && s.name == e.name && !slices.Contains(v.inos, s.ino) {
					v.inos = append(v.inos, s.ino)
				}
			}
		}
		vars = append(vars, v)
	}
	for _, ino := range m.moded {
		info, _ := m.p.dur.Stat(ino)
		v := variable{self: ino, modes: []fs.FileMode{info.Mode.Perm()}}
		for i := range m.p.names {
			n := &m.p.names[i]
			if n.mode != nil && n.op.Ino == ino && !slices.Contains(v.modes, n.mode.Perm()) {
				v.modes = append(v.modes, n.mode.Perm())
			}
		}
		vars = append(vars, v)
	}
	return vars
}

// tie ties variable i to every inode that it may show, to the folder it lies in if that one
// may come and go, and to all below a folder that it may show.
func (m *maker) tie(k *knots, i int, v *variable) {
	if v.modes != nil {
		k.tie(k.variable(i), k.inode(v.self))
		m.below(k, v.self)
		return
	}
	for _, ino := range v.inos {
		if ino != 0 {
			k.tie(k.variable(i), k.inode(ino))
			m.below(k, ino)
		}
	}
	if m.unsure(v.dir) {
		k.tie(k.variable(i), k.inode(v.dir))
	}
}

// below ties a folder to what the durable image has in it.
func (m *maker) below(k *knots, dir trace.Ino) {
	if info, _ := m.p.dur.Stat(dir); !info.Dir || k.seen[dir] {
		return
	}
	k.seen[dir] = true
	for _, e := range m.p.dur.Entries(dir) {
		k.tie(k.inode(dir), k.inode(e.Ino))
		m.below(k, e.Ino)
	}
}

// unsure reports whether a pending change touches an entry that shows dir or a folder
// above it.
func (m *maker) unsure(dir trace.Ino) bool {
	for depth := 0; dir != trace.Root && depth < 1<<10; depth++ {
		for _, e := range m.shown {
			if ino, _ := m.p.dur.Child(e.dir, e.name); ino == dir {
				return true
			}
		}
		for i := range m.p.names {
			for _, s := range m.p.names[i].sets {
				if s.ino == dir {
					return true
				}
			}
		}
		if dir = m.parent(dir); dir == 0 {
			return false
		}
	}
	return false
}

// parent is the folder that holds dir in the durable image, 0 if none does.
func (m *maker) parent(dir trace.Ino) trace.Ino {
	if m.above == nil {
		m.above = map[trace.Ino]trace.Ino{}
		m.climb(trace.Root)
	}
	return m.above[dir]
}

func (m *maker) climb(dir trace.Ino) {
	for _, e := range m.p.dur.Entries(dir) {
		if info, _ := m.p.dur.Stat(e.Ino); info.Dir && m.above[e.Ino] == 0 {
			m.above[e.Ino] = dir
			m.climb(e.Ino)
		}
	}
}

// choices are the families of one group of variables: every combination of their values
// that is a tree.
func (m *maker) choices(group []*variable, mine func(trace.Ino) bool) []*family {
	var fams []*family
	for n, values := range m.combinations(group) {
		img, f := m.p.dur.Clone(), &family{names: n}
		for i, v := range group {
			v.set(values[i], img, f)
		}
		seen, ok := look(img, m.all)
		if !ok {
			continue
		}
		f.key = seen.key
		for _, ino := range seen.inos {
			if mine(ino) {
				f.slots = append(f.slots, m.slot(ino, -1, -1))
			}
		}
		fams = append(fams, f)
	}
	return fams
}

// combinations are all combinations of values of a group, the first variable fastest; if
// they are too many, what each prefix of the changes leaves, each alone, and all but each.
func (m *maker) combinations(group []*variable) [][]int {
	total := 1
	for _, v := range group {
		if total *= v.len(); total > maxNames {
			m.narrowed = fmt.Sprintf("of the %d names that hang together with %s, only each prefix of the changes, each alone and all but each",
				len(group), group[0].label())
			return m.tellingNames(group)
		}
	}
	var all [][]int
	for n := range total {
		values := make([]int, len(group))
		for i, v := range group {
			values[i], n = n%v.len(), n/v.len()
		}
		all = append(all, values)
	}
	return all
}

// tellingNames are those combinations, each once.
func (m *maker) tellingNames(group []*variable) [][]int {
	var all [][]int
	seen := map[string]bool{}
	add := func(values []int) {
		if key := fmt.Sprint(values); !seen[key] {
			seen[key] = true
			all = append(all, slices.Clone(values))
		}
	}
	sets := m.changes(group)
	prefix := make([]int, len(group))
	add(prefix)
	for _, s := range sets {
		prefix[s.variable] = s.value
		add(prefix)
		alone := make([]int, len(group))
		alone[s.variable] = s.value
		add(alone)
	}
	for skip := range sets {
		values := make([]int, len(group))
		for i, s := range sets {
			if i != skip {
				values[s.variable] = s.value
			}
		}
		add(values)
	}
	return all
}

// setTo is one pending change as a variable of a group and the number of its value.
type setTo struct{ variable, value int }

// changes are the pending changes of a group, oldest first.
func (m *maker) changes(group []*variable) []setTo {
	var all []setTo
	for k := range m.p.names {
		n := &m.p.names[k]
		for i, v := range group {
			for _, s := range n.sets {
				if v.modes == nil && s.dir == v.dir && s.name == v.name {
					all = append(all, setTo{i, slices.Index(v.inos, s.ino)})
				}
			}
			if v.modes != nil && n.mode != nil && n.op.Ino == v.self {
				all = append(all, setTo{i, slices.Index(v.modes, n.mode.Perm())})
			}
		}
	}
	return all
}

// label names the variable in a sentence.
func (v *variable) label() string {
	if v.modes != nil {
		return fmt.Sprintf("the mode of inode %d", v.self)
	}
	return v.name
}

// set gives v its i-th value in img and notes it in f.
func (v *variable) set(i int, img *image.Image, f *family) {
	if v.modes != nil {
		img.Chmod(v.self, v.modes[i])
		f.modes = append(f.modes, modeSet{v.self, v.modes[i]})
		return
	}
	e := entry{v.dir, v.name, v.inos[i]}
	e.apply(img)
	f.sel = append(f.sel, e)
}

// knots is a union-find over inodes and variables.
type knots struct {
	up   []int
	inos map[trace.Ino]int
	vars map[int]int
	seen map[trace.Ino]bool // folders whose contents are tied to them
}

func newKnots() *knots {
	return &knots{inos: map[trace.Ino]int{}, vars: map[int]int{}, seen: map[trace.Ino]bool{}}
}

func (k *knots) has(ino trace.Ino) bool { _, ok := k.inos[ino]; return ok }

func (k *knots) inode(ino trace.Ino) int {
	n, ok := k.inos[ino]
	if !ok {
		n = k.add()
		k.inos[ino] = n
	}
	return n
}

func (k *knots) variable(i int) int {
	n, ok := k.vars[i]
	if !ok {
		n = k.add()
		k.vars[i] = n
	}
	return n
}

func (k *knots) add() int {
	k.up = append(k.up, len(k.up))
	return len(k.up) - 1
}

func (k *knots) find(n int) int {
	for k.up[n] != n {
		k.up[n] = k.up[k.up[n]]
		n = k.up[n]
	}
	return n
}

func (k *knots) tie(a, b int) { k.up[k.find(a)] = k.find(b) }

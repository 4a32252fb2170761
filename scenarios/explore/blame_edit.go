package explore

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// blame tries every single sync, and then every single change of order.
func (b *blamer) blame() string {
	n, sampled := b.failing(b.ops, -1)
	if n == 0 || b.err != nil {
		return ""
	}
	all := fmt.Sprintf("makes all %d failing states pass", n)
	if n == 1 {
		all = "makes the one failing state pass"
	}
	if sampled {
		all += ", as far as they were sampled"
	}
	single := b.syncs()
	for _, s := range single {
		if from, to, ok := b.rangeOf(s); ok {
			return fmt.Sprintf("one sync of %s %s%s %s", nameOf(s.ops), b.between(from, to), b.where, all)
		}
	}
	for _, m := range b.moves() {
		if b.passes(m.ops) {
			return fmt.Sprintf("%s%s %s", m.words, b.where, all)
		}
	}
	for _, s := range together(single) {
		if from, to, ok := b.rangeOf(s); ok {
			return fmt.Sprintf("no single sync helps; one each of %s %s%s %s", nameOf(s.ops), b.between(from, to), b.where, all)
		}
	}
	return "no single sync or order change helps: the bytes are wrong, not their order"
}

// insertion is a sync, or several at once, that could be put into the trace.
type insertion struct {
	ops []trace.Op
	at  []int // in front of these ops it would cover something
}

// together are syncs of all folders, and of all files and folders, at once.
func together(single []insertion) []insertion {
	var dirs, all insertion
	for _, s := range single {
		for _, list := range []*insertion{&dirs, &all} {
			if list == &all || s.ops[0].Kind == trace.SyncDir {
				list.ops = append(list.ops, s.ops...)
				list.at = append(list.at, s.at...)
			}
		}
	}
	var out []insertion
	for _, list := range []insertion{dirs, all} {
		if len(list.ops) > 1 {
			slices.Sort(list.at)
			list.at = slices.Compact(list.at)
			out = append(out, list)
		}
	}
	return out
}

// syncs are all syncs that would cover something, those of files first.
func (b *blamer) syncs() []insertion {
	var files, dirs []insertion
	dirty := map[trace.Ino]bool{}
	add := func(list *[]insertion, op trace.Op) {
		if op.Ino == 0 {
			return
		}
		dirty[op.Ino] = true
		if !slices.ContainsFunc(*list, func(i insertion) bool { return i.ops[0].Ino == op.Ino }) {
			*list = append(*list, insertion{ops: []trace.Op{op}})
		}
	}
	history := b.build(b.ops).hist.Ops
	for n, op := range history {
		switch {
		case op.IsSync() && honest(op):
			delete(dirty, op.Ino)
		case !op.Changes():
		case op.Kind == trace.Write || op.Kind == trace.Truncate:
			add(&files, trace.Op{Kind: trace.SyncFile, Ino: op.Ino, Path: op.Path})
		default:
			add(&dirs, trace.Op{Kind: trace.SyncDir, Ino: op.Dir, Path: path.Dir(op.Path)})
			if op.Dir2 != op.Dir && op.Path2 != "" {
				add(&dirs, trace.Op{Kind: trace.SyncDir, Ino: op.Dir2, Path: path.Dir(op.Path2)})
			}
		}
		for _, list := range [][]insertion{files, dirs} {
			for i := range list {
				if dirty[list[i].ops[0].Ino] && n+1 > b.first {
					list[i].at = append(list[i].at, n+1)
				}
			}
		}
	}
	return append(files, dirs...)
}

// rangeOf finds the first run of places at which a sync saves everything.
func (b *blamer) rangeOf(s insertion) (from, to int, ok bool) {
	for _, at := range s.at {
		passes := b.passes(slices.Insert(slices.Clone(b.ops), at-b.first, s.ops...))
		switch {
		case passes && !ok:
			from, to, ok = at, at, true
		case passes && at == to+1:
			to = at
		case ok:
			return from, to, true
		}
	}
	return from, to, ok
}

// nameOf is what is synced, in words.
func nameOf(ops []trace.Op) string {
	var files, dirs []string
	for _, op := range ops {
		if op.Kind == trace.SyncDir {
			dirs = append(dirs, op.Path)
		} else {
			files = append(files, op.Path)
		}
	}
	word := "the folder "
	if len(dirs) > 1 {
		word = "the folders "
	}
	if len(dirs) > 0 {
		files = append(files, word+strings.Join(dirs, " and "))
	}
	return strings.Join(files, " and ")
}

// opWords is an op in words, with its number. Records that the harness appends have names of their own.
func opWords(n int, op trace.Op) string {
	m, ok := workload.ParseMark(op.Text)
	if op.Kind == trace.Note && ok && m.What == "append" {
		return fmt.Sprintf("op %d (append %s %s)", n, number(m.N), m.Event)
	}
	return fmt.Sprintf("op %d (%s)", n, op)
}

// between says where a sync may stand: behind op from-1, and in front of op to at the latest.
func (b *blamer) between(from, to int) string {
	history := b.build(b.ops).hist.Ops
	if to >= len(history) {
		return "behind " + opWords(from-1, history[from-1])
	}
	return "between " + opWords(from-1, history[from-1]) + " and " + opWords(to, history[to])
}

// move is a trace in another order.
type move struct {
	ops   []trace.Op
	words string
}

// moves are the changes of order that an author could make: to acknowledge behind the next syncs,
// and to write in front of the last one.
func (b *blamer) moves() []move {
	var out []move
	for n, op := range b.ops {
		switch {
		case acknowledges(op) && (n == 0 || !acknowledges(b.ops[n-1])):
			end := n + 1
			for end < len(b.ops) && acknowledges(b.ops[end]) {
				end++
			}
			if at := b.nextSync(end); at > 0 {
				ops := slices.Concat(b.ops[:n], b.ops[end:at+1], b.ops[n:end], b.ops[at+1:])
				out = append(out, move{ops, fmt.Sprintf("moving %s behind %s", opWords(b.first+n, op), opWords(b.first+at, b.ops[at]))})
			}
		case op.Kind == trace.Write && op.Changes():
			if at := b.lastSync(n); at >= 0 {
				ops := slices.Concat(b.ops[:at], b.ops[n:n+1], b.ops[at:n], b.ops[n+1:])
				out = append(out, move{ops, fmt.Sprintf("moving %s in front of %s", opWords(b.first+n, op), opWords(b.first+at, b.ops[at]))})
			}
		}
	}
	return out
}

// acknowledges reports whether a note is the driver's word that a record is safe.
func acknowledges(op trace.Op) bool {
	m, ok := workload.ParseMark(op.Text)
	return op.Kind == trace.Note && ok && m.What == "append" && m.Event == workload.Acked
}

// nextSync is the end of the first run of syncs from n on that worked; 0 if there is none.
func (b *blamer) nextSync(n int) int {
	last := 0
	for ; n < len(b.ops); n++ {
		switch op := b.ops[n]; {
		case op.IsSync() && honest(op):
			last = n
		case last > 0 && op.Kind != trace.Note:
			return last
		}
	}
	return last
}

// lastSync is the sync of a write's own file in front of it, if only notes of calls that are
// over stand between; -1 if there is none.
func (b *blamer) lastSync(n int) int {
	for i := n - 1; i >= 0; i-- {
		op := b.ops[i]
		m, isMark := workload.ParseMark(op.Text)
		switch {
		case op.Kind == trace.SyncFile && op.Ino == b.ops[n].Ino && honest(op):
			return i
		case op.Kind != trace.Note, isMark && m.Event == workload.Called:
			return -1
		}
	}
	return -1
}

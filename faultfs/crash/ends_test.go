package crash

import (
	"fmt"
	"path"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// bookPrefix follows the definition of prefix: cut program order anywhere behind the last
// atom that a completed sync covers.
func bookPrefix(h *History, end int, tear int64) map[image.Hash]*image.Image {
	b := newBook(Prefix, h, end, tear)
	floor := 0 // ops before it are in every state
	for i := range h.Ops[:end] {
		for n := range i {
			op := &h.Ops[n]
			data := (op.Kind == trace.Write || op.Kind == trace.Truncate) && op.Ino == h.Ops[i].Ino
			if h.Ops[i].IsSync() && op.Changes() && (data || slices.Contains(b.names, n) && b.persists(i, n)) {
				floor = max(floor, n+1)
			}
		}
	}
	out := map[image.Hash]*image.Image{}
	img := h.Base.Clone()
	for i := range end {
		if i >= floor {
			out[img.Hash()] = img.Clone()
		}
		op := h.Ops[i]
		for n := 1; op.Kind == trace.Write && i >= floor && n < len(op.Data); n++ {
			if (op.Off+int64(n))%tear == 0 {
				part := op
				part.Data = op.Data[:n]
				torn := img.Clone()
				_ = torn.Apply(part)
				out[torn.Hash()] = torn
			}
		}
		if op.Changes() {
			_ = img.Apply(op)
		}
	}
	out[img.Hash()] = img
	return out
}

// bookSynced follows the definition of synced.
func bookSynced(h *History, end int) *image.Image {
	b := newBook(Synced, h, end, 4)
	img := h.Base.Clone()
	type name struct {
		dir  trace.Ino
		name string
	}
	set := map[name]trace.Ino{}
	for i := range h.Ops[:end] {
		op := &h.Ops[i]
		switch op.Kind {
		case trace.Create, trace.Mkdir:
			img.AllocAt(op.Ino, op.Kind == trace.Mkdir, op.Mode)
			set[name{op.Dir, op.Entry()}] = op.Ino
		case trace.Remove:
			set[name{op.Dir, op.Entry()}] = 0
		case trace.Rename:
			set[name{op.Dir, op.Entry()}] = 0
			set[name{op.Dir2, op.Entry2()}] = op.Ino
		case trace.SyncDir:
			for n, ino := range set {
				if n.dir == op.Ino && ino != 0 {
					img.Bind(n.dir, n.name, ino)
				} else if n.dir == op.Ino {
					img.Unbind(n.dir, n.name)
				}
			}
		default:
		}
		if !op.IsSync() {
			continue
		}
		for _, c := range h.Ops[:i] {
			if c.Kind == trace.Chmod && (c.Ino == op.Ino || op.Kind == trace.SyncDir && c.Dir == op.Ino) {
				img.Chmod(c.Ino, c.Mode)
			}
		}
	}
	for ino, f := range b.logs {
		for j, op := range f.ops {
			if op < f.lastSync() {
				img.Truncate(ino, 0)
				img.WriteAt(ino, f.bytes[j][:min(int(f.sizes[j]), len(f.bytes[j]))], 0)
				img.Truncate(ino, f.sizes[j])
			}
		}
	}
	return img
}

// bookFree follows the definition of posix-worst: any subset of the pending changes of each
// entry, of the writes to each unit, any number of size steps.
type bookFree struct {
	*book
	sets []entrySet
	out  map[image.Hash]*image.Image
}

// entrySet is one pending change of an entry or (name empty) of a mode.
type entrySet struct {
	at   int
	dir  trace.Ino
	name string
	ino  trace.Ino
	mode trace.Op
}

func newBookFree(h *History, end int, tear int64) *bookFree {
	b := &bookFree{book: newBook(PosixWorst, h, end, tear), out: map[image.Hash]*image.Image{}}
	for i := range h.Ops[:end] {
		op := &h.Ops[i]
		switch op.Kind {
		case trace.Create, trace.Mkdir:
			b.sets = append(b.sets, entrySet{at: i, dir: op.Dir, name: op.Entry(), ino: op.Ino})
		case trace.Remove:
			b.sets = append(b.sets, entrySet{at: i, dir: op.Dir, name: op.Entry()})
		case trace.Rename:
			if op.Target != 0 {
				b.sets = append(b.sets, entrySet{at: i, dir: op.Dir2, name: op.Entry2()})
			}
			b.sets = append(b.sets, entrySet{at: i, dir: op.Dir, name: op.Entry()},
				entrySet{at: i, dir: op.Dir2, name: op.Entry2(), ino: op.Ino})
		case trace.Chmod:
			b.sets = append(b.sets, entrySet{at: i, dir: op.Dir, ino: op.Ino, mode: *op})
		default:
		}
	}
	return b
}

// certain reports whether a completed sync made the change durable.
func (b *bookFree) certain(s entrySet) bool {
	for i := s.at; i < b.end; i++ {
		op := &b.h.Ops[i]
		if op.Kind == trace.SyncDir && op.Ino == s.dir || s.name == "" && op.IsSync() && op.Ino == s.ino {
			return true
		}
	}
	return false
}

// states tries every subset of the pending changes of names; 2^16 at most.
func (b *bookFree) states() map[image.Hash]*image.Image {
	var unsure []int
	for i, s := range b.sets {
		if !b.certain(s) {
			unsure = append(unsure, i)
		}
	}
	contents := map[trace.Ino][]string{}
	for _, ino := range b.inos {
		contents[ino] = b.freeContents(ino)
	}
	seen := map[image.Hash]bool{}
	for mask := range 1 << len(unsure) {
		img := b.h.Base.Clone()
		for i := range b.h.Ops[:b.end] {
			if op := &b.h.Ops[i]; op.Kind == trace.Create || op.Kind == trace.Mkdir {
				img.AllocAt(op.Ino, op.Kind == trace.Mkdir, op.Mode)
			}
		}
		for i, s := range b.sets {
			if n := slices.Index(unsure, i); n >= 0 && mask>>n&1 == 0 {
				continue
			}
			switch {
			case s.name == "":
				img.Chmod(s.ino, s.mode.Mode)
			case s.ino == 0:
				img.Unbind(s.dir, s.name)
			default:
				img.Bind(s.dir, s.name, s.ino)
			}
		}
		var inos []trace.Ino
		tag := img.Clone() // each file's number as its content tells equal trees apart
		img.Walk(func(p string, info image.Info) bool {
			if !info.Dir && !slices.Contains(inos, info.Ino) {
				inos = append(inos, info.Ino)
				tag.Truncate(info.Ino, 0)
				tag.WriteAt(info.Ino, []byte(path.Base(p)+string(rune('0'+info.Ino))), 0)
			}
			return true
		})
		if !seen[tag.Hash()] {
			seen[tag.Hash()] = true
			b.fill(img, inos, contents)
		}
	}
	return b.out
}

func (b *bookFree) fill(img *image.Image, inos []trace.Ino, contents map[trace.Ino][]string) {
	if len(inos) == 0 {
		b.out[img.Hash()] = img
		return
	}
	for _, c := range contents[inos[0]] {
		next := img.Clone()
		next.Truncate(inos[0], 0)
		next.WriteAt(inos[0], []byte(c), 0)
		b.fill(next, inos[1:], contents)
	}
}

// freeContents are all contents of ino: for each step that may be the last, each unit as
// any subset of the changes since it was durable or freed would leave it.
func (b *bookFree) freeContents(ino trace.Ino) []string {
	f := b.logs[ino]
	var out []string
	for s := b.floor(f, f.lastSync()); s < len(f.steps); s++ {
		all := []string{""}
		for u := int64(0); u*b.unit < f.steps[s].size; u++ {
			var next []string
			for _, v := range b.freeUnit(f, s, u, min(b.unit, f.steps[s].size-u*b.unit)) {
				for _, c := range all {
					next = append(next, c+v)
				}
			}
			all = next
		}
		out = append(out, all...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (b *bookFree) freeUnit(f *bookFile, s int, u, n int64) []string {
	from, to := -1, len(f.ops) // changes between them belong to the page as it is now
	for j := range f.ops {
		if b.frees(f, j, u) {
			if b.applied(f, s, j) {
				from = j
			} else {
				to = min(to, j)
			}
		}
	}
	start := make([]byte, b.unit)
	synced := -1
	for j, op := range f.ops {
		if op < f.lastSync() {
			synced = j
		}
	}
	if synced >= from {
		copy(start, b.version(f, synced, u, b.unit))
		from = synced
	}
	all := []string{string(start)}
	for j := from + 1; j < to; j++ {
		if !b.touches(f, j, u) {
			continue
		}
		for _, old := range all {
			all = append(all, string(b.over(f, j, u, []byte(old))))
		}
	}
	for i := range all {
		all[i] = all[i][:n]
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// over is unit u with change j of f over old.
func (b *bookFree) over(f *bookFile, j int, u int64, old []byte) []byte {
	op := &b.h.Ops[f.ops[j]]
	for i := range old {
		at := u*b.unit + int64(i)
		switch {
		case op.Kind == trace.Truncate && at >= op.Size:
			old[i] = 0
		case op.Kind == trace.Write && at >= op.Off && at < op.Off+int64(len(op.Data)):
			old[i] = op.Data[at-op.Off]
		}
	}
	return old
}

func TestEndsAreTheBook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := randomScript(t, 10, []trace.SyncResult{trace.SyncOK})
		h, n := s.history(), len(s.ops)
		tear := rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "tear")

		sp, err := NewSpace(Prefix, h, s.end(), small(tear))
		require.NoError(t, err)
		requireSame(t, Prefix, bookPrefix(h, n, int64(tear)), walked(t, sp))

		sp, err = NewSpace(Synced, h, s.end(), small(tear))
		require.NoError(t, err)
		want := bookSynced(h, n)
		requireSame(t, Synced, map[image.Hash]*image.Image{want.Hash(): want}, walked(t, sp))
	})
}

func TestPosixWorstIsTheBook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := randomScript(t, 7, []trace.SyncResult{trace.SyncOK})
		tear := rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "tear")
		sp, err := NewSpace(PosixWorst, s.history(), s.end(), small(tear))
		require.NoError(t, err)
		if sp.Count().Cmp(bigOf(mostStates)) > 0 {
			return
		}
		want := newBookFree(s.history(), len(s.ops), int64(tear)).states()
		got := map[image.Hash]*image.Image{}
		links := map[string]bool{}
		for st := range sp.All() {
			got[st.Image.Hash()] = st.Image
			require.NoError(t, sp.Contains(st.Image), "%s", st.Choice())
			links[show(st.Image)+linked(st.Image)] = true
		}
		requireSame(t, PosixWorst, want, got)
		require.Equal(t, sp.Count().String(), bigOf(len(links)).String())
		for _, m := range []Model{Prefix, Contiguous, OwnPage, Ext4Ordered, Ext4OOO, Writeback} {
			requireFiltered(t, m, s, tear, got)
		}
	})
}

// linked says which paths are one file, and the modes.
func linked(img *image.Image) string {
	text, seen := "", map[trace.Ino]string{}
	img.Walk(func(p string, info image.Info) bool {
		if first, ok := seen[info.Ino]; ok {
			text += fmt.Sprintf(" %s=%s", first, p)
		}
		text += fmt.Sprintf(" %o", info.Mode.Perm())
		seen[info.Ino] = p
		return true
	})
	return text
}

// requireFiltered compares a model's states with those of the widest model that it says it
// contains.
func requireFiltered(t *rapid.T, m Model, s *script, tear int, all map[image.Hash]*image.Image) {
	sp, err := NewSpace(m, s.history(), s.end(), small(tear))
	require.NoError(t, err)
	got := map[image.Hash]*image.Image{}
	for st := range sp.All() {
		got[st.Image.Hash()] = st.Image
	}
	want := map[image.Hash]*image.Image{}
	for h, img := range all {
		if sp.Contains(img) == nil {
			want[h] = img
		}
	}
	if m == Prefix && tear < 4 { // it stops at sizes that no other model has
		return
	}
	requireSame(t, m, want, got)
}

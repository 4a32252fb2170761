package crash

import (
	"slices"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// book is the slow reference: it follows the definition in the package comment to the
// letter, tries every combination of a name cut, size steps and unit versions, asks each
// rule in turn whether it allows the combination, and builds the image byte by byte. It
// shares no code with the planner beyond the history.
type book struct {
	m          Model
	h          *History
	end        int
	page, unit int64
	replace    bool
	inos       []trace.Ino
	logs       map[trace.Ino]*bookFile
	names      []int // ops that change names
}

// bookFile is a file's life: after each op of it the size, the bytes (never cut, so that
// freed ones can be looked at), and what was touched.
type bookFile struct {
	base  []byte
	ops   []int
	bytes [][]byte
	sizes []int64
	steps []bookStep
	syncs []int // completed
}

type bookStep struct {
	size int64
	op   int
}

func newBook(m Model, h *History, end int, unit int64) *book {
	b := &book{m: m, h: h, end: end, page: 4, unit: unit, logs: map[trace.Ino]*bookFile{}}
	b.replace = m == Contiguous || m == Ext4Ordered || m == Ext4OOO
	h.Base.Walk(func(_ string, info image.Info) bool {
		if !info.Dir {
			b.file(info.Ino)
		}
		return true
	})
	for i := range h.Ops[:end] {
		op := &h.Ops[i]
		switch {
		case op.Kind == trace.Create:
			b.file(op.Ino)
			b.names = append(b.names, i)
		case op.Kind == trace.Write:
			b.write(b.file(op.Ino), i, op.Off, op.Data)
		case op.Kind == trace.Truncate:
			b.cut(b.file(op.Ino), i, op.Size)
		case op.Kind == trace.SyncFile:
			b.file(op.Ino).syncs = append(b.file(op.Ino).syncs, i)
		case op.Changes():
			b.names = append(b.names, i)
		}
	}
	slices.Sort(b.inos)
	return b
}

func (b *book) file(ino trace.Ino) *bookFile {
	f := b.logs[ino]
	if f == nil {
		f = &bookFile{}
		if _, ok := b.h.Base.Stat(ino); ok {
			f.base = b.h.Base.Bytes(ino)
		}
		f.steps = []bookStep{{int64(len(f.base)), -1}}
		b.logs[ino] = f
		b.inos = append(b.inos, ino)
	}
	return f
}

func (f *bookFile) now() ([]byte, int64) {
	if n := len(f.bytes); n > 0 {
		return slices.Clone(f.bytes[n-1]), f.sizes[n-1]
	}
	return slices.Clone(f.base), int64(len(f.base))
}

func (b *book) write(f *bookFile, op int, off int64, data []byte) {
	c, size := f.now()
	for int64(len(c)) < off+int64(len(data)) {
		c = append(c, 0)
	}
	copy(c[off:], data)
	e := max(size, off+int64(len(data)))
	for s := size + 1; s <= e; s++ {
		if s%b.page == 0 || s == e {
			f.steps = append(f.steps, bookStep{s, op})
		}
	}
	f.ops, f.bytes, f.sizes = append(f.ops, op), append(f.bytes, c), append(f.sizes, e)
}

func (b *book) cut(f *bookFile, op int, size int64) {
	c, old := f.now()
	for i := size; i < int64(len(c)); i++ {
		c[i] = 0
	}
	if size != old {
		f.steps = append(f.steps, bookStep{size, op})
	}
	f.ops, f.bytes, f.sizes = append(f.ops, op), append(f.bytes, c), append(f.sizes, size)
}

// touches reports whether op j of f makes a version of unit u: a write that covers part of
// it, or a truncate that zeroes or frees it.
func (b *book) touches(f *bookFile, j int, u int64) bool {
	op := &b.h.Ops[f.ops[j]]
	if op.Kind == trace.Write {
		return op.Off < (u+1)*b.unit && op.Off+int64(len(op.Data)) > u*b.unit
	}
	return b.shrinks(f, j) && op.Size < (u+1)*b.unit
}

func (b *book) shrinks(f *bookFile, j int) bool {
	before := int64(len(f.base))
	if j > 0 {
		before = f.sizes[j-1]
	}
	op := &b.h.Ops[f.ops[j]]
	return op.Kind == trace.Truncate && op.Size < before
}

// frees reports whether op j of f frees the page of unit u.
func (b *book) frees(f *bookFile, j int, u int64) bool {
	size := b.h.Ops[f.ops[j]].Size
	return b.shrinks(f, j) && u*b.unit/b.page*b.page >= size
}

// version is unit u after op j of f, -1 for the base, n bytes.
func (b *book) version(f *bookFile, j int, u, n int64) []byte {
	c := f.base
	if j >= 0 {
		c = f.bytes[j]
	}
	out := make([]byte, n)
	for i := range out {
		if at := u*b.unit + int64(i); at < int64(len(c)) {
			out[i] = c[at]
		}
	}
	return out
}

// latest is the last version of unit u at or before op number at, as an index; -1 is base.
func (b *book) latest(f *bookFile, u int64, at int) int {
	last := -1
	for j, op := range f.ops {
		if op <= at && b.touches(f, j, u) {
			last = j
		}
	}
	return last
}

// lastSync is the last completed sync of the file before the cut, -1 if none.
func (f *bookFile) lastSync() int {
	return slices.Max(append([]int{-1}, f.syncs...))
}

// allowed asks every rule about version v of unit u, given that the steps of f up to s have
// taken effect and that changes before op number flushed had to be on the disk.
func (b *book) allowed(f *bookFile, s int, u int64, v, flushed int) bool {
	if v >= 0 && !b.touches(f, v, u) {
		return false
	}
	if v < b.latest(f, u, f.lastSync()) || v < b.latest(f, u, flushed) {
		return false // durable versions do not go back
	}
	for j := range f.ops {
		if b.frees(f, j, u) && b.applied(f, s, j) != (v >= j) {
			return false // freed pages: versions from before exactly while it is outside
		}
	}
	st := f.steps[s]
	page, last := u*b.unit/b.page, (st.size-1)/b.page
	need := -1
	switch {
	case b.m == Contiguous, b.m == OwnPage && page == last:
		need = b.latest(f, u, st.op)
	case b.m == Ext4Ordered || b.m == Ext4OOO && page == last:
		if w := b.firstTouch(f, s, page); w >= 0 && f.ops[w] <= st.op {
			need = b.latest(f, u, f.ops[w])
		}
	}
	if v < need {
		return false
	}
	if b.m == Writeback {
		return true
	}
	for j := range f.ops {
		if b.shrinks(f, j) && b.applied(f, s, j) && b.touches(f, j, u) && v < j {
			return false // the zeroing comes before its truncate
		}
	}
	return true
}

// applied reports whether truncate j of f has taken effect when step s has.
func (b *book) applied(f *bookFile, s, j int) bool { return f.steps[s].op >= f.ops[j] }

// firstTouch is the first write that gave page a block since the last truncate in effect
// that freed it, -1 if it had one that was durable.
func (b *book) firstTouch(f *bookFile, s int, page int64) int {
	from, u := -1, page*b.page/b.unit
	for j := range f.ops {
		if b.frees(f, j, u) && b.applied(f, s, j) {
			from = j
		}
	}
	synced, freed := int64(len(f.base)), false
	for j, op := range f.ops {
		if op < f.lastSync() {
			synced = f.sizes[j]
		} else if j <= from && b.frees(f, j, u) {
			freed = true
		}
	}
	if !freed && page*b.page < synced {
		return -1
	}
	for j := from + 1; j < len(f.ops); j++ {
		op := &b.h.Ops[f.ops[j]]
		if op.Kind == trace.Write && f.ops[j] > f.lastSync() && op.Off < (page+1)*b.page && op.Off+int64(len(op.Data)) > page*b.page {
			return j
		}
	}
	return -1
}

// contents are all contents of ino with steps up to s in effect.
func (b *book) contents(ino trace.Ino, s, flushed int) []string {
	f := b.logs[ino]
	st := f.steps[s]
	if st.op < 0 && s > 0 || s < b.floor(f, max(f.lastSync(), flushed)) {
		return nil
	}
	out := []string{""}
	for u := int64(0); u*b.unit < st.size; u++ {
		n := min(b.unit, st.size-u*b.unit)
		var next []string
		for v := -1; v < len(f.ops); v++ {
			if b.allowed(f, s, u, v, flushed) {
				for _, c := range out {
					next = append(next, c+string(b.version(f, v, u, n)))
				}
			}
		}
		slices.Sort(next)
		out = slices.Compact(next)
	}
	return out
}

// floor is the least step that must have taken effect when ops before at are durable.
func (b *book) floor(f *bookFile, at int) int {
	floor := 0
	for s, st := range f.steps {
		if st.op < at && st.op >= 0 {
			floor = s
		}
	}
	return floor
}

// states is the set of images, by hash, with one of each.
func (b *book) states() map[image.Hash]*image.Image {
	out := map[image.Hash]*image.Image{}
	for k := 0; k <= len(b.names); k++ {
		if !b.namesAllowed(k) {
			continue
		}
		img, flushed := b.tree(k)
		b.fill(k, img, flushed, 0, map[trace.Ino]int{}, out)
	}
	return out
}

// tree has the first k name changes, all files empty.
func (b *book) tree(k int) (*image.Image, map[trace.Ino]int) {
	img, flushed := b.h.Base.Clone(), map[trace.Ino]int{}
	for _, i := range b.names[:k] {
		op := &b.h.Ops[i]
		_ = img.Apply(*op)
		if b.replace && op.Kind == trace.Rename && op.Target != 0 {
			flushed[op.Ino] = i
		}
	}
	return img, flushed
}

// fill chooses steps and contents for one inode after the other.
func (b *book) fill(k int, img *image.Image, flushed map[trace.Ino]int, n int, steps map[trace.Ino]int, out map[image.Hash]*image.Image) {
	if n == len(b.inos) {
		if b.m != Ext4Ordered || b.ordered(k, steps) {
			out[img.Hash()] = img
		}
		return
	}
	ino := b.inos[n]
	at, ok := flushed[ino]
	if !ok {
		at = -1
	}
	for s := range b.logs[ino].steps {
		steps[ino] = s
		all := b.contents(ino, s, at)
		if info, _ := img.Stat(ino); info.Nlink == 0 && len(all) > 1 {
			all = all[:1] // nobody sees which
		}
		for _, c := range all {
			next := img.Clone()
			next.Truncate(ino, 0)
			next.WriteAt(ino, []byte(c), 0)
			b.fill(k, next, flushed, n+1, steps, out)
		}
	}
}

// ordered reports whether names and steps are a prefix of program order.
func (b *book) ordered(k int, steps map[trace.Ino]int) bool {
	last, first := -1, 1<<30 // the last item in effect, the first that is not
	for i, op := range b.names {
		if i < k {
			last = max(last, op*100)
		} else {
			first = min(first, op*100)
		}
	}
	for ino, s := range steps {
		for i, st := range b.logs[ino].steps {
			if i == 0 {
				continue
			}
			if at := st.op*100 + i; i <= s {
				last = max(last, at)
			} else {
				first = min(first, at)
			}
		}
	}
	return last < first
}

// namesAllowed asks every sync whether k name changes are enough.
func (b *book) namesAllowed(k int) bool {
	for i := range b.h.Ops[:b.end] {
		op := &b.h.Ops[i]
		if !op.IsSync() {
			continue
		}
		for n, at := range b.names {
			if n >= k && at < i && b.persists(i, at) {
				return false
			}
		}
	}
	return true
}

// persists reports whether the sync at position s makes the name change at position n
// durable: it is one of the folder, or of the file, or of a folder made to hold it.
func (b *book) persists(s, n int) bool {
	sync, op := &b.h.Ops[s], &b.h.Ops[n]
	if sync.Kind == trace.SyncDir && (op.Dir == sync.Ino || op.Dir2 == sync.Ino) {
		return true
	}
	if op.Ino == sync.Ino {
		return true
	}
	if op.Kind != trace.Mkdir && op.Kind != trace.Chmod && op.Kind != trace.Rename {
		return false
	}
	for _, later := range b.names { // op made a folder in which the file got a name later
		in := b.h.Ops[later].Dir
		if k := b.h.Ops[later].Kind; k == trace.Rename || k == trace.Link {
			in = b.h.Ops[later].Dir2
		}
		gives := b.h.Ops[later].Kind != trace.Remove && b.h.Ops[later].Kind != trace.Chmod
		if later > n && later < s && gives && in == op.Ino && b.h.Ops[later].Ino == sync.Ino {
			return true
		}
	}
	return false
}

package crash

import (
	"io/fs"
	"slices"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// plan keeps, for the models in which bytes, sizes and names go their own ways, the durable
// image and the changes that are pending on top of it.
type plan struct {
	set    settings
	dur    *image.Image        // every durable change; every inode, named or not
	files  map[trace.Ino]*file // those with pending changes
	names  []nameOp            // pending, oldest first
	chain  int                 // ext4-ordered: names and size steps up to this op are durable
	frozen bool
}

// file is what is pending of one inode's content.
type file struct {
	ino  trace.Ino
	size int64 // as the page cache has it
	pend []pend
}

// pend is one pending write or truncate.
type pend struct {
	at   int
	cut  bool // a truncate to size, else a write
	off  int64
	data []byte
	size int64 // the file's size after it
}

// nameOp is one pending change of names or modes, as raw directory entries.
type nameOp struct {
	at   int
	op   *trace.Op
	sets []entry
	mode *fs.FileMode // of op.Ino, for a chmod
}

// entry is a directory entry and the inode it shows, 0 for none.
type entry struct {
	dir  trace.Ino
	name string
	ino  trace.Ino
}

func newPlan(h *History, set settings) *plan {
	return &plan{set: set, dur: h.Base.Clone(), files: map[trace.Ino]*file{}, chain: -1}
}

func (p *plan) change(at int, op *trace.Op) {
	if p.frozen || !op.Changes() {
		return
	}
	switch op.Kind {
	case trace.Write:
		f := p.file(op.Ino)
		f.size = max(f.size, op.Off+int64(len(op.Data)))
		f.pend = append(f.pend, pend{at: at, off: op.Off, data: op.Data, size: f.size})
	case trace.Truncate:
		f := p.file(op.Ino)
		f.size = op.Size
		f.pend = append(f.pend, pend{at: at, cut: true, size: op.Size})
	default:
		p.name(at, op)
	}
}

func (p *plan) file(ino trace.Ino) *file {
	f := p.files[ino]
	if f == nil {
		info, _ := p.dur.Stat(ino)
		f = &file{ino: ino, size: info.Size}
		p.files[ino] = f
	}
	return f
}

// name takes a change of names apart. An inode is there from its creation on; what a crash
// may lose is its name.
func (p *plan) name(at int, op *trace.Op) {
	n := nameOp{at: at, op: op}
	switch op.Kind {
	case trace.Create, trace.Mkdir:
		p.dur.AllocAt(op.Ino, op.Kind == trace.Mkdir, op.Mode)
		n.sets = []entry{{op.Dir, op.Entry(), op.Ino}}
	case trace.Remove:
		n.sets = []entry{{op.Dir, op.Entry(), 0}}
	case trace.Link:
		n.sets = []entry{{op.Dir2, op.Entry2(), op.Ino}}
	case trace.Chmod:
		mode := op.Mode
		n.mode = &mode
	case trace.Rename:
		if op.Target == op.Ino { // two names of one file: the kernel does nothing
			return
		}
		if op.Target != 0 {
			n.sets = append(n.sets, entry{op.Dir2, op.Entry2(), 0})
		}
		n.sets = append(n.sets, entry{op.Dir, op.Entry(), 0}, entry{op.Dir2, op.Entry2(), op.Ino})
	default:
		return
	}
	p.names = append(p.names, n)
}

func (p *plan) durable(at int, op *trace.Op) {
	if p.frozen {
		return
	}
	last := -1 // the last pending size step that the sync covers
	if f := p.files[op.Ino]; f != nil {
		last = p.lastStep(f, at)
		p.fold(f, at)
	}
	if p.set.free {
		p.foldFree(at, op)
		return
	}
	name := -1
	for i := len(p.names) - 1; i >= 0; i-- {
		if n := &p.names[i]; n.at < at && coversName(op, n.op) {
			name = max(name, n.at)
		}
	}
	if p.set.merged {
		name = max(name, last)
		p.chain = max(p.chain, name)
	}
	p.foldNames(name)
}

// lastStep is the last op before position at that changed the size of f, -1 if none did.
func (p *plan) lastStep(f *file, at int) int {
	info, _ := p.dur.Stat(f.ino)
	size, last := info.Size, -1
	for i := 0; i < len(f.pend) && f.pend[i].at < at; i++ {
		if f.pend[i].size != size {
			size, last = f.pend[i].size, f.pend[i].at
		}
	}
	return last
}

// fold makes the changes of f before position at durable.
func (p *plan) fold(f *file, at int) {
	n := 0
	for ; n < len(f.pend) && f.pend[n].at < at; n++ {
		if c := &f.pend[n]; c.cut {
			p.dur.Truncate(f.ino, c.size)
		} else {
			p.dur.WriteAt(f.ino, c.data, c.off)
		}
	}
	if f.pend = f.pend[n:]; len(f.pend) == 0 {
		delete(p.files, f.ino)
	}
}

// foldNames makes the name changes up to op number last durable. A rename that is durable
// and had to wait for its file's bytes brings them along.
func (p *plan) foldNames(last int) {
	n := 0
	for ; n < len(p.names) && p.names[n].at <= last; n++ {
		p.names[n].apply(p.dur)
		if f := p.files[p.names[n].op.Ino]; f != nil && p.flushes(&p.names[n]) {
			p.fold(f, p.names[n].at)
		}
	}
	p.names = p.names[n:]
}

// flushes reports whether n is a rename over something that waits for the file's bytes.
func (p *plan) flushes(n *nameOp) bool {
	return p.set.replace && n.op.Kind == trace.Rename && n.op.Target != 0
}

// foldFree makes durable what a sync persists when entries are independent: those of the
// folder that was synced, and the mode of what was synced or lies in it.
func (p *plan) foldFree(at int, op *trace.Op) {
	rest := p.names[:0:0]
	for _, n := range p.names {
		if n.at >= at {
			rest = append(rest, n)
			continue
		}
		if n.mode != nil && (n.op.Ino == op.Ino || op.Kind == trace.SyncDir && n.op.Dir == op.Ino) {
			n.apply(p.dur)
			continue
		}
		left := n.sets[:0:0]
		for _, e := range n.sets {
			if op.Kind == trace.SyncDir && e.dir == op.Ino {
				e.apply(p.dur)
			} else {
				left = append(left, e)
			}
		}
		if n.sets = left; len(left) > 0 || n.mode != nil {
			rest = append(rest, n)
		}
	}
	p.names = rest
}

func (n *nameOp) apply(img *image.Image) {
	for _, e := range n.sets {
		e.apply(img)
	}
	if n.mode != nil {
		img.Chmod(n.op.Ino, *n.mode)
	}
}

// apply sets the entry in img, touching nothing if it is so already.
func (e entry) apply(img *image.Image) {
	have, ok := img.Child(e.dir, e.name)
	switch {
	case e.ino == 0 && ok:
		img.Unbind(e.dir, e.name)
	case e.ino != 0 && (!ok || have != e.ino):
		img.Bind(e.dir, e.name, e.ino)
	}
}

// drop turns the pending writes of ino into what remains of them: a size. Under synced the
// size still waits for a sync that succeeds.
func (p *plan) drop(at int, ino trace.Ino) {
	f := p.files[ino]
	if p.frozen || f == nil {
		return
	}
	for i := range f.pend {
		f.pend[i].cut, f.pend[i].data = true, nil
	}
	if p.set.single {
		return
	}
	last := p.lastStep(f, at)
	p.fold(f, at)
	if p.set.merged {
		p.chain = max(p.chain, last)
		p.foldNames(last)
	}
}

func (p *plan) freeze(_ int, pending bool) {
	if p.frozen {
		return
	}
	p.frozen = true
	if pending {
		return
	}
	p.names = nil
	for _, ino := range p.active() {
		f := p.files[ino]
		// What the chain of ext4-ordered has already made durable stays in doubt.
		n := 0
		for n < len(f.pend) && f.pend[n].at <= p.chain {
			n++
		}
		if f.pend = f.pend[:n]; n == 0 {
			delete(p.files, ino)
		}
	}
}

// active are the inodes with pending changes, in order of number.
func (p *plan) active() []trace.Ino {
	inos := make([]trace.Ino, 0, len(p.files))
	for ino := range p.files {
		inos = append(inos, ino)
	}
	slices.Sort(inos)
	return inos
}

func (p *plan) space() body {
	if p.set.single {
		return newChain(p.dur.Clone(), nil, 0, p.set.tear)
	}
	return newProduct(p)
}

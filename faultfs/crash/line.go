package crash

import (
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// line plans the models that keep one total order (kill, prefix): the state at a cut is
// the durable image and some prefix of what came after it.
type line struct {
	set    settings
	hist   *History
	dur    *image.Image // with hist.Ops[:from]; owned
	from   int          // ops before it are in dur
	end    int          // ops[from:end] are pending
	frozen bool
}

func newLine(h *History, set settings) *line {
	return &line{set: set, hist: h, dur: h.Base.Clone()}
}

func (l *line) change(at int, op *trace.Op) {
	if l.set.model == Kill {
		apply(l.dur, op)
		l.from, l.end = at+1, at+1
		return
	}
	if !l.frozen {
		l.end = at + 1
	}
}

// durable moves the durable point behind the last atom that the sync covers; in a total
// order, all before that atom is durable with it.
func (l *line) durable(at int, op *trace.Op) {
	if l.set.model == Kill || l.frozen {
		return
	}
	for i := at - 1; i >= l.from; i-- {
		if covers(op, &l.hist.Ops[i]) {
			l.advance(i + 1)
			return
		}
	}
}

func (l *line) advance(to int) {
	for ; l.from < to; l.from++ {
		apply(l.dur, &l.hist.Ops[l.from])
	}
	l.end = max(l.end, l.from)
}

// drop makes everything durable (the file's size is, and it is last in the order), with
// holes where the dirty bytes of ino would be.
func (l *line) drop(at int, ino trace.Ino) {
	if l.set.model == Kill || l.frozen {
		return
	}
	old := l.dur.Clone()
	pending := l.hist.Ops[l.from:at]
	l.advance(at)
	if info, ok := l.dur.Stat(ino); ok {
		l.dur.Truncate(ino, 0)
		l.dur.Truncate(ino, info.Size)
		keep := kept(old, ino, pending)
		l.dur.WriteAt(ino, keep, 0)
	}
}

// kept are the bytes of ino in the durable image that no pending truncate cut off.
func kept(old *image.Image, ino trace.Ino, pending []trace.Op) []byte {
	if _, ok := old.Stat(ino); !ok {
		return nil
	}
	b := old.Bytes(ino)
	for i := range pending {
		if op := &pending[i]; op.Kind == trace.Truncate && op.Ino == ino && op.Changes() {
			b = b[:min(int64(len(b)), op.Size)]
		}
	}
	return b
}

func (l *line) freeze(at int, pending bool) {
	if l.set.model == Kill || l.frozen {
		return
	}
	l.frozen, l.end = true, l.from
	if pending {
		l.end = at
	}
}

func (l *line) space(cut Cut) body {
	ops, from := l.hist.Ops[l.from:max(l.end, l.from)], l.from
	if l.set.model == Kill {
		from = cut.At
		ops = nil
		if cut.Inside {
			ops = l.hist.Ops[cut.At : cut.At+1]
		}
	}
	return newChain(l.dur.Clone(), ops, from, l.set.tear)
}

// apply performs op on img if it changes anything. The recorder has already checked it, so
// an error can only mean a history that does not belong to its base: it shows as a missing
// inode, which no model can mend, and the op is left out.
func apply(img *image.Image, op *trace.Op) {
	same := op.Kind == trace.Rename && op.Target == op.Ino // two names of one file: nothing happens
	if op.Changes() && !same {
		_ = img.Apply(*op)
	}
}

// covers reports whether the sync makes op durable, as bytes, a size or a name. That the
// folders made to hold a file come with its name needs no rule: their names are earlier in
// the one chain.
func covers(sync, op *trace.Op) bool {
	if !op.Changes() {
		return false
	}
	if op.Kind == trace.Write || op.Kind == trace.Truncate {
		return op.Ino == sync.Ino
	}
	return coversName(sync, op)
}

// coversName is covers for changes of names and modes.
func coversName(sync, op *trace.Op) bool {
	return op.Ino == sync.Ino || sync.Kind == trace.SyncDir && (op.Dir == sync.Ino || op.Dir2 == sync.Ino)
}

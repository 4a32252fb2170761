package explore

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// span is a range of bytes of a file.
type span struct{ from, to int64 }

// doubt is what is not certain about one file.
type doubt struct {
	pending []span // written, and not synced since
	lost    []span // pending when a sync failed, and not written or cut since: no later sync is known to write them
	cut     bool   // it was cut, and not synced since
	lostCut bool   // cut when a sync failed, in this session
	failed  int    // the last sync that failed
}

// ledger follows a run op by op and knows what a sync that failed leaves in doubt. It thinks the
// worst of a failure, as a program must that cannot see what the kernel dropped.
type ledger struct {
	file  string // the subject's
	img   *image.Image
	files map[trace.Ino]*doubt
	names map[string]trace.Ino // path → its folder: given, and the folder not synced since
	gone  map[string]int       // path → the sync of its folder that failed, in this session
}

// trusted is UP209 as far as the trace alone shows it: the first acknowledgement that rests on
// bytes, or on a name, whose sync had failed, or on a write that had. It gives the number of the
// acknowledgement's note, -1 if there is none.
func (j *judge) trusted(f *faultRun) (*oracle.Violation, int) {
	g := &ledger{file: j.subject.File(), img: f.life.hist.Base.Clone(), files: map[trace.Ino]*doubt{}, names: map[string]trace.Ino{}, gone: map[string]int{}}
	acks := f.life.acks()
	for n, op := range f.ops {
		if op.Kind != trace.Note {
			g.take(n, op)
			if op.Changes() && g.img.Apply(op) != nil {
				return nil, -1 // not a trace of this image: the walk of its states says so
			}
			continue
		}
		m, ok := workload.ParseMark(op.Text)
		switch {
		case !ok:
		case m.What == "open" && m.Event == workload.Called:
			g.reopened()
		case m.What == "append" && m.Event == workload.Acked:
			if v := g.acknowledged(f.ops, acks[n]); v != nil {
				v.Text = fmt.Sprintf("append #%s was acknowledged %s", number(m.N), v.Text)
				return v, n
			}
		}
	}
	return nil, -1
}

// acks finds the entries by the notes that acknowledge them.
func (l *life) acks() map[int]*entry {
	out := map[int]*entry{}
	for i := range l.w {
		if e := &l.w[i]; e.acked != never {
			out[e.acked] = e
		}
	}
	return out
}

func (g *ledger) of(ino trace.Ino) *doubt {
	if g.files[ino] == nil {
		g.files[ino] = &doubt{}
	}
	return g.files[ino]
}

// take notes what an op leaves in doubt, or settles. The image is that in front of the op.
func (g *ledger) take(n int, op trace.Op) {
	switch {
	case op.IsSync():
		g.sync(n, op)
	case op.Kind == trace.Write && op.Changes():
		w := span{op.Off, op.Off + int64(len(op.Data))}
		d := g.of(op.Ino)
		if g.same(op) && !overlaps(d.pending, w) && !overlaps(d.lost, w) {
			return // what is on the disk already cannot be lost by writing it again
		}
		d.lost = without(d.lost, w)
		d.pending = append(without(d.pending, w), w)
	case !op.Changes():
	case op.Kind == trace.Truncate:
		d, beyond := g.of(op.Ino), span{op.Size, never}
		d.lost, d.pending = without(d.lost, beyond), without(d.pending, beyond)
		d.cut, d.lostCut = true, false
	case op.Kind == trace.Create || op.Kind == trace.Mkdir:
		g.named(op.Path, op.Dir)
	case op.Kind == trace.Rename || op.Kind == trace.Link:
		g.named(op.Path2, op.Dir2)
	case op.Kind == trace.Remove:
		delete(g.names, op.Path)
		delete(g.gone, op.Path)
	}
}

func (g *ledger) named(name string, dir trace.Ino) {
	g.names[name] = dir
	delete(g.gone, name)
}

// same reports whether a write leaves the bytes as they are.
func (g *ledger) same(op trace.Op) bool {
	info, ok := g.img.Stat(op.Ino)
	if !ok || op.Off+int64(len(op.Data)) > info.Size {
		return false
	}
	have := make([]byte, len(op.Data))
	g.img.ReadAt(op.Ino, have, op.Off)
	return bytes.Equal(have, op.Data)
}

// sync settles what it covers, or puts it in doubt. Lies are not seen here: the program could not
// see them either.
func (g *ledger) sync(n int, op trace.Op) {
	all := op.Result == trace.SyncFailRO || op.Result == trace.SyncFailShutdown
	for ino, d := range g.files {
		if ino != op.Ino && !all {
			continue
		}
		if op.Err != "" && len(d.pending) > 0 {
			d.lost, d.failed = append(d.lost, d.pending...), n
		}
		if op.Err != "" && d.cut {
			d.lostCut, d.failed = true, n
		}
		d.pending, d.cut = nil, false
	}
	for name, dir := range g.names {
		if dir != op.Ino && !all {
			continue
		}
		delete(g.names, name)
		if op.Err != "" {
			g.gone[name] = n
		}
	}
}

// reopened begins a new session. An open verifies names and sizes as they are now, and its syncs
// cover them. Bytes are another matter: a page that was dropped reads well until the power fails.
func (g *ledger) reopened() {
	for _, d := range g.files {
		d.cut, d.lostCut = d.cut || d.lostCut, false
	}
	for name := range g.gone {
		if ino, ok := g.img.Lookup(path.Dir(name)); ok {
			g.names[name] = ino
		}
	}
	clear(g.gone)
}

// acknowledged judges an acknowledgement: the bytes that it rests on are all that the journal's
// files hold, since a hole in front of a record is the record's end as well.
func (g *ledger) acknowledged(ops []trace.Op, e *entry) *oracle.Violation {
	files := logFiles(g.img, g.file)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		d := g.files[files[name]]
		switch {
		case d == nil:
		case len(d.lost) > 0:
			s := d.lost[0]
			return &oracle.Violation{
				Rule: "UP209", Text: fmt.Sprintf("on top of bytes %d..%d of %s, whose sync had failed, and which were not written again or cut since", s.from, s.to, path.Base(name)),
				Want: []string{"no acknowledgement until they are"}, Got: []string{where209(ops, d.failed)},
			}
		case d.lostCut:
			return &oracle.Violation{
				Rule: "UP209", Text: fmt.Sprintf("behind a cut of %s whose sync had failed, in the same session", path.Base(name)),
				Want: []string{"a cut that is synced, or no acknowledgement until a reopening"}, Got: []string{where209(ops, d.failed)},
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.gone)) {
		if !g.leads(name, files) {
			continue
		}
		return &oracle.Violation{
			Rule: "UP209", Text: fmt.Sprintf("under the name %s, which a sync of its folder that failed should have made durable, in the same session", name),
			Want: []string{"no acknowledgement until a reopening"}, Got: []string{where209(ops, g.gone[name])},
		}
	}
	return g.written(ops, e)
}

func where209(ops []trace.Op, n int) string { return fmt.Sprintf("op %d, %s", n, ops[n]) }

// leads reports whether a path is one of the journal's files, or a folder above one.
func (g *ledger) leads(name string, files map[string]trace.Ino) bool {
	for file := range files {
		if file == name || strings.HasPrefix(file, name+"/") {
			return true
		}
	}
	return false
}

// written judges the record's own write: when the last one of its call failed or was short, the
// record cannot be there.
func (g *ledger) written(ops []trace.Op, e *entry) *oracle.Violation {
	if e == nil || e.returned == never {
		return nil
	}
	last := -1
	for n := max(e.called, 0); n < e.returned; n++ {
		if op := ops[n]; op.Kind == trace.Write && (op.Path == g.file || path.Dir(op.Path) == path.Dir(g.file) && isSegment(path.Base(g.file), path.Base(op.Path))) {
			last = n
		}
	}
	if last < 0 || ops[last].Err == "" && len(ops[last].Data) == ops[last].Len {
		return nil
	}
	return &oracle.Violation{
		Rule: "UP209", Text: "although its write had failed or was short, and nothing was written since",
		Want: []string{"the rest is written, or the append fails"}, Got: []string{where209(ops, last)},
	}
}

func overlaps(spans []span, w span) bool {
	for _, s := range spans {
		if s.from < w.to && w.from < s.to {
			return true
		}
	}
	return false
}

// without takes w out of spans.
func without(spans []span, w span) []span {
	if !overlaps(spans, w) {
		return spans
	}
	var out []span
	for _, s := range spans {
		if left := (span{s.from, min(s.to, w.from)}); left.from < left.to {
			out = append(out, left)
		}
		if right := (span{max(s.from, w.to), s.to}); right.from < right.to {
			out = append(out, right)
		}
	}
	return out
}

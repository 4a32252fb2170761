package explore

import (
	"bytes"
	"math"
	"path"
	"strings"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/target"
)

// witness knows what had been written to the journal's files at a cut. The files are those
// in the subject's folder whose names begin with the stem of its path and end like it
// ("log.jsonl", "log_2.jsonl"); others (kept tails, locks) are not the journal.
type witness struct {
	file string
	live map[string]written
}

// written is what a file held at the cut, as a program that reads it would have seen it.
type written struct {
	data []byte
	ends map[int64]bool // where a whole write ended
	good int64          // behind it stands a tail that the recovery before left aside, and that is not cut yet
}

// logFiles are the journal's files in an image, by path.
func logFiles(img *image.Image, file string) map[string]trace.Ino {
	out := map[string]trace.Ino{}
	dir, ok := img.Lookup(path.Dir(file))
	if !ok {
		return out
	}
	ext := path.Ext(file)
	stem := strings.TrimSuffix(path.Base(file), ext)
	for _, e := range img.Entries(dir) {
		if strings.HasPrefix(e.Name, stem) && strings.HasSuffix(e.Name, ext) {
			if info, ok := img.Stat(e.Ino); ok && !info.Dir {
				out[path.Join(path.Dir(file), e.Name)] = e.Ino
			}
		}
	}
	return out
}

// sizes are those of the journal's files in an image.
func sizes(img *image.Image, file string) map[string]int64 {
	out := map[string]int64{}
	for name, ino := range logFiles(img, file) {
		if info, ok := img.Stat(ino); ok {
			out[name] = info.Size
		}
	}
	return out
}

// newWitness reads the live files at a cut.
func newWitness(l *life, file string, live *image.Image, ops []trace.Op) *witness {
	w := &witness{file: file, live: map[string]written{}}
	for name, ino := range logFiles(live, file) {
		ends := map[int64]bool{}
		if size, ok := l.accepted[name]; ok {
			ends[size] = true
		}
		for _, op := range ops {
			if op.Kind == trace.Write && op.Ino == ino && len(op.Data) >= op.Len {
				ends[op.Off+int64(len(op.Data))] = true
			}
		}
		w.live[name] = written{live.Bytes(ino), ends, l.goodUpTo(name, ino, len(ops))}
	}
	return w
}

// goodUpTo is where the tail begins that the recovery before this life left aside, as long
// as this life has not cut it: newlines behind it end no line.
func (l *life) goodUpTo(name string, ino trace.Ino, end int) int64 {
	if l.tail.Length == 0 || l.tail.Path != name {
		return math.MaxInt64
	}
	for _, op := range l.hist.Ops[l.first:end] {
		if op.Kind == trace.Truncate && op.Ino == ino && op.Size <= l.tail.Offset && op.Err == "" {
			return math.MaxInt64
		}
	}
	return l.tail.Offset
}

// boundary reports whether a whole line or a whole write ends at off.
func (f written) boundary(off int64) bool {
	return off == 0 || off > 0 && off <= f.good && off <= int64(len(f.data)) && (f.data[off-1] == '\n' || f.ends[off])
}

// complete reports whether only the newline of the last line is missing at off.
func (f written) complete(off int64) bool {
	return off > 0 && off < int64(len(f.data)) && f.data[off] == '\n' && f.data[off-1] != '\n'
}

// look compares a crash state with what had been written.
func (w *witness) look(state *image.Image, tail target.Tail) oracle.Evidence {
	e := oracle.Evidence{Size: -1, Clean: true}
	about := tail.Path
	if about == "" {
		about = w.file
	}
	for name, ino := range logFiles(state, w.file) {
		data, f := state.Bytes(ino), w.live[name]
		same := commonPrefix(data, f.data)
		whole := same == int64(len(data))
		if !whole || !f.boundary(same) {
			e.Clean = false
			e.Complete = whole && f.complete(same)
		}
		if !whole && bytes.IndexByte(data[same:], '\n') >= 0 {
			e.Terminated = true
		}
		if name == about {
			e.Size = int64(len(data))
			e.Boundary = tail.Offset <= same && f.boundary(tail.Offset)
		}
	}
	return e
}

func commonPrefix(a, b []byte) int64 {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return int64(i)
		}
	}
	return int64(n)
}

// liveAt is the image as the program saw it at a cut, an op in flight done in full.
type liveAt struct {
	hist *crash.History
	img  *image.Image
	next int
}

func newLive(hist *crash.History) *liveAt {
	return &liveAt{hist: hist, img: hist.Base.Clone()}
}

// upTo advances to a cut; cuts must not go backwards.
func (l *liveAt) upTo(cut crash.Cut) (*image.Image, error) {
	end := cut.At
	if cut.Inside {
		end++
	}
	for ; l.next < end && l.next < len(l.hist.Ops); l.next++ {
		if err := l.img.Apply(l.hist.Ops[l.next]); err != nil {
			return nil, err
		}
	}
	return l.img, nil
}

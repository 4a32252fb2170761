package explore

import (
	"bytes"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/target"
)

// witness knows what had been written to the journal's files at a cut: the subject's path
// and its further segments (log.jsonl, log_2.jsonl, …), or every file of the folder if the
// path is one. Others (kept tails, locks, files on their way to a rename) are not the journal.
type witness struct {
	file string
	live map[string]written
}

// written is what a file held at the cut, as a program that reads it would have seen it.
type written struct {
	data  []byte
	ends  map[int64]bool // where a whole write ended; perhaps a line does there
	sure  int64          // where a line ends for certain, though no newline does; 0 is nowhere
	good  int64          // behind it stands a tail that the recovery before left aside, and that is not cut yet
	short []trace.Op     // writes that lack their last byte, perhaps a newline
}

// logFiles are the journal's files in an image, by path.
func logFiles(img *image.Image, file string) map[string]trace.Ino {
	out := map[string]trace.Ino{}
	dir, inFolder := path.Dir(file), false
	if ino, ok := img.Lookup(file); ok {
		if info, _ := img.Stat(ino); info.Dir {
			dir, inFolder = file, true
		}
	}
	folder, ok := img.Lookup(dir)
	if !ok {
		return out
	}
	for _, e := range img.Entries(folder) {
		if !inFolder && !isSegment(path.Base(file), e.Name) {
			continue
		}
		if info, ok := img.Stat(e.Ino); ok && !info.Dir {
			out[path.Join(dir, e.Name)] = e.Ino
		}
	}
	return out
}

// isSegment reports whether name is base, or base with a number: log.jsonl, log_2.jsonl.
func isSegment(base, name string) bool {
	ext := path.Ext(base)
	number, ok := strings.CutPrefix(name, strings.TrimSuffix(base, ext)+"_")
	number, ok2 := strings.CutSuffix(number, ext)
	_, err := strconv.Atoi(number)
	return name == base || ok && ok2 && err == nil
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
		f := written{data: live.Bytes(ino), ends: map[int64]bool{}, sure: l.accepted[name], good: l.goodUpTo(name, ino, len(ops))}
		for _, op := range ops {
			if op.Kind != trace.Write || op.Ino != ino {
				continue
			}
			if len(op.Data) >= op.Len {
				f.ends[op.Off+int64(len(op.Data))] = true
			}
			if len(op.Data) > 0 && len(op.Data) == op.Len-1 {
				f.short = append(f.short, op)
			}
		}
		w.live[name] = f
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

// boundary reports whether a line may end at off: behind a newline, or where a write ended.
func (f written) boundary(off int64) bool {
	return f.lineEnds(off) || off > 0 && off <= f.good && f.ends[off]
}

// lineEnds reports whether a line ends at off for certain.
func (f written) lineEnds(off int64) bool {
	if off == 0 || off < 0 || off > f.good || off > int64(len(f.data)) {
		return off == 0
	}
	return f.data[off-1] == '\n' || off == f.sure
}

// complete reports whether a line may be whole at off: a write ends there, or only the
// newline is missing. A recovery may count it as a record, or report it as a tail.
func (f written) complete(off int64) bool {
	n := int64(len(f.data))
	switch {
	case off <= 0 || off > n || off > f.good:
		return false
	case off == n:
		return f.ends[off]
	default:
		return f.ends[off] || f.data[off] == '\n' && f.data[off-1] != '\n'
	}
}

// lacksLast reports whether data, which is as written up to same, ends with a write that lacks
// only its last byte.
func (f written) lacksLast(data []byte, same int64) bool {
	for _, op := range f.short {
		if op.Off <= same && int64(len(data)) == op.Off+int64(len(op.Data)) && bytes.Equal(data[op.Off:], op.Data) {
			return true
		}
	}
	return false
}

// look compares a crash state with what had been written.
func (w *witness) look(state *image.Image, tail target.Tail) oracle.Evidence {
	e := oracle.Evidence{Size: -1, Clean: true, Complete: true}
	about := tail.Path
	if about == "" {
		about = w.file
	}
	for name, ino := range logFiles(state, w.file) {
		info, _ := state.Stat(ino)
		f := w.live[name]
		same := commonPrefix(state, info, f.data)
		whole := same == info.Size
		if !whole || !f.lineEnds(same) {
			data := state.Bytes(ino)
			e.Clean = false
			e.Complete = e.Complete && (whole && f.complete(same) || f.lacksLast(data, same))
			e.Terminated = e.Terminated || bytes.IndexByte(data[same:], '\n') >= 0
		}
		if name == about {
			e.Size = info.Size
			e.Boundary = tail.Offset <= same && f.boundary(tail.Offset)
		}
	}
	if ino, ok := state.Lookup(about); ok {
		if info, _ := state.Stat(ino); info.Dir { // a tail of a folder says nothing about a file
			e.Size, e.Boundary = tail.Offset+tail.Length, true
		}
	}
	return e
}

// commonPrefix is how far a file is the same as want. It is read piece by piece, so that a state
// that differs in nothing costs no copy of the log.
func commonPrefix(img *image.Image, file image.Info, want []byte) int64 {
	var piece [1 << 10]byte
	end := min(file.Size, int64(len(want)))
	for at := int64(0); at < end; {
		n := img.ReadAt(file.Ino, piece[:min(end-at, int64(len(piece)))], at)
		got := piece[:n]
		if !bytes.Equal(got, want[at:at+int64(n)]) {
			for i := range got {
				if got[i] != want[at+int64(i)] {
					return at + int64(i)
				}
			}
		}
		at += int64(n)
	}
	return end
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

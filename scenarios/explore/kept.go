package explore

import (
	"bytes"
	"fmt"
	"path"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/target"
)

// tailKept holds, for a subject that says so, that the bytes of a tail which recovery reported
// are still there: in their place, or in a file of their own beside the journal. before is the
// state that was recovered, now what is on the disk after it was opened, or after a crash of
// that open.
func (j *judge) tailKept(before, now *image.Image, tail target.Tail) *oracle.Violation {
	if !j.subject.KeepsTails || tail.Length == 0 {
		return nil
	}
	name := tail.Path
	if name == "" {
		name = j.subject.File()
	}
	want := bytesAt(before, name, tail)
	if want == nil || bytes.Equal(bytesAt(now, name, tail), want) {
		return nil
	}
	logs := logFiles(now, j.subject.File())
	if folder, ok := now.Lookup(path.Dir(name)); ok {
		for _, e := range now.Entries(folder) {
			if _, isLog := logs[path.Join(path.Dir(name), e.Name)]; isLog {
				continue
			}
			if info, ok := now.Stat(e.Ino); ok && !info.Dir && bytes.Equal(now.Bytes(e.Ino), want) {
				return nil
			}
		}
	}
	return &oracle.Violation{
		Rule: "UP208", Text: "an open cut a tail that it had reported, and its bytes are nowhere",
		Want: []string{fmt.Sprintf("%d bytes of %s from %d on, in a file of their own", tail.Length, name, tail.Offset)},
		Got:  []string{"no such file"},
	}
}

// cutItsTail reports whether the open that began a life had cut the tail that was reported to
// it when the plug was pulled. Until then the tail is what it was: bytes that a crash may take.
func (l *life) cutItsTail(cut report.Cut) bool {
	if l.parent == nil || l.tail.Length == 0 {
		return false
	}
	end := min(cut.At, len(l.hist.Ops))
	if cut.Inside {
		end = min(end+1, len(l.hist.Ops))
	}
	for _, op := range l.hist.Ops[l.first:end] {
		if op.Kind == trace.Truncate && op.Path == l.tail.Path && op.Size < l.tail.Offset+l.tail.Length && op.Err == "" {
			return true
		}
	}
	return false
}

// bytesAt are the bytes of a tail in an image; nil if the file does not reach so far.
func bytesAt(img *image.Image, name string, tail target.Tail) []byte {
	ino, ok := img.Lookup(name)
	if !ok {
		return nil
	}
	info, _ := img.Stat(ino)
	if info.Dir || tail.Offset < 0 || tail.Length < 0 || tail.Offset+tail.Length > info.Size {
		return nil
	}
	data := make([]byte, tail.Length)
	img.ReadAt(ino, data, tail.Offset)
	return data
}

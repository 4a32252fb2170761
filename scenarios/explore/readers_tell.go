package explore

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/target"
)

// recoverName is how findings and repros call the subject's own Recover, the first reader.
const recoverName = "Recover"

// told is what a reader said of a log.
type told struct {
	target.Reading
	class oracle.Class
	err   string
}

// viewer lets the readers of a subject read.
type viewer struct {
	*judge
	gone bool // one of them did not return: no other is asked after it, for each would take as long
	// excused counts the readings that ended with the error of a read at an offset that gave less
	// than was asked for: they say nothing about small pieces.
	excused int
}

// readers are all ways in which the subject reads its log, Recover first.
func (j *viewer) readers() []target.Reader {
	own := target.Reader{Name: recoverName, Read: func(fsys afero.Fs, path string) (target.Reading, error) {
		r, err := j.subject.Recover(fsys, path)
		return target.Reading{Count: len(r.Records), Last: r.Records, Tail: &r.Tail}, err
	}}
	return append([]target.Reader{own}, j.subject.Readers...)
}

// tell lets a reader read.
func (j *viewer) tell(r target.Reader, fsys afero.Fs) told {
	gone := told{class: oracle.Hung, err: fmt.Sprintf("no answer in %d s", j.patience)}
	if j.gone {
		return gone
	}
	var t told
	if !within(j.patience, func() { t = j.telling(r, fsys) }) {
		j.gone = true
		return gone
	}
	return t
}

func (j *viewer) telling(r target.Reader, fsys afero.Fs) (t told) {
	defer func() {
		if p := recover(); p != nil {
			t = told{class: oracle.Panicked, err: fmt.Sprint(p)}
		}
	}()
	reading, err := r.Read(fsys, j.subject.File())
	if err != nil {
		return told{class: j.sort(err), err: err.Error()}
	}
	if t := reading.Tail; t != nil { // a copy with one spelling for "the path that was given" and "none"
		tail := target.Tail{}
		if t.Length > 0 {
			if tail = *t; tail.Path == "" {
				tail.Path = j.subject.File()
			}
		}
		reading.Tail = &tail
	}
	return told{Reading: reading}
}

// words are what was said, for a person.
func (t told) words() []string {
	if t.class != oracle.OK {
		return []string{t.class.String() + ": " + t.err}
	}
	var out []string
	if t.Count >= 0 {
		out = append(out, fmt.Sprintf("%d records", t.Count))
	}
	if t.Tail != nil {
		out = append(out, tailWord(*t.Tail))
	}
	return append(out, oracle.Words(t.Last)...)
}

func tailWord(t target.Tail) string {
	if t.Length == 0 {
		return "no tail"
	}
	return fmt.Sprintf("a tail at %d of %s, %d bytes (%s)", t.Offset, t.Path, t.Length, t.Kind)
}

// same reports whether two readings of the same bytes by the same reader say the same.
func (t told) same(other told) bool {
	if t.class != other.class {
		return false
	}
	return t.class != oracle.OK || t.Count == other.Count && equalRecords(t.Last, other.Last) && equalTails(t.Tail, other.Tail)
}

func equalRecords(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }

func equalTails(a, b *target.Tail) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// agree holds a reader against Recover, both with no fault; written are the records that were
// appended. The text is empty if they agree.
func agree(whole, t told, written [][]byte) (text string, want []string) {
	if t.class != whole.class {
		// Who looks at the end alone need not see damage in front of it, and who says nothing of
		// the records not at all: what is said must be true.
		partial := t.Count < 0 && (t.Limit > 0 || t.Last == nil)
		switch {
		case whole.class != oracle.Corrupt || t.class != oracle.OK || !partial:
			return "a reader and Recover end in different ways on the same bytes", whole.words()
		case t.Limit > 0 && len(t.Last) > t.Limit || !isRun(t.Last, written):
			return "a reader gives records of a damaged log that are not what was written there", oracle.Words(written)
		}
		return "", nil
	}
	if whole.class != oracle.OK {
		return "", nil
	}
	n := len(whole.Last)
	switch {
	case t.Count >= 0 && t.Count != n:
		return "a reader counts other records than Recover returns", []string{fmt.Sprintf("%d records", n)}
	case t.Last == nil && t.Limit == 0:
	case t.Limit > 0 && !equalRecords(t.Last, whole.Last[max(n-t.Limit, 0):]):
		return "a reader's last records are not the last ones that Recover returns", oracle.Words(whole.Last[max(n-t.Limit, 0):])
	case t.Limit == 0 && !equalRecords(t.Last, whole.Last):
		return "a reader returns other records than Recover", oracle.Words(whole.Last)
	}
	if t.Tail != nil && *t.Tail != *whole.Tail {
		return "a reader and Recover report different tails", []string{tailWord(*whole.Tail)}
	}
	return "", nil
}

// isRun reports whether some records stand in a list, one behind the other.
func isRun(part, list [][]byte) bool {
	for i := 0; i+len(part) <= len(list); i++ {
		if equalRecords(part, list[i:i+len(part)]) {
			return true
		}
	}
	return len(part) == 0
}

// faulted judges what a reader said while a read failed. plain is what it says with no fault.
func faulted(plain, t told) (text string, want []string) {
	want = append([]string{"the file system's error, or with no fault:"}, plain.words()...)
	switch {
	case t.class == oracle.Failed || t.same(plain):
		return "", nil
	case t.class == oracle.NotFound:
		return "a read that failed was answered with \"not found\"", want
	case t.class == oracle.Corrupt:
		return "a read that failed was answered with \"damaged\"", want
	case t.class != oracle.OK:
		return "a read that failed, and the reader " + t.class.String(), want
	}
	return "a read that failed was taken for an end: the reader says something else, with no error", want
}

// excuse reports whether a reading ended with the error of a read at an offset that gave less than
// was asked for. By the contract of io.ReaderAt it must have one, and a reader may pass it on.
func (j *viewer) excuse(t told, eyes *spy) bool {
	if eyes.cut == 0 || t.class != oracle.Failed {
		return false
	}
	j.excused++
	return true
}

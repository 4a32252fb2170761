package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/afero"
)

// Recover reads a journal. It takes no lock and never writes. The error is a [*CorruptError],
// [*VersionError] or [*TooLargeError], io/fs.ErrNotExist for an absent journal, or what the
// file system said.
func Recover(fsys afero.Fs, path string, opt Options) (*Recovery, error) {
	if err := opt.fill(); err != nil {
		return nil, err
	}
	return recoverWith(fsys, path, &opt, nil)
}

// Scan reads a journal as Recover does and gives every event to yield, oldest first; the event
// and its bytes are the caller's. Each event was verified up to its own line when it is given;
// an error of Scan tells that the log behind it is damaged. An error of yield ends the scan and
// is returned as it is. What is kept in the Recovery follows opt.Keep.
func Scan(fsys afero.Fs, path string, opt Options, yield func(Event) error) (*Recovery, error) {
	if err := opt.fill(); err != nil {
		return nil, err
	}
	return recoverWith(fsys, path, &opt, yield)
}

func recoverWith(fsys afero.Fs, path string, opt *Options, yield func(Event) error) (*Recovery, error) {
	s := newScan(path, opt, yield)
	n, err := countSegments(fsys, path)
	if err != nil {
		return nil, err
	}
	s.rec.Segments = n
	for k := 1; k <= n; k++ {
		f, err := fsys.Open(segmentPath(path, k))
		if err != nil {
			return nil, err
		}
		err = s.segment(f, k)
		if err = closing(f, err); err != nil {
			return nil, err
		}
	}
	return s.done(), nil
}

// closing closes a file, and prefers the error that there is already.
func closing(f io.Closer, err error) error {
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// scan is one forward reading of a log.
type scan struct {
	chain
	opt   *Options
	rec   *Recovery
	yield func(Event) error

	path     string // of the segment that is read
	number   int
	base     int64  // its first byte, from the start of segment 1
	lines    int    // accepted in it
	size     int64  // of the segment, as far as it was read
	recorded string // the last recorded_at: the events of one call share it
	vouched  int64  // the last checkpoint ends here, if nothing follows it
}

func newScan(path string, opt *Options, yield func(Event) error) *scan {
	s := &scan{opt: opt, yield: yield, rec: &Recovery{Path: path}}
	s.session, s.gate, s.vouched = opt.Session, opt.MaxVersion, -1
	return s
}

// done is the result when every segment was read.
func (s *scan) done() *Recovery {
	r := s.rec
	r.Session = s.session
	r.size = s.end
	r.Empty = s.end == 0 && r.Tail == nil
	if n := max(s.opt.Keep, 0); s.opt.Keep == KeepAll {
		r.View.Events = make([]Event, 0, len(r.Events))
		for i := range r.Events {
			r.View.fold(r.Events[i])
		}
	} else {
		r.Events = r.Events[max(len(r.Events)-n, 0):]
		r.View.Events = r.View.Events[max(len(r.View.Events)-n, 0):]
	}
	return r
}

// segment reads the file of segment k.
func (s *scan) segment(f afero.File, k int) error {
	s.path, s.number, s.base, s.lines = segmentPath(s.rec.Path, k), k, s.end, 0
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("journal: %s: %w", s.path, err)
	}
	if info.IsDir() {
		return fmt.Errorf("journal: %s is a folder: name the file of a session", s.path)
	}
	s.size = info.Size()
	if s.opt.Keep == KeepAll && s.size <= wholeFile {
		s.rec.Events = slices.Grow(s.rec.Events, int(s.size/usualLine)+1)
	}
	r := newLineReader(f, 0, s.size, s.opt.MaxLine)
	for {
		p, err := r.next()
		switch {
		case errors.Is(err, io.EOF):
			return s.segmentEnds()
		case err != nil:
			return fmt.Errorf("journal: reading %s: %w", s.path, err)
		case p.long && (p.term || !p.nul):
			return &TooLargeError{Path: s.path, Line: s.lines + 1, Offset: p.off, Max: s.opt.MaxLine}
		}
		ln, w := s.accept(p)
		if w != nil {
			return s.badPlace(r, p, w)
		}
		if err := s.accepted(&ln, p, r.keep); err != nil {
			return err
		}
	}
}

// usualLine is about the length of a short line.
const usualLine = 240

// newest reports whether the segment that is read is the last one.
func (s *scan) newest() bool { return s.number == s.rec.Segments }

// segmentEnds checks what an older segment may not be.
func (s *scan) segmentEnds() error {
	if s.lines == 0 && !s.newest() {
		return s.corrupt(0, "an empty file in front of "+segmentPath(s.rec.Path, s.number+1), true)
	}
	return nil
}

func (s *scan) corrupt(off int64, cause string, vouched bool) error {
	return &CorruptError{Path: s.path, Line: s.lines + 1, Offset: off, Cause: cause, Vouched: vouched}
}

// accepted hands a line on.
func (s *scan) accepted(ln *line, p piece, kept bool) error {
	if !p.term {
		if !s.newest() {
			return s.corrupt(p.off, "the last line has no newline, and a later file is there", true)
		}
		s.rec.Tail = &Tail{Path: s.path, Offset: p.off + p.len, Kind: TailComplete}
	}
	s.lines++
	s.rec.Lines++
	s.vouched = -1
	if !ln.checked {
		s.rec.Unchecked++
	} else {
		s.rec.Durable = ln.durable
		if string(ln.typ) == typeCheckpoint {
			s.vouched = s.end
			return nil
		}
	}
	if s.opt.Keep < 0 && s.yield == nil && ln.version <= SchemaVersion && !lasting(ln.typ) {
		s.rec.Total++ // nothing of it stays: it need not be copied
		return nil
	}
	return s.keep(s.event(ln, p.off, kept))
}

// lasting reports whether something of an event of that type stays, whatever is kept.
func lasting(typ []byte) bool {
	switch typeName(typ) {
	case TypeAITitle, TypeUserTitle, TypeFileSnapshot, TypeCompacted, TypeWorldState, TypeTurnContext:
		return true
	default:
		return hasEscape(typ)
	}
}

// event makes the event of a line. If the line's bytes stay as they are, it uses them: the
// commas around the payload's members become its braces.
func (s *scan) event(ln *line, off int64, kept bool) Event {
	e := Event{
		Type: typeName(ln.typ), SchemaVersion: ln.version, Sequence: ln.seq, SessionID: s.session,
		Segment: s.number, Offset: s.base + off, Length: len(ln.raw), Checked: ln.checked,
		Payload: ln.payload,
	}
	if string(ln.recorded) != s.recorded {
		s.recorded = string(ln.recorded)
	}
	e.RecordedAt = s.recorded
	if hasEscape(ln.typ) {
		e.Type = string(appendUnquoted(nil, ln.typ))
	}
	if hasEscape(ln.recorded) {
		e.RecordedAt = string(appendUnquoted(nil, ln.recorded))
	}
	if ln.checked && ln.from < ln.to {
		b := ln.raw[ln.from : ln.to+1]
		if !kept {
			b = append(make([]byte, 0, len(b)), b...)
		}
		b[0], b[len(b)-1] = '{', '}'
		e.Payload = slices.Clip(b)
	}
	return e
}

func hasEscape(b []byte) bool { return bytes.IndexByte(b, '\\') >= 0 }

// keep folds an event and holds it, as far as the options say.
func (s *scan) keep(e Event) error {
	r, n := s.rec, s.opt.Keep
	r.fold(e)
	if n >= 0 {
		r.Events = trim(append(r.Events, e), n)
	}
	if n != KeepAll { // else it is made in the end, of all events at once
		r.View.fold(e)
		r.View.Events = trim(r.View.Events, max(n, 1))
	}
	if s.yield != nil {
		return s.yield(e)
	}
	return nil
}

// trim holds about n events, at most twice as many; 0 is all.
func trim(events []Event, n int) []Event {
	if n == KeepAll || len(events) < 2*n {
		return events
	}
	kept := copy(events, events[len(events)-n:])
	clear(events[kept:])
	return events[:kept]
}

// badPlace decides what a bad place is: damage, or the tail that a crash left.
func (s *scan) badPlace(r *lineReader, p piece, w *wrong) error {
	if w.version > 0 {
		return &VersionError{Path: s.path, Line: s.lines + 1, Offset: p.off, Version: w.version, Max: s.gate}
	}
	if w.certain || !s.newest() {
		return s.corrupt(p.off, w.cause, true)
	}
	look := resync{chain: &s.chain, bad: s.end, base: s.base}
	torn := startsAs(p.raw, s.session)
	at := p.off
	for {
		look.look(p)
		if look.proof != "" {
			return s.corrupt(at, w.cause+"; "+look.proof, true)
		}
		if look.version != nil {
			return &VersionError{Path: s.path, Line: s.lines + 1, Offset: p.off, Version: look.version.version, Max: s.gate}
		}
		var err error
		if p, err = r.next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("journal: reading %s: %w", s.path, err)
		}
	}
	switch {
	case !look.newline: // the seeds' rule: an incomplete last line
	case s.opt.Contract == Strict:
		return s.corrupt(at, w.cause, false)
	case s.seq > 0 && !s.checked || look.foreign:
		return s.corrupt(at, w.cause+"; lines without a checksum are read by the strict rule", false)
	case s.seq == 0 && !torn:
		return s.corrupt(at, w.cause+"; the file does not begin as a journal does", false)
	}
	s.rec.Tail = &Tail{Path: s.path, Offset: at, Length: look.length, Kind: look.kind()}
	return nil
}

// startsAs reports whether b can be what a crash left of a log's first line: what is there
// of its opening is right, or NUL.
func startsAs(b []byte, session string) bool {
	want := litVersion + "1" + litSequence + "1" + litSession + session
	for i := range min(len(b), len(want)) {
		if b[i] != want[i] && b[i] != 0 {
			return false
		}
	}
	return len(b) > 0
}

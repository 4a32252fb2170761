package journal

import (
	"bytes"
	"errors"
	"io"
	"math"

	"github.com/spf13/afero"
)

// Window is some consecutive events of a log.
type Window struct {
	// Session is the log's.
	Session string
	// Events are oldest first.
	Events []Event
	// VerifiedFrom is the offset, from the start of segment 1, from which every line up to the
	// window's end was verified: 0 if the whole log was read.
	VerifiedFrom int64
	// Start: no event stands in front of the window.
	Start bool
	// Tail is the log's, if the end of the log was looked at.
	Tail *Tail
}

// Last reads the last n events without reading what stands in front of them: it takes the lines
// from the end backwards, at least to where the newest of them says that the log was on disk when
// it was written (a crash may have left a whole line behind a hole), and holds each against its
// neighbours. Where that does not tell (a torn tail, lines without a checksum, any doubt) it reads
// the whole log as Recover does, and gives the same verdict. Titles and snapshots need all events: they are in Recovery.
func Last(fsys afero.Fs, path string, n int, opt Options) (*Window, error) {
	return Before(fsys, path, math.MaxInt64, n, opt)
}

// Before reads, in the same way, the last n events in front of a sequence: older history, page by
// page, in a time that does not grow with the log. The sequence of the first event of one page
// gives the next.
func Before(fsys afero.Fs, path string, sequence int64, n int, opt Options) (*Window, error) {
	if err := opt.fill(); err != nil {
		return nil, err
	}
	count, err := countSegments(fsys, path)
	if err != nil {
		return nil, err
	}
	b := &backwards{fsys: fsys, path: path, opt: &opt, want: max(n, 0), before: sequence}
	w, err := b.read(count)
	if errors.Is(err, errDoubt) {
		return wholeWindow(fsys, path, sequence, max(n, 0), &opt)
	}
	return w, err
}

// wholeWindow is the same by a full reading.
func wholeWindow(fsys afero.Fs, path string, sequence int64, n int, opt *Options) (*Window, error) {
	w := &Window{}
	o := *opt
	o.Keep = KeepNone
	seen := 0
	rec, err := recoverWith(fsys, path, &o, func(e Event) error {
		if n > 0 && e.Sequence < sequence {
			w.Events = trim(append(w.Events, e), n)
		}
		if e.Sequence < sequence {
			seen++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	w.Events = last(w.Events, n)
	w.Session, w.Tail, w.Start = rec.Session, rec.Tail, seen == len(w.Events)
	return w, nil
}

// errDoubt: the lines near the end do not tell by themselves.
var errDoubt = errors.New("not to be told from the end alone")

// backwards is one reading from some place towards the start.
type backwards struct {
	fsys   afero.Fs
	path   string
	opt    *Options
	want   int
	before int64

	check   checker
	window  Window
	next    line  // the line behind the one that is read
	has     bool  // there is one
	done    bool  // enough events
	linked  bool  // and one more line, which the first of them follows, and nothing that a crash may have torn
	more    bool  // there is an event in front of them
	durable int64 // up to here a line that was read vouches for the log
}

// read opens the segments and takes them from the newest on.
func (b *backwards) read(count int) (*Window, error) {
	files := make([]afero.File, count)
	bases := make([]int64, count+1)
	defer func() {
		for _, f := range files {
			if f != nil {
				_ = f.Close() // only read from
			}
		}
	}()
	for k := range files {
		f, err := b.fsys.Open(segmentPath(b.path, k+1))
		if err != nil {
			return nil, err
		}
		files[k] = f
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		if info.Size() == 0 && k < count-1 || info.IsDir() {
			return nil, errDoubt
		}
		bases[k+1] = bases[k] + info.Size()
	}
	for k := count; k >= 1 && !b.linked; k-- {
		size := bases[k] - bases[k-1]
		end, err := b.find(files[k-1], size)
		if err != nil {
			return nil, err
		}
		if err := b.segment(files[k-1], k, bases[k-1], end); err != nil {
			return nil, err
		}
	}
	return b.result(bases[count])
}

// result ends the reading: events were gathered newest first.
func (b *backwards) result(size int64) (*Window, error) {
	w := &b.window
	for i, j := 0, len(w.Events)-1; i < j; i, j = i+1, j-1 {
		w.Events[i], w.Events[j] = w.Events[j], w.Events[i]
	}
	switch {
	case !b.has && size > 0 && b.before > 1:
		return nil, errDoubt
	case b.has && b.next.seq == 1 && b.next.prev != 0:
		return nil, errDoubt // lines without a checksum were in front of it
	case b.has && (b.next.seq == 1) != (w.VerifiedFrom == 0):
		return nil, errDoubt
	}
	w.Start = !b.more && (!b.has || b.next.seq == 1)
	return w, nil
}

// find gives where the lines in front of b.before end in a file.
func (b *backwards) find(f io.ReaderAt, size int64) (int64, error) {
	if b.before == math.MaxInt64 || b.has {
		return size, nil
	}
	lo, hi := int64(0), size // a line begins at lo; that at hi, and all behind it, are not wanted
	for hi-lo > chunk {
		mid := lo + (hi-lo)/2
		at, ln, err := b.lineBehind(f, mid, hi)
		switch {
		case err != nil:
			return 0, err
		case at >= hi || ln.seq >= b.before:
			if hi = mid; at < mid {
				hi = at
			}
		default:
			lo = at
		}
	}
	r := newLineReader(f, lo, min(size, hi+chunk), b.opt.MaxLine)
	for {
		p, err := r.next()
		if errors.Is(err, io.EOF) {
			return size, nil
		}
		if err != nil {
			return 0, err
		}
		ln, cause := b.check.verify(p.raw)
		if cause != "" || p.long {
			return 0, errDoubt
		}
		if ln.seq >= b.before {
			return p.off, nil
		}
	}
}

// lineBehind gives the first line that begins behind an offset, or hi.
func (b *backwards) lineBehind(f io.ReaderAt, mid, hi int64) (int64, line, error) {
	r := newLineReader(f, mid, mid+4096, b.opt.MaxLine)
	if _, err := r.next(); err != nil { // the rest of the line that mid is in
		return hi, line{}, errDoubt
	}
	p, err := r.next()
	if errors.Is(err, io.EOF) || err == nil && p.off >= hi {
		return hi, line{}, nil
	}
	if err != nil {
		return hi, line{}, err
	}
	ln, cause := b.check.verify(p.raw)
	if cause != "" || p.long {
		return hi, line{}, errDoubt
	}
	return p.off, ln, nil
}

// segment takes the lines of a file that end at end or in front of it.
func (b *backwards) segment(f io.ReaderAt, k int, base, end int64) error {
	s := newScan(b.path, b.opt, nil)
	s.number, s.base = k, base
	r := backReader{f: f, start: end, max: b.opt.MaxLine}
	for !b.linked {
		raw, off, err := r.prev()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		ln, cause := b.check.verify(raw)
		if cause != "" || !b.fits(&ln, base+off) {
			return errDoubt
		}
		b.next, b.has = line{seq: ln.seq, prev: ln.prev, checked: true}, true
		b.window.VerifiedFrom = base + off
		s.session = b.window.Session
		b.durable = max(b.durable, ln.durable)
		b.linked = b.done && base+off <= b.durable
		event := string(ln.typ) != typeCheckpoint
		if event && len(b.window.Events) < b.want {
			b.window.Events = append(b.window.Events, s.event(&ln, off, false))
		} else {
			b.more = b.more || event
		}
		b.done = len(b.window.Events) >= b.want
	}
	return nil
}

// fits holds a line against the one behind it.
func (b *backwards) fits(ln *line, off int64) bool {
	if b.window.Session == "" {
		if b.window.Session = string(ln.session); b.opt.Session != "" && b.opt.Session != b.window.Session {
			return false
		}
	}
	switch {
	case string(ln.session) != b.window.Session,
		b.opt.MaxVersion > 0 && ln.version > b.opt.MaxVersion,
		ln.durable > off,
		string(ln.typ) == typeCheckpoint && ln.durable != off,
		b.has && (b.next.seq != ln.seq+1 || b.next.prev != ln.crc):
		return false
	default:
		return true
	}
}

// backReader gives the lines of a file from some end towards the start.
type backReader struct {
	f     io.ReaderAt
	buf   []byte // what is not given yet, from start on
	start int64
	max   int
}

// prev gives the line that ends where the one that was given last begins. It is valid until the
// next call.
func (r *backReader) prev() (raw []byte, off int64, err error) {
	for scanned := 0; ; {
		if n := len(r.buf); n > 0 {
			if r.buf[n-1] != '\n' {
				return nil, 0, errDoubt
			}
			i := bytes.LastIndexByte(r.buf[:n-1-scanned], '\n')
			if i >= 0 || r.start == 0 {
				raw, off = r.buf[i+1:n-1], r.start+int64(i+1)
				r.buf = r.buf[:i+1]
				return raw, off, nil
			}
			if scanned = n - 1; scanned > r.max {
				return nil, 0, errDoubt
			}
		} else if r.start == 0 {
			return nil, 0, io.EOF
		}
		if err := r.more(); err != nil {
			return nil, 0, err
		}
	}
}

// more reads what stands in front.
func (r *backReader) more() error {
	n := int(min(r.start, int64(max(64<<10, len(r.buf)))))
	buf := make([]byte, n+len(r.buf))
	switch got, err := (fully{r.f}).ReadAt(buf[:n], r.start-int64(n)); {
	case got < n && errors.Is(err, io.EOF):
		return errDoubt // somebody cut the file meanwhile
	case got < n:
		return err
	}
	copy(buf[n:], r.buf)
	r.buf, r.start = buf, r.start-int64(n)
	return nil
}

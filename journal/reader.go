package journal

import (
	"bytes"
	"errors"
	"io"
)

const (
	// wholeFile is up to what size a file is read into one buffer, which the events then keep.
	wholeFile = 256 << 10
	// chunk is how much is read at a time from larger ones.
	chunk = 256 << 10
	// emptyReads is after how many reads that give nothing the file counts as unreadable.
	emptyReads = 100
)

// fully reads on where a file system gives less than it was asked for. Package os never does, but
// others stop early and say io.ErrUnexpectedEOF, although the file goes on: what they gave is kept,
// and the rest is asked for. Where the file ends, the error is io.EOF; any other error of a read
// that gave nothing is passed on.
type fully struct{ io.ReaderAt }

// ReadAt fills b from off on.
func (f fully) ReadAt(b []byte, off int64) (n int, err error) {
	for empty := 0; n < len(b); {
		k, err := f.ReaderAt.ReadAt(b[n:], off+int64(n))
		n += k
		switch {
		case k > 0 && (err == nil || errors.Is(err, io.ErrUnexpectedEOF)):
			empty = 0
		case err != nil:
			return n, err
		default:
			if empty++; empty >= emptyReads {
				return n, io.ErrNoProgress
			}
		}
	}
	return n, nil
}

// piece is what stands between two newlines, or behind the last one.
type piece struct {
	raw  []byte // without the newline; valid until the next call, unless the reader keeps
	off  int64  // in the file
	len  int64  // also of a piece that is too long to be held
	term bool   // a newline ends it
	long bool   // longer than the limit: raw is only its beginning
	nul  bool   // there is nothing but NUL bytes in it
}

// lineReader gives the pieces of a file in order. Only 0x0A ends one.
type lineReader struct {
	f          fully
	max        int
	keep       bool // bytes that were given stay as they are
	buf        []byte
	start, end int   // unread bytes in buf
	off        int64 // in the file, of buf[start]
	eof        bool
}

// newLineReader reads f, of about size bytes, from off on.
func newLineReader(f io.ReaderAt, off, size int64, limit int) *lineReader {
	r := &lineReader{f: fully{f}, max: limit, off: off, keep: size-off <= wholeFile}
	n := int64(chunk)
	if r.keep {
		n = max(size-off, 0) + 1 // one more, so that one read sees the end
	}
	r.buf = make([]byte, n)
	return r
}

// next gives the next piece, or io.EOF.
func (r *lineReader) next() (piece, error) {
	scanned := 0
	for {
		if i := bytes.IndexByte(r.buf[r.start+scanned:r.end], '\n'); i >= 0 {
			return r.take(scanned+i, true), nil
		}
		scanned = r.end - r.start
		if scanned > r.max {
			return r.tooLong()
		}
		if r.eof {
			if scanned == 0 {
				return piece{}, io.EOF
			}
			return r.take(scanned, false), nil
		}
		if err := r.fill(); err != nil {
			return piece{}, err
		}
	}
}

// take gives the next n bytes as a piece, and passes its newline.
func (r *lineReader) take(n int, term bool) piece {
	p := piece{raw: r.buf[r.start : r.start+n : r.start+n], off: r.off, len: int64(n), term: term, long: n > r.max}
	p.nul = allNUL(p.raw)
	if term {
		n++
	}
	r.start += n
	r.off += int64(n)
	return p
}

// allNUL looks at the first byte before the rest: nearly always that is the answer.
func allNUL(b []byte) bool {
	for _, ch := range b {
		if ch != 0 {
			return false
		}
	}
	return true
}

// tooLong passes a piece without holding it.
func (r *lineReader) tooLong() (piece, error) {
	head := bytes.Clone(r.buf[r.start : r.start+min(r.end-r.start, chunk)])
	p := piece{raw: head, off: r.off, long: true, nul: true}
	for {
		i := bytes.IndexByte(r.buf[r.start:r.end], '\n')
		n := r.end - r.start
		if i >= 0 {
			n, p.term = i, true
		}
		p.nul = p.nul && allNUL(r.buf[r.start:r.start+n])
		p.len += int64(n)
		r.start += n
		r.off += int64(n)
		if p.term {
			r.start++
			r.off++
			return p, nil
		}
		if r.eof {
			return p, nil
		}
		if err := r.fill(); err != nil {
			return p, err
		}
	}
}

// fill reads more, behind what is unread.
func (r *lineReader) fill() error {
	if r.end == len(r.buf) {
		r.room()
	}
	n, err := r.f.ReadAt(r.buf[r.end:], r.off+int64(r.end-r.start))
	r.end += n
	if errors.Is(err, io.EOF) {
		r.eof = true
		return nil
	}
	return err
}

// room makes room behind the unread bytes: it moves them to the front, or to a larger buffer.
func (r *lineReader) room() {
	unread := r.buf[r.start:r.end]
	to := r.buf
	switch {
	case len(unread) > len(r.buf)/2:
		to = make([]byte, 2*len(r.buf))
	case r.keep:
		to = make([]byte, max(len(r.buf), chunk))
	}
	r.end = copy(to, unread)
	r.start, r.buf = 0, to
}

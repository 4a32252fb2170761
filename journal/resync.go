package journal

import (
	"bytes"
	"fmt"
)

// resync looks, from the first bad place on, for lines that prove that no crash left it.
//
// Three things prove it. A line that verifies by itself and whose durable lies behind the bad
// place vouches for the bytes there. A line that verifies by itself and stands where no writer
// can have put it, with a sequence that is used up, was moved. A line of another session, or one behind the
// version gate, is an error wherever it stands.
type resync struct {
	chain *chain
	bad   int64 // the bad place, from the start of segment 1
	base  int64 // the segment's first byte, the same way

	proof   string // why it is damage; empty while nothing proves it
	version *wrong // a line behind the version gate
	foreign bool   // lines of another writer follow
	newline bool   // a newline stands at or behind the bad place
	nul     bool   // there is nothing but NUL bytes
	length  int64
}

// look takes the pieces from the bad place on.
func (r *resync) look(p piece) {
	if r.length == 0 {
		r.nul = true
	}
	r.nul = r.nul && p.nul && !p.term
	r.newline = r.newline || p.term
	r.length += p.len
	if p.term {
		r.length++
	}
	if p.long || p.nul {
		return
	}
	off := r.base + p.off
	for from := 0; from < len(p.raw) && r.proof == ""; {
		r.candidate(p.raw[from:], off+int64(from), from == 0)
		next := bytes.Index(p.raw[from+1:], []byte(litVersion))
		if next < 0 {
			return
		}
		from += 1 + next
	}
}

// candidate looks at bytes that may be a line, up to a newline or the end of the file.
func (r *resync) candidate(raw []byte, off int64, first bool) {
	c := r.chain
	raw = bytes.TrimSuffix(raw, []byte{'\r'}) // another program may have put one into every line
	if !signed(raw) {
		if first && off != r.bad && !c.checked {
			_, cause := c.check.read(raw)
			r.foreign = r.foreign || cause == ""
		}
		return
	}
	ln, cause := c.check.verify(raw)
	if cause != "" {
		return
	}
	if c.session != "" && string(ln.session) != c.session {
		if first {
			r.proof = fmt.Sprintf("byte %d begins a line of session %q", off-r.base, ln.session)
		}
		return
	}
	switch {
	case ln.durable > r.bad:
		r.proof = fmt.Sprintf("the line with sequence %d vouches for it", ln.seq)
	case !first:
	case c.gate > 0 && ln.version > c.gate:
		r.version = &wrong{version: ln.version}
	case ln.seq <= c.seq+1:
		r.proof = fmt.Sprintf("the line with sequence %d is whole, and not where it was written", ln.seq)
	}
}

// kind names what the bytes from the bad place on look like.
func (r *resync) kind() TailKind {
	switch {
	case r.nul:
		return TailNUL
	case r.newline:
		return TailTerminated
	default:
		return TailUnterminated
	}
}

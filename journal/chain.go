package journal

import (
	"fmt"
	"hash/crc32"
)

// chain holds each line against the ones before it.
type chain struct {
	check   checker
	session string // empty until known
	seq     int64  // of the last accepted line
	prev    uint32 // checksum of the last checked line; before one, of all bytes
	checked bool   // a checked line was accepted
	fields  fields // of the last unchecked line
	end     int64  // where the accepted lines end, from the start of segment 1
	gate    int    // newest version that is accepted; 0 is any
}

// wrong is why a line was not accepted.
type wrong struct {
	cause   string
	version int  // not 0: the line is whole, and its version is behind the gate
	certain bool // no crash leaves this, wherever it stands
}

// accept takes the piece that begins at c.end as the next line.
func (c *chain) accept(p piece) (line, *wrong) {
	var ln line
	var cause string
	if signed(p.raw) {
		ln, cause = c.check.verify(p.raw)
	} else if ln, cause = c.check.read(p.raw); cause == "" && c.checked {
		// No crash makes an object that is whole out of a line that ends with its checksum.
		return ln, &wrong{cause: "a line without a checksum behind lines that have one: another program wrote here", certain: true}
	} else if cause != "" && c.check.bad == "" && !c.checked {
		return ln, &wrong{cause: explain(p, cause), certain: true} // it is JSON, so no crash cut it
	}
	if cause != "" {
		return ln, &wrong{cause: explain(p, cause)}
	}
	if w := c.follows(&ln); w != nil {
		return ln, w
	}
	c.take(&ln, p)
	return ln, nil
}

// explain prefers what is plain to see in the bytes.
func explain(p piece, cause string) string {
	switch {
	case len(p.raw) == 0:
		return "an empty line"
	case p.nul:
		return "nothing but NUL bytes"
	case p.raw[0] == 0xef && len(p.raw) > 2 && p.raw[1] == 0xbb && p.raw[2] == 0xbf:
		return "a byte order mark: the file was rewritten by another program"
	case p.raw[len(p.raw)-1] == '\r':
		return "a carriage return in front of the newline: the file was rewritten by another program"
	default:
		return cause
	}
}

// follows holds a line that is whole against the chain.
func (c *chain) follows(ln *line) *wrong {
	if !ln.checked {
		if ln.fields&hasSequence == 0 {
			ln.seq = c.seq + 1
		}
		if missing := c.fields &^ ln.fields; missing != 0 {
			return &wrong{cause: "a member of the envelope that the lines before have is missing or misspelt", certain: true}
		}
	}
	switch {
	case len(ln.session) > 0 && c.session != "" && string(ln.session) != c.session:
		return &wrong{cause: fmt.Sprintf("a line of session %q in the log of %q", ln.session, c.session), certain: true}
	case c.gate > 0 && ln.version > c.gate:
		return &wrong{cause: "a newer version", version: ln.version, certain: true}
	case ln.seq != c.seq+1:
		return &wrong{cause: fmt.Sprintf("sequence %d where %d was due", ln.seq, c.seq+1), certain: true}
	case !ln.checked:
		return nil
	case ln.prev != c.prev:
		return &wrong{cause: "prev is not the checksum of what stands in front of the line", certain: true}
	case ln.durable > c.end:
		return &wrong{cause: "durable lies behind the line's own offset", certain: true}
	case string(ln.typ) == typeCheckpoint && ln.durable != c.end:
		return &wrong{cause: "a checkpoint that does not vouch up to its own offset", certain: true}
	default:
		return nil
	}
}

// take moves the chain past an accepted line.
func (c *chain) take(ln *line, p piece) {
	if c.session == "" && len(ln.session) > 0 {
		c.session = string(ln.session)
	}
	c.seq = ln.seq
	c.end += p.len
	if p.term {
		c.end++
	}
	if ln.checked {
		c.checked, c.prev = true, ln.crc
		return
	}
	c.fields = ln.fields
	c.prev = crc32.Update(c.prev, table(), p.raw)
	c.prev = crc32.Update(c.prev, table(), []byte{'\n'})
}

package journal

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"
)

// line is one line taken apart. Its slices lie in the bytes that were read.
type line struct {
	raw      []byte
	version  int
	seq      int64
	session  []byte
	recorded []byte
	typ      []byte // the inside of a JSON string
	from, to int    // the payload's members in raw, from the comma in front of them
	durable  int64
	prev     uint32
	crc      uint32
	checked  bool
	fields   fields // of an unchecked line
	payload  []byte // of an unchecked line: its members gathered
}

// fields are the envelope's members that an unchecked line has.
type fields uint8

const (
	hasVersion fields = 1 << iota
	hasSequence
	hasSession
	hasEventID
	hasRecorded
)

// signed reports whether raw ends as a checked line does.
func signed(raw []byte) bool {
	n := len(raw) - crcLen
	return n > 0 && string(raw[n:n+len(`,"crc":"`)]) == `,"crc":"` && string(raw[len(raw)-2:]) == litEnd
}

// verify takes a checked line apart: everything that the line can say for itself. The cause is
// empty if it holds.
func (c *checker) verify(raw []byte) (ln line, cause string) {
	if !signed(raw) {
		return ln, "the line does not end with a checksum"
	}
	n := len(raw) - crcLen
	crc, ok := parseHex(raw[n+len(`,"crc":"`) : len(raw)-2])
	if !ok || crc != crcOf(raw[:n]) {
		return ln, "the checksum does not fit the line"
	}
	ln = line{raw: raw, crc: crc, checked: true, to: n}
	if !ln.head(c) || !ln.foot() {
		return ln, "the checksum fits, and the envelope is not one that this format has"
	}
	if ln.from == ln.to {
		return ln, ""
	}
	if raw[ln.from] != ',' || !c.members(raw[ln.from+1:ln.to]) {
		return ln, "the checksum fits, and the line is not JSON: " + c.bad
	}
	return ln, ""
}

// head reads the envelope up to the type, and sets from.
func (l *line) head(c *checker) bool {
	b := l.raw[:l.to]
	version, rest, ok := number(b, litVersion)
	if !ok || version < 1 || version > math.MaxInt32 {
		return false
	}
	l.version = int(version)
	before := rest
	if l.seq, rest, ok = number(rest, litSequence); !ok || l.seq < 1 {
		return false
	}
	digits := before[len(litSequence) : len(before)-len(rest)]
	if l.session, rest, ok = plain(rest, litSession); !ok || len(l.session) == 0 {
		return false
	}
	id, rest, ok := plain(rest, litEventID)
	if !ok || len(id) != len(l.session)+1+len(digits) || !bytes.HasPrefix(id, l.session) ||
		id[len(l.session)] != ':' || !bytes.HasSuffix(id, digits) {
		return false
	}
	if l.recorded, rest, ok = plain(rest, litRecorded); !ok {
		return false
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(litType)); !ok || len(rest) == 0 || rest[0] != '"' {
		return false
	}
	if c.reset(rest); !c.str() || c.i == 2 {
		return false
	}
	l.typ = rest[1 : c.i-1]
	l.from = l.to - len(rest) + c.i
	return true
}

// number reads a literal and the number behind it, without sign or leading zeros.
func number(b []byte, lit string) (v int64, rest []byte, ok bool) {
	if rest, ok = bytes.CutPrefix(b, []byte(lit)); !ok {
		return 0, b, false
	}
	n := digits(rest, 0)
	if n == 0 || n > 19 || rest[0] == '0' && n > 1 {
		return 0, b, false
	}
	for _, ch := range rest[:n] {
		d := int64(ch - '0')
		if v > (math.MaxInt64-d)/10 {
			return 0, b, false
		}
		v = v*10 + d
	}
	return v, rest[n:], true
}

// plain reads a literal that opens a string, and the string, which must not need escapes. The
// closing quote is left to the literal that follows.
func plain(b []byte, lit string) (text, rest []byte, ok bool) {
	if rest, ok = bytes.CutPrefix(b, []byte(lit)); !ok {
		return nil, b, false
	}
	end := bytes.IndexByte(rest, '"')
	if end < 0 || !plainText(rest[:end]) {
		return nil, b, false
	}
	return rest[:end], rest[end:], true
}

// plainText reports whether text can stand in a JSON string as it is.
func plainText(b []byte) bool {
	ascii := true
	for _, ch := range b {
		if ch < 0x20 || ch == '"' || ch == '\\' {
			return false
		}
		ascii = ascii && ch < utf8.RuneSelf
	}
	return ascii || utf8.Valid(b)
}

// foot reads durable and prev from the end, and moves to to where the members end.
func (l *line) foot() bool {
	b := l.raw[:l.to]
	const prevLen = len(litPrev) + 8 + 1
	n := len(b) - prevLen
	if n < l.from || string(b[n:n+len(litPrev)]) != litPrev || b[len(b)-1] != '"' {
		return false
	}
	prev, ok := parseHex(b[n+len(litPrev) : len(b)-1])
	if !ok {
		return false
	}
	l.prev = prev
	i := n
	for i > l.from && b[i-1] >= '0' && b[i-1] <= '9' {
		i--
	}
	i -= len(litDurable)
	if i < l.from {
		return false
	}
	durable, rest, ok := number(b[i:n], litDurable)
	l.durable, l.to = durable, i
	return ok && len(rest) == 0
}

// read takes a line of another writer apart: a JSON object with a type, whose envelope may lack
// members and has no checksum.
func (c *checker) read(raw []byte) (ln line, cause string) {
	if !c.object(raw) {
		return ln, c.bad
	}
	if raw[len(raw)-1] == '\r' {
		return ln, "a carriage return in front of the newline"
	}
	ln = line{raw: raw, version: 1}
	var sequence, id []byte
	ln.payload = append(make([]byte, 0, len(raw)), '{')
	eachMember(raw, func(m member) bool {
		key := m.key
		if bytes.IndexByte(key, '\\') >= 0 {
			key = appendUnquoted(nil, key)
		}
		switch string(key) {
		case "schema_version":
			v, rest, ok := number(m.value, "")
			if !ok || len(rest) > 0 || v < 1 || v > math.MaxInt32 {
				cause = "schema_version is not a version"
			}
			ln.version, ln.fields = int(v), ln.fields|hasVersion
		case "sequence":
			sequence, ln.fields = m.value, ln.fields|hasSequence
		case "session_id":
			ln.session, ln.fields = inside(m.value), ln.fields|hasSession
		case "event_id":
			id, ln.fields = m.value, ln.fields|hasEventID
		case "recorded_at":
			ln.recorded, ln.fields = inside(m.value), ln.fields|hasRecorded
		case "type":
			ln.typ = inside(m.value)
		default:
			if reserved(key) {
				cause = "a member of the envelope is misspelt, or is a checksum that is not in its place: " + strconv.Quote(string(key))
			}
			ln.gather(m)
		}
		return cause == ""
	})
	ln.payload = append(ln.payload, '}')
	if cause == "" {
		cause = ln.complete(sequence, id)
	}
	return ln, cause
}

// inside is the text of a string value, nil if it is none.
func inside(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	return value[1 : len(value)-1]
}

// gather adds a member to the payload of an unchecked line, as it stands there.
func (l *line) gather(m member) {
	if len(l.payload) > 1 {
		l.payload = append(l.payload, ',')
	}
	l.payload = append(l.payload, '"')
	l.payload = append(l.payload, m.key...)
	l.payload = append(l.payload, '"', ':')
	l.payload = append(l.payload, m.value...)
}

// complete checks the envelope of an unchecked line, as far as it is there.
func (l *line) complete(sequence, id []byte) string {
	if len(l.typ) == 0 {
		return "the line has no type"
	}
	if l.fields&hasSequence != 0 {
		v, rest, ok := number(sequence, "")
		if !ok || len(rest) > 0 || v < 1 {
			return "sequence is not a line's number"
		}
		l.seq = v
	}
	if l.fields&hasSession != 0 && len(l.session) == 0 {
		return "session_id is not a name"
	}
	if l.fields&hasRecorded != 0 && l.recorded == nil {
		return "recorded_at is not a string"
	}
	if l.fields&hasEventID != 0 && l.fields&(hasSequence|hasSession) == hasSequence|hasSession {
		want := `"transcript:` + string(l.session) + ":" + strconv.FormatInt(l.seq, 10) + `"`
		if string(id) != want {
			return "event_id is not transcript:<session_id>:<sequence>"
		}
	}
	return ""
}

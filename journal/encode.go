package journal

import (
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// The literal parts of a checked line, in their order.
const (
	litVersion  = `{"schema_version":`
	litSequence = `,"sequence":`
	litSession  = `,"session_id":"`
	litEventID  = `","event_id":"transcript:`
	litRecorded = `","recorded_at":"`
	litType     = `","type":`
	litDurable  = `,"durable":`
	litPrev     = `,"prev":"`
	litCRC      = `","crc":"`
	litEnd      = `"}`

	// crcLen is the length of the last member, from its comma on, and the closing brace.
	crcLen = len(`,"crc":"`) + 8 + len(litEnd)
)

// table is CRC-32C's; the standard library makes it once.
func table() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func crcOf(b []byte) uint32 { return crc32.Checksum(b, table()) }

// reserved reports whether a member of the payload would be taken for one of the line's own,
// spelt right or not.
func reserved(name []byte) bool {
	if len(name) < len("crc") || len(name) > len("schema_version") {
		return false
	}
	for _, own := range [...]string{"schema_version", "sequence", "session_id", "event_id", "recorded_at", "type", "durable", "prev", "crc"} {
		if len(name) == len(own) && strings.EqualFold(string(name), own) {
			return true
		}
	}
	return false
}

// checkType refuses the types that no event can have.
func checkType(typ string) error {
	switch {
	case typ == "":
		return fmt.Errorf("%w: it has no type", ErrEvent)
	case typ == typeCheckpoint:
		return fmt.Errorf("%w: lines of type %q belong to the journal itself: use Checkpoint", ErrEvent, typ)
	case !utf8.ValidString(typ):
		return fmt.Errorf("%w: type %q is not UTF-8", ErrEvent, typ)
	default:
		return nil
	}
}

// appendMembers copies the members of e's payload, without braces and white space, or says
// why the event cannot be appended.
func appendMembers(dst []byte, e *Event, c *checker) ([]byte, error) {
	if e.err != nil {
		return dst, e.err
	}
	if err := checkType(e.Type); err != nil {
		return dst, err
	}
	if len(e.Payload) == 0 || string(e.Payload) == "{}" {
		return dst, nil
	}
	c.own = nil
	switch {
	case c.payload(e.Payload):
	case c.own != nil:
		return dst, fmt.Errorf("%w: payload of %s has a member %q, which is the line's own: name it otherwise", ErrEvent, e.Type, c.own)
	default:
		return dst, fmt.Errorf("%w: payload of %s, byte %d: %s", ErrEvent, e.Type, c.i, c.bad)
	}
	payload := e.Payload
	if c.spaces {
		payload = compact(make([]byte, 0, len(payload)), payload)
	}
	return append(dst, payload[1:len(payload)-1]...), nil
}

// envelope is what the writer puts around an event's members.
type envelope struct {
	session string // needs no escapes
	now     time.Time
	seq     int64
	durable int64
	prev    uint32
}

// appendLine writes one line, newline and all, and gives its checksum.
func appendLine(dst []byte, v envelope, typ string, members []byte) ([]byte, uint32) {
	from := len(dst)
	dst = append(dst, litVersion...)
	dst = strconv.AppendInt(dst, SchemaVersion, 10)
	dst = append(dst, litSequence...)
	dst = strconv.AppendInt(dst, v.seq, 10)
	dst = append(dst, litSession...)
	dst = append(dst, v.session...)
	dst = append(dst, litEventID...)
	dst = append(dst, v.session...)
	dst = append(dst, ':')
	dst = strconv.AppendInt(dst, v.seq, 10)
	dst = append(dst, litRecorded...)
	dst = v.now.UTC().AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, litType...)
	dst, _ = appendQuoted(dst, typ) // it was checked when the event was taken
	if len(members) > 0 {
		dst = append(dst, ',')
		dst = append(dst, members...)
	}
	dst = append(dst, litDurable...)
	dst = strconv.AppendInt(dst, v.durable, 10)
	dst = append(dst, litPrev...)
	dst = appendHex(dst, v.prev)
	dst = append(dst, '"')
	crc := crcOf(dst[from:])
	dst = append(dst, litCRC[1:]...)
	dst = appendHex(dst, crc)
	return append(dst, litEnd+"\n"...), crc
}

// appendHex writes eight lower-case digits.
func appendHex(dst []byte, v uint32) []byte {
	for shift := 28; shift >= 0; shift -= 4 {
		dst = append(dst, hexDigits[v>>shift&15])
	}
	return dst
}

// parseHex reads what appendHex wrote, and nothing else.
func parseHex(b []byte) (uint32, bool) {
	var v uint32
	for _, ch := range b {
		switch {
		case ch >= '0' && ch <= '9':
			v = v<<4 | uint32(ch-'0')
		case ch >= 'a' && ch <= 'f':
			v = v<<4 | uint32(ch-'a'+10)
		default:
			return 0, false
		}
	}
	return v, len(b) == 8
}

package faultfs

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
)

// Damage is one thing that goes wrong with bytes that were durable. Offsets count from the end
// of the content when negative, lines from 1.
type Damage struct {
	Kind DamageKind
	// Off is a byte offset (flip, nul, delete, badutf8, splice, truncate) or a line number
	// (duplicate, dropline, swap, repeat).
	Off int64
	// Len is a number of bytes (nul, delete, splice) or the second line (swap, repeat).
	Len int64
	// Text is what splice puts in.
	Text string
	// Bit is the bit that flip inverts, 0 the lowest, 7 the highest.
	Bit uint8
}

// DamageKind is the word of a damage in a plan.
type DamageKind string

// The kinds of damage.
const (
	Flip      DamageKind = "flip"      // invert a bit: flip 120.3
	Nul       DamageKind = "nul"       // overwrite with zeros: nul 120 16
	Delete    DamageKind = "delete"    // take bytes out, the rest moves up: delete 120 16
	Duplicate DamageKind = "duplicate" // put a line in a second time behind itself: duplicate 3
	Swap      DamageKind = "swap"      // exchange two lines: swap 3 4
	BOM       DamageKind = "bom"       // put a UTF-8 byte order mark in front
	CRLF      DamageKind = "crlf"      // end every line with CR LF
	BadUTF8   DamageKind = "badutf8"   // overwrite a byte with 0xFF: badutf8 120
	DropLine  DamageKind = "dropline"  // take a line out: dropline 3
	Repeat    DamageKind = "repeat"    // put a copy of a line in front of another, or behind the last: repeat 3 7
	Truncate  DamageKind = "truncate"  // take away everything from a byte on: truncate 120
	Again     DamageKind = "again"     // put the whole content in once more behind itself
	Splice    DamageKind = "splice"    // put bytes in place of others, of any number: splice 120 1 "\\ud800"
)

// DamageKinds are all kinds.
func DamageKinds() []DamageKind {
	return []DamageKind{Flip, Nul, Delete, Duplicate, Swap, BOM, CRLF, BadUTF8, DropLine, Repeat, Truncate, Again, Splice}
}

// String is the damage as plans spell it.
func (d Damage) String() string {
	s := string(d.Kind)
	switch d.Kind {
	case Flip:
		return s + " " + strconv.FormatInt(d.Off, 10) + "." + strconv.Itoa(int(d.Bit))
	case Nul, Delete, Swap, Repeat, Splice:
		s += " " + strconv.FormatInt(d.Off, 10) + " " + strconv.FormatInt(d.Len, 10)
		if d.Kind == Splice {
			s += " " + strconv.Quote(d.Text)
		}
		return s
	case Duplicate, DropLine, BadUTF8, Truncate:
		return s + " " + strconv.FormatInt(d.Off, 10)
	default:
		return s
	}
}

// Apply gives the damaged content; b itself stays as it is. The error says why b cannot be
// damaged so: an offset or a line that it does not have, or damage that changes nothing.
func (d Damage) Apply(b []byte) ([]byte, error) {
	out, err := d.apply(slices.Clone(b))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d, err)
	}
	if bytes.Equal(out, b) {
		return nil, fmt.Errorf("%s: it changes nothing, the content is like that already", d)
	}
	return out, nil
}

func (d Damage) apply(b []byte) ([]byte, error) {
	switch d.Kind {
	case BOM:
		return append([]byte("\xef\xbb\xbf"), b...), nil
	case CRLF:
		return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")), nil
	case Again:
		return append(b, b...), nil
	case Duplicate, DropLine, Swap, Repeat:
		return d.applyLines(b)
	case Flip, Nul, Delete, BadUTF8, Splice, Truncate:
		return d.applyBytes(b)
	default:
		return nil, fmt.Errorf("unknown damage, want one of %s", words(DamageKinds()))
	}
}

func (d Damage) applyBytes(b []byte) ([]byte, error) {
	off, n, least := d.Off, int64(1), int64(1)
	switch d.Kind {
	case Nul, Delete:
		n = d.Len
	case Splice:
		n, least = d.Len, 0 // nothing has to give way
	default:
	}
	if off < 0 {
		off += int64(len(b))
	}
	if off < 0 || n < least || n > int64(len(b)) || off > int64(len(b))-n {
		return nil, fmt.Errorf("the content has %d bytes", len(b))
	}
	part := b[off : off+n]
	switch d.Kind {
	case Flip:
		if d.Bit > 7 {
			return nil, fmt.Errorf("bit %d: a byte has bits 0 to 7", d.Bit)
		}
		part[0] ^= 1 << d.Bit
	case BadUTF8:
		part[0] = 0xff
	case Delete:
		return slices.Delete(b, int(off), int(off+n)), nil
	case Truncate:
		return b[:off], nil
	case Splice:
		return slices.Replace(b, int(off), int(off+n), []byte(d.Text)...), nil
	default:
		clear(part)
	}
	return b, nil
}

func (d Damage) applyLines(b []byte) ([]byte, error) {
	lines := bytes.SplitAfter(b, []byte("\n"))
	if last := len(lines) - 1; len(lines[last]) == 0 {
		lines = lines[:last]
	}
	i, j, n := d.Off-1, d.Len-1, int64(len(lines))
	switch d.Kind {
	case Duplicate, DropLine:
		j = i
	case Repeat:
		n++ // the place behind the last line
	default:
	}
	if i < 0 || j < 0 || i >= int64(len(lines)) || j >= n {
		return nil, fmt.Errorf("the content has %d lines", len(lines))
	}
	switch d.Kind {
	case Duplicate, Repeat:
		lines = slices.Insert(lines, int(j), lines[i])
	case DropLine:
		lines = slices.Delete(lines, int(i), int(i+1))
	default:
		lines[i], lines[j] = lines[j], lines[i]
	}
	return bytes.Join(lines, nil), nil
}

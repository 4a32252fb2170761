package journal

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// slowLines is the obvious reader: a byte at a time, a piece at every newline and at the end.
func slowLines(data []byte, limit int) []piece {
	var out []piece
	var line []byte
	off, nul := int64(0), true
	flush := func(at int, term bool) {
		out = append(out, piece{raw: line, off: off, len: int64(len(line)), term: term, long: len(line) > limit, nul: nul})
		line, off, nul = []byte{}, int64(at+1), true
	}
	line = []byte{}
	for i, b := range data {
		if b == '\n' {
			flush(i, true)
			continue
		}
		line = append(line, b)
		nul = nul && b == 0
	}
	if len(line) > 0 {
		flush(len(data), false)
	}
	return out
}

// dribble reads at most step bytes at a time, and now and then none, as a slow disk may.
type dribble struct {
	data  []byte
	step  int
	pause int
	calls int
}

func (d *dribble) ReadAt(p []byte, off int64) (int, error) {
	d.calls++
	if d.pause > 0 && d.calls%(d.pause+1) == 0 {
		return 0, nil
	}
	if off >= int64(len(d.data)) {
		return 0, io.EOF
	}
	return copy(p[:min(len(p), d.step)], d.data[off:]), nil
}

// FuzzLines holds the line reader against the obvious one, whatever the pieces in which the
// file is read, the room that it begins with, and the longest line that it holds.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nbb\n\nccc"), uint16(1), uint16(0), uint16(2), uint8(0), false)
	f.Add([]byte("\x00\x00\n\x00x\n\r\n\u2028\u0085\n"), uint16(3), uint16(9), uint16(100), uint8(2), false)
	f.Add(bytes.Repeat([]byte("long "), 400), uint16(7), uint16(3), uint16(64), uint8(1), true)
	f.Add([]byte("0123456789\n0123456789"), uint16(512), uint16(30), uint16(5), uint8(0), true)
	f.Fuzz(func(t *testing.T, data []byte, step, size, limit uint16, pause uint8, large bool) {
		hint := int64(size)
		if large { // larger than one buffer, read a chunk at a time
			data = bytes.Repeat(data, 1+(wholeFile+chunk)/max(len(data), 1))
			if len(data) > 4*chunk {
				return
			}
			hint = wholeFile + 1
			step |= 0x1000 // or it takes minutes
		}
		src := &dribble{data: data, step: max(int(step), 1), pause: int(pause % 3)}
		r := newLineReader(src, 0, hint, int(limit))
		want := slowLines(data, int(limit))
		for i := 0; ; i++ {
			p, err := r.next()
			if errors.Is(err, io.EOF) {
				require.Len(t, want, i)
				return
			}
			require.NoError(t, err)
			require.Less(t, i, len(want), "a piece too many: %q", p.raw)
			w := want[i]
			if p.long { // only its beginning is held
				require.True(t, bytes.HasPrefix(w.raw, p.raw))
				p.raw, w.raw = nil, nil
			} else {
				require.True(t, bytes.Equal(w.raw, p.raw), "piece %d", i)
			}
			p.raw, w.raw = nil, nil
			require.Equal(t, w, p, "piece %d", i)
		}
	})
}

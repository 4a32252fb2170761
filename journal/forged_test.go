package journal

import (
	"io"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
)

// Lines that are signed and lie about their place are refused by both ways of reading.
func TestLiesAreRefused(t *testing.T) {
	first, crc := appendLine(nil, envelope{session: "s1", now: tick(), seq: 1}, TypeMessage, nil)
	at := int64(len(first))
	for reason, v := range map[string]struct {
		envelope
		typ string
	}{
		"durable behind its own offset":            {envelope{seq: 2, durable: at + 1, prev: crc}, TypeMessage},
		"a checkpoint that vouches for too little": {envelope{seq: 2, durable: at - 1, prev: crc}, typeCheckpoint},
		"another line's prev":                      {envelope{seq: 2, durable: at, prev: crc + 1}, TypeMessage},
		"a sequence left out":                      {envelope{seq: 3, durable: at, prev: crc}, TypeMessage},
		"another session":                          {envelope{session: "s2", seq: 2, durable: at, prev: crc}, TypeMessage},
	} {
		e := v.envelope
		e.now = tick()
		if e.session == "" {
			e.session = "s1"
		}
		b, _ := appendLine(first[:at:at], e, v.typ, nil)
		requireRefused(t, b, reason)
	}
	lonely, _ := appendLine(nil, envelope{session: "s1", now: tick(), seq: 1, prev: 7}, TypeMessage, nil)
	requireRefused(t, lonely, "a first line that says that something stood in front of it")
	late, _ := appendLine(nil, envelope{session: "s1", now: tick(), seq: 5, prev: 7}, TypeMessage, nil)
	requireRefused(t, late, "a first line with a later sequence")
}

func requireRefused(t *testing.T, b []byte, reason string) {
	t.Helper()
	mem := faultfs.NewMem(image.New())
	require.NoError(t, afero.WriteFile(mem, "/s1.jsonl", b, 0o600))
	for _, contract := range []Contract{Strict, Watermark} {
		_, err := Recover(mem, "/s1.jsonl", Options{Contract: contract})
		require.ErrorIs(t, err, ErrCorrupt, "%s: %s", contract, reason)
		for n := range 3 {
			_, last := Last(mem, "/s1.jsonl", n+1, Options{Contract: contract})
			require.Equal(t, err, last, "%s: %s", contract, reason)
		}
	}
}

// An append that was taken before a Close is written, although nobody has written it yet.
func TestCloseWritesWhatWasTaken(t *testing.T) {
	mem := faultfs.NewMem(image.New())
	j, err := Open(mem, "/s1.jsonl", Options{Create: true})
	require.NoError(t, err)
	g, _, err := j.take([]Event{Message("user", "taken")})
	require.NoError(t, err)
	require.NoError(t, j.Close())
	require.NoError(t, j.commit(g))
	rec, err := Recover(mem, "/s1.jsonl", Options{})
	require.NoError(t, err)
	assert.Equal(t, 1, rec.Total)
}

// zeros is a file of NUL bytes.
type zeros int64

func (z zeros) ReadAt(p []byte, off int64) (int, error) {
	n := min(int64(len(p)), int64(z)-off)
	clear(p[:n])
	if n < int64(len(p)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

func TestALineThatIsTooLongIsNotHeld(t *testing.T) {
	const size = 32 << 20
	r := newLineReader(zeros(size), 0, size, 1000)
	p, err := r.next()
	require.NoError(t, err)
	assert.True(t, p.long)
	assert.True(t, p.nul)
	assert.False(t, p.term)
	assert.Equal(t, int64(size), p.len)
	assert.LessOrEqual(t, len(r.buf), 2*chunk)
	_, err = r.next()
	require.ErrorIs(t, err, io.EOF)
}

// stuck is a file whose reads give nothing.
type stuck struct{}

func (stuck) ReadAt([]byte, int64) (int, error) { return 0, nil }

func TestReadsThatGiveNothingEnd(t *testing.T) {
	_, err := newLineReader(stuck{}, 0, 10, 1000).next()
	require.ErrorIs(t, err, io.ErrNoProgress)
}

package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/journal"
)

// bothContracts are the options of each, by name.
func bothContracts() map[string]journal.Options {
	return map[string]journal.Options{"strict": options(), "watermark": options(watermark)}
}

// lineEnds are the offsets behind each newline, 0 in front.
func lineEnds(b []byte) []int {
	ends := []int{0}
	for i, ch := range b {
		if ch == '\n' {
			ends = append(ends, i+1)
		}
	}
	return ends
}

// before is how many whole lines end at n or in front of it, and where the last of them ends.
func before(ends []int, n int) (lines, at int) {
	for i, end := range ends {
		if end <= n {
			lines, at = i, end
		}
	}
	return lines, at
}

func TestACutAtEveryByte(t *testing.T) {
	whole := read(t, filled(t, 4, false, options()), logPath)
	ends := lineEnds(whole)
	for name, opt := range bothContracts() {
		for n := range len(whole) + 1 {
			mem := with(t, whole[:n])
			rec, err := journal.Recover(mem, logPath, opt)
			require.NoError(t, err, "%s, %d bytes", name, n)
			lines, at := before(ends, n)
			complete := n+1 < len(whole)+1 && whole[n] == '\n'
			switch {
			case n == at:
				require.Nil(t, rec.Tail)
			case complete:
				lines++
				require.Equal(t, &journal.Tail{Path: logPath, Offset: int64(n), Kind: journal.TailComplete}, rec.Tail)
			default:
				require.Equal(t, &journal.Tail{Path: logPath, Offset: int64(at), Length: int64(n - at), Kind: journal.TailUnterminated}, rec.Tail)
			}
			require.Equal(t, lines, rec.Total)
			require.Equal(t, n == 0, rec.Empty)
			goesOn(t, mem, opt, whole[:n], rec)
		}
	}
}

// goesOn opens a crash state, appends, and reads again.
func goesOn(t *testing.T, mem *faultfs.Mem, opt journal.Options, was []byte, rec *journal.Recovery) {
	t.Helper()
	j, err := journal.Open(mem, logPath, opt)
	require.NoError(t, err)
	require.Equal(t, contents(rec.Events), contents(j.Recovered().Events))
	if tail := rec.Tail; tail != nil && tail.Kind != journal.TailComplete {
		side := fmt.Sprintf("%s.tail-%d", logPath, tail.Offset)
		require.Equal(t, was[tail.Offset:], read(t, mem, side), "evidence is kept")
	}
	require.NoError(t, j.Append(journal.Message("user", "after")))
	again, err := journal.Recover(crashed(mem), logPath, opt)
	require.NoError(t, err)
	require.Nil(t, again.Tail)
	require.Equal(t, append(contents(rec.Events), "after"), contents(again.Events))
	require.NoError(t, j.Close())
}

// S-11 and its kin: sizes that reached the disk before their bytes.
func TestNULTails(t *testing.T) {
	whole := read(t, filled(t, 3, false, options()), logPath)
	ends := lineEnds(whole)
	last := ends[len(ends)-2]
	for name, opt := range bothContracts() {
		for hole := last; hole < len(whole); hole++ {
			nul := append([]byte(nil), whole...)
			clear(nul[hole:])
			rec, err := journal.Recover(with(t, nul), logPath, opt)
			require.NoError(t, err, name)
			require.Equal(t, 2, rec.Total)
			kind := journal.TailUnterminated
			if hole == last {
				kind = journal.TailNUL
			}
			require.Equal(t, &journal.Tail{Path: logPath, Offset: int64(last), Length: int64(len(whole) - last), Kind: kind}, rec.Tail)

			if hole+1 == len(whole) {
				continue
			}
			nul[len(nul)-1] = '\n' // the last page reached the disk, the one in front of it did not
			mem := with(t, nul)
			rec, err = journal.Recover(mem, logPath, opt)
			if opt.Contract == journal.Strict {
				var corrupt *journal.CorruptError
				require.ErrorAs(t, err, &corrupt)
				require.False(t, corrupt.Vouched, "a crash may have left this")
				require.Equal(t, int64(last), corrupt.Offset)
				require.Equal(t, 3, corrupt.Line)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, &journal.Tail{Path: logPath, Offset: int64(last), Length: int64(len(whole) - last), Kind: journal.TailTerminated}, rec.Tail)
			goesOn(t, mem, opt, nul, rec)
		}
	}
}

// A batch that a crash interrupted may have any hole. Watermark opens all of them, Strict
// refuses exactly those with a newline behind the hole, and counts them as unvouched.
func TestHolesInAnUnsyncedBatch(t *testing.T) {
	mem := filled(t, 2, false, options())
	synced := len(read(t, mem, logPath))
	j := open(t, crashed(mem), options())
	require.NoError(t, j.Close())
	base := crashed(mem)
	j = open(t, base, options())
	require.NoError(t, j.Append(user(2), user(3), user(4), user(5)))
	whole := read(t, base, logPath)
	ends := lineEnds(whole)
	rapid.Check(t, func(rt *rapid.T) {
		b := append([]byte(nil), whole...)
		from := rapid.IntRange(synced, len(b)-1).Draw(rt, "from")
		to := rapid.IntRange(from+1, len(b)).Draw(rt, "to")
		clear(b[from:to])
		b = b[:rapid.IntRange(to, len(b)).Draw(rt, "size")]
		lines, at := before(ends, from)
		rec, err := journal.Recover(with(rt, b), logPath, options(watermark))
		require.NoError(rt, err)
		require.Equal(rt, lines, rec.Total)
		require.Equal(rt, int64(at), rec.Tail.Offset)
		require.Equal(rt, int64(len(b)-at), rec.Tail.Length)
		_, err = journal.Recover(with(rt, b), logPath, options())
		if !bytes.Contains(b[from:], []byte("\n")) {
			require.NoError(rt, err)
			return
		}
		var corrupt *journal.CorruptError
		require.ErrorAs(rt, err, &corrupt)
		require.False(rt, corrupt.Vouched)
	})
}

// Every flipped bit in what a line vouches for is found, under both contracts.
func TestEveryFlippedBitInTheVouchedArea(t *testing.T) {
	whole := read(t, filled(t, 3, true, options()), logPath)
	ends := lineEnds(whole)
	for name, opt := range bothContracts() {
		for i := range ends[len(ends)-2] {
			for bit := range 8 {
				whole[i] ^= 1 << bit
				_, err := journal.Recover(with(t, whole), logPath, opt)
				var corrupt *journal.CorruptError
				require.ErrorAs(t, err, &corrupt, "%s, byte %d, bit %d", name, i, bit)
				require.True(t, corrupt.Vouched, "%s, byte %d, bit %d: %v", name, i, bit, err)
				lines, at := before(ends, i)
				require.Equal(t, int64(at), corrupt.Offset)
				require.Equal(t, lines+1, corrupt.Line)
				whole[i] ^= 1 << bit
			}
		}
	}
}

// Damage of every other kind in front of the last line of a closed log is found too.
func TestEveryDamageInTheVouchedArea(t *testing.T) {
	whole := read(t, filled(t, 4, true, options()), logPath)
	ends := lineEnds(whole)
	vouched := int64(ends[len(ends)-2])
	lines := int64(len(ends) - 2)
	damages := []faultfs.Damage{{Kind: faultfs.BOM}, {Kind: faultfs.CRLF}}
	for off := range vouched {
		for _, n := range []int64{1, 7, 300} {
			damages = append(damages, faultfs.Damage{Kind: faultfs.Nul, Off: off, Len: min(n, vouched-off)},
				faultfs.Damage{Kind: faultfs.Delete, Off: off, Len: min(n, vouched-off)})
		}
		damages = append(damages, faultfs.Damage{Kind: faultfs.BadUTF8, Off: off})
	}
	for a := int64(1); a <= lines; a++ {
		damages = append(damages, faultfs.Damage{Kind: faultfs.Duplicate, Off: a})
		for b := a + 1; b <= lines+1; b++ {
			damages = append(damages, faultfs.Damage{Kind: faultfs.Swap, Off: a, Len: b})
		}
	}
	for name, opt := range bothContracts() {
		for _, d := range damages {
			b, err := d.Apply(whole)
			require.NoError(t, err)
			_, err = journal.Recover(with(t, b), logPath, opt)
			var corrupt *journal.CorruptError
			require.ErrorAs(t, err, &corrupt, "%s: %s", name, d)
			require.True(t, corrupt.Vouched, "%s: %s: %v", name, d, err)
		}
	}
}

// What a later, separately synced line vouches for is found without a checkpoint too.
func TestALaterAppendVouches(t *testing.T) {
	whole := read(t, filled(t, 3, false, options()), logPath)
	ends := lineEnds(whole)
	for name, opt := range bothContracts() {
		for i := range whole {
			b := append([]byte(nil), whole...)
			b[i] ^= 1
			rec, err := journal.Recover(with(t, b), logPath, opt)
			if i < ends[len(ends)-2] {
				var corrupt *journal.CorruptError
				require.ErrorAs(t, err, &corrupt)
				require.True(t, corrupt.Vouched, "%s: byte %d", name, i)
				continue
			}
			// The last line: nothing vouches for it. The window that the package comment states.
			if err == nil {
				require.Equal(t, 2, rec.Total)
				require.NotNil(t, rec.Tail)
			} else {
				var corrupt *journal.CorruptError
				require.ErrorAs(t, err, &corrupt)
				require.False(t, corrupt.Vouched)
			}
		}
	}
}

func TestForgedTailsAreRefused(t *testing.T) {
	whole := read(t, filled(t, 3, false, options()), logPath)
	ends := lineEnds(whole)
	line := func(k int) []byte { return whole[ends[k-1]:ends[k]] }
	foreign := read(t, filled(t, 1, false, options(func(o *journal.Options) { o.Session = "other" })), logPath)
	for _, tt := range []struct {
		reason string
		add    []byte
	}{
		{"the last line again", line(3)},
		{"the last line again, without its newline", line(3)[:len(line(3))-1]},
		{"an older line", line(1)},
		{"a line of another session", foreign},
		{"a line of another session behind garbage", append([]byte("garbage\n"), foreign...)},
		{"a line without a checksum", []byte(`{"type":"message","role":"user","content":"hello"}` + "\n")},
		{"an object without a newline", []byte(`{"type":"message","role":"user","content":"hello"}`)},
		{"an older line behind a torn one", append([]byte("{\"sch\n"), line(2)...)},
	} {
		for name, opt := range bothContracts() {
			_, err := journal.Recover(with(t, append(append([]byte(nil), whole...), tt.add...)), logPath, opt)
			var corrupt *journal.CorruptError
			require.ErrorAs(t, err, &corrupt, "%s: %s", name, tt.reason)
			require.True(t, corrupt.Vouched, "%s: %s: %v", name, tt.reason, err)
		}
	}
}

// A copy of an older line inside a line that a crash tore is no proof of damage.
func TestNestedCopiesProveNothing(t *testing.T) {
	mem := filled(t, 2, false, options())
	whole := read(t, mem, logPath)
	first := bytes.TrimSuffix(whole[:lineEnds(whole)[1]], []byte("\n"))
	j := open(t, crashed(mem), options())
	require.NoError(t, j.Close())
	base := crashed(mem)
	j = open(t, base, options())
	payload := append(append([]byte(`{"replacement_history":[`), first...), `]}`...)
	require.NoError(t, j.Append(journal.Event{Type: journal.TypeCompacted, Payload: payload}))
	b := read(t, base, logPath)
	at := bytes.Index(b[len(whole):], first) + len(whole)
	for _, end := range []int{at + len(first), len(b)} { // cut behind the copy, or with a hole in front of it
		torn := append([]byte(nil), b[:end]...)
		if end == len(b) {
			clear(torn[len(whole)+10 : at])
		}
		rec, err := journal.Recover(with(t, torn), logPath, options(watermark))
		require.NoError(t, err)
		assert.Equal(t, 2, rec.Total)
		assert.Equal(t, int64(len(whole)), rec.Tail.Offset)
	}
}

func TestAFileThatIsNoJournalIsNotTakenForATornOne(t *testing.T) {
	for _, text := range []string{"# Notes\n\nWater the basil.\n", "hello\n", "\n", "[]\n", "\x00\n# Notes\n", "{\"schema_version\":2\n"} {
		for name, opt := range bothContracts() {
			if name == "watermark" && text[0] == 0 {
				continue // a NUL may be what a crash left of the first byte
			}
			mem := with(t, []byte(text))
			_, err := journal.Open(mem, logPath, opt)
			require.ErrorIs(t, err, journal.ErrCorrupt, "%s: %q", name, text)
			require.Equal(t, text, string(read(t, mem, logPath)))
		}
	}
	legacy := "\x00\x00\n" + `{"type":"message","role":"user","content":"a"}` + "\n"
	_, err := journal.Recover(with(t, []byte(legacy)), logPath, options(watermark))
	require.ErrorIs(t, err, journal.ErrCorrupt, "lines of another writer are read by the strict rule")
	_, err = journal.Recover(with(t, nil), "/home/projects/garden", options())
	require.Error(t, err)
	require.NotErrorIs(t, err, journal.ErrCorrupt, "a folder is no damaged file")
}

func TestVersionsAreKeptUnlessGated(t *testing.T) {
	legacy := `{"schema_version":1,"sequence":1,"type":"message","role":"user","content":"a"}` + "\n" +
		`{"schema_version":7,"sequence":2,"type":"message","role":"user","content":"b"}` + "\n"
	rec, err := journal.Recover(with(t, []byte(legacy)), logPath, options())
	require.NoError(t, err)
	assert.Equal(t, 2, rec.Total)
	assert.Equal(t, 1, rec.Newer)
	assert.Equal(t, 7, rec.Events[1].SchemaVersion)
	assert.Len(t, rec.Replay(10), 1, "a newer line is evidence, and no message")
	gated := options(func(o *journal.Options) { o.MaxVersion = 1 })
	for _, open := range []func() error{
		func() error { _, err := journal.Recover(with(t, []byte(legacy)), logPath, gated); return err },
		func() error { _, err := journal.Open(with(t, []byte(legacy)), logPath, gated); return err },
		func() error { _, err := journal.Last(with(t, []byte(legacy)), logPath, 1, gated); return err },
	} {
		var version *journal.VersionError
		err := open()
		require.ErrorAs(t, err, &version)
		assert.Equal(t, journal.VersionError{Path: logPath, Line: 2, Offset: int64(strings.Index(legacy, "\n") + 1), Version: 7, Max: 1}, *version)
		require.NotErrorIs(t, err, journal.ErrCorrupt)
	}
}

func TestSidecarsNeverOverwrite(t *testing.T) {
	whole := read(t, filled(t, 1, false, options()), logPath)
	side := fmt.Sprintf("%s.tail-%d", logPath, len(whole))
	mem := with(t, append(append([]byte(nil), whole...), "first"...))
	require.NoError(t, afero.WriteFile(mem, side, []byte("older evidence"), 0o600))
	require.NoError(t, open(t, mem, options()).Close())
	assert.Equal(t, "older evidence", string(read(t, mem, side)))
	assert.Equal(t, "first", string(read(t, mem, side+"-2")))

	mem = with(t, append(append([]byte(nil), whole...), "first"...))
	require.NoError(t, afero.WriteFile(mem, side, []byte("first"), 0o600)) // a repair that was cut short
	require.NoError(t, open(t, mem, options()).Close())
	_, err := mem.Stat(side + "-2")
	require.Error(t, err, "the same bytes are not kept twice")

	mem = with(t, append(append([]byte(nil), whole...), "first"...))
	require.NoError(t, open(t, mem, options(func(o *journal.Options) { o.NoSidecar = true })).Close())
	_, err = mem.Stat(side)
	require.Error(t, err)
}

// readFault fails reads of a file.
type readFault struct{ *faultfs.Mem }

var errRead = errors.New("input/output error")

func (r readFault) Open(name string) (afero.File, error) {
	f, err := r.Mem.Open(name)
	if err != nil || !strings.HasSuffix(name, ".jsonl") {
		return f, err
	}
	return unreadable{f}, nil
}

type unreadable struct{ afero.File }

func (unreadable) ReadAt([]byte, int64) (int, error) { return 0, errRead }

func TestUnreadableIsNotDamaged(t *testing.T) {
	_, err := journal.Recover(readFault{filled(t, 1, true, options())}, logPath, options())
	require.ErrorIs(t, err, errRead)
	require.NotErrorIs(t, err, journal.ErrCorrupt)
	require.ErrorContains(t, err, logPath)
}

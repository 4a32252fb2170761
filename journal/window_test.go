package journal_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/journal"
)

// Pages read backwards are what a full reading gives, whatever the segments.
func TestPagesAgreeWithTheWholeLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opt := options(segments(rapid.IntRange(1, 12).Draw(t, "segment")))
		mem := faultfs.NewMem(image.New())
		j := open(t, mem, opt)
		for i := range rapid.IntRange(0, 30).Draw(t, "appends") {
			if rapid.IntRange(0, 4).Draw(t, "checkpoint") == 0 {
				require.NoError(t, j.Checkpoint())
			}
			text := rapid.StringN(0, -1, rapid.SampledFrom([]int{10, 10, 3000}).Draw(t, "size")).Draw(t, "text")
			require.NoError(t, j.Append(journal.Message("user", fmt.Sprint(i, text))))
		}
		if rapid.Bool().Draw(t, "close") {
			require.NoError(t, j.Close())
		}
		whole, err := journal.Recover(mem, logPath, opt)
		require.NoError(t, err)
		n := rapid.IntRange(1, 10).Draw(t, "page")
		var got []journal.Event
		for seq := int64(1 << 40); ; {
			w, err := journal.Before(mem, logPath, seq, n, opt)
			require.NoError(t, err)
			if len(w.Events) > 0 {
				require.LessOrEqual(t, w.VerifiedFrom, w.Events[0].Offset)
				seq = w.Events[0].Sequence
			}
			got = append(append([]journal.Event(nil), w.Events...), got...)
			if w.Start || len(w.Events) == 0 {
				break
			}
			require.Len(t, w.Events, n)
		}
		require.Empty(t, cmp.Diff(whole.Events, got, cmp.AllowUnexported(journal.Event{}), cmpopts.EquateEmpty()))
	})
}

// counting counts the bytes that are read.
type counting struct {
	*faultfs.Mem
	n *int
}

func (c counting) Open(name string) (afero.File, error) {
	f, err := c.Mem.Open(name)
	return countingFile{f, c.n}, err
}

type countingFile struct {
	afero.File
	n *int
}

func (f countingFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	*f.n += n
	return n, err
}

func TestTheLastEventsDoNotNeedTheWholeFile(t *testing.T) {
	mem := faultfs.NewMem(image.New())
	j := open(t, mem, options(segments(1<<20)))
	batch := make([]journal.Event, 500)
	for i := range 40 {
		for k := range batch {
			batch[k] = user(i*500 + k)
		}
		require.NoError(t, j.Append(batch...))
	}
	require.NoError(t, j.Close())
	size := len(read(t, mem, logPath))
	require.Greater(t, size, 4<<20)
	for name, do := range map[string]func(afero.Fs) (*journal.Window, error){
		"last":   func(f afero.Fs) (*journal.Window, error) { return journal.Last(f, logPath, 1000, options()) },
		"before": func(f afero.Fs) (*journal.Window, error) { return journal.Before(f, logPath, 10_001, 1000, options()) },
	} {
		n := 0
		w, err := do(counting{mem, &n})
		require.NoError(t, err)
		require.Len(t, w.Events, 1000)
		assert.Less(t, n, size/4, name)
		assert.Positive(t, w.VerifiedFrom)
	}
	w, err := journal.Before(mem, logPath, 10_001, 2, options())
	require.NoError(t, err)
	assert.Equal(t, []string{"water bed 9998", "water bed 9999"}, contents(w.Events))
}

// UP213: whatever is done to a log, the reading from the end never contradicts the full one.
func TestReadersAgreeOnDamage(t *testing.T) {
	mem := filled(t, 6, true, options(segments(3)))
	for name, opt := range bothContracts() {
		for k := 1; k <= 2; k++ {
			whole := read(t, mem, segmentName(k))
			for i := 0; i < len(whole); i += 2 {
				damaged := crashed(mem)
				b := append([]byte(nil), whole...)
				b[i] ^= 1
				require.NoError(t, afero.WriteFile(damaged, segmentName(k), b, 0o600))
				rec, errWhole := journal.Recover(damaged, logPath, opt)
				for n := range 8 {
					w, err := journal.Last(damaged, logPath, n, opt)
					at := segmentBase(t, mem, k) + int64(i)
					if err != nil || errWhole == nil || w.VerifiedFrom <= at {
						require.Equal(t, errWhole, err, "%s, segment %d, byte %d, %d events", name, k, i, n)
					}
					if err == nil && errWhole == nil {
						require.Equal(t, contents(rec.Events[max(0, len(rec.Events)-n):]), contents(w.Events))
						require.Equal(t, rec.Tail, w.Tail)
					}
				}
			}
		}
	}
}

// What a crash may leave of a batch: its first line is torn, and those behind it are whole. They
// verify by themselves, and no line vouches for what is in front of them: a full reading takes all
// of it for the tail, so the reading from the end must not return them.
func TestReadersAgreeOnATornBatch(t *testing.T) {
	mem := crashed(filled(t, 3, false, options()))
	size := len(read(t, mem, logPath))
	j := open(t, mem, options())
	require.NoError(t, j.Append(user(3), user(4), user(5), user(6)))
	torn := read(t, mem, logPath)
	clear(torn[size+20 : size+90])
	for name, opt := range bothContracts() {
		rec, errWhole := journal.Recover(with(t, torn), logPath, opt)
		for n := range 7 {
			w, err := journal.Last(with(t, torn), logPath, n, opt)
			require.Equal(t, errWhole, err, "%s, %d events", name, n)
			if err == nil {
				require.Equal(t, contents(rec.Events[max(0, len(rec.Events)-n):]), contents(w.Events))
				require.Equal(t, rec.Tail, w.Tail)
			}
		}
	}
	require.NoError(t, j.Close())
}

// A log with a line taken out, or two exchanged, is refused by every reader that looks there.
func TestReadersAgreeOnLostLines(t *testing.T) {
	whole := read(t, filled(t, 5, true, options()), logPath)
	for _, d := range []faultfs.Damage{{Kind: faultfs.Swap, Off: 3, Len: 4}, {Kind: faultfs.Duplicate, Off: 4}} {
		b, err := d.Apply(whole)
		require.NoError(t, err)
		_, errWhole := journal.Recover(with(t, b), logPath, options())
		require.Error(t, errWhole)
		_, err = journal.Last(with(t, b), logPath, 3, options())
		require.Equal(t, errWhole, err, "%s", d)
	}
	ends := lineEnds(whole)
	b := append(append([]byte(nil), whole[:ends[3]]...), whole[ends[4]:]...)
	_, errWhole := journal.Recover(with(t, b), logPath, options())
	require.Error(t, errWhole)
	for n := range 4 {
		_, err := journal.Last(with(t, b), logPath, n, options())
		require.Equal(t, errWhole, err, "the checkpoint's offset, or the line's place, shows it: %d events", n)
	}
}

func segmentBase(t *testing.T, fsys afero.Fs, k int) int64 {
	t.Helper()
	base := int64(0)
	for i := 1; i < k; i++ {
		base += int64(len(read(t, fsys, segmentName(i))))
	}
	return base
}

func TestWindowsOfSmallLogs(t *testing.T) {
	w, err := journal.Last(filled(t, 0, false, options()), logPath, 10, options())
	require.NoError(t, err)
	assert.Empty(t, w.Events)
	assert.True(t, w.Start)
	mem := filled(t, 3, false, options())
	w, err = journal.Before(mem, logPath, 1, 10, options())
	require.NoError(t, err)
	assert.Empty(t, w.Events)
	w, err = journal.Last(mem, logPath, 0, options())
	require.NoError(t, err)
	assert.Empty(t, w.Events)
	torn := with(t, append(read(t, mem, logPath), "{\"sch"...))
	w, err = journal.Last(torn, logPath, 2, options())
	require.NoError(t, err)
	assert.Equal(t, []string{"water bed 1", "water bed 2"}, contents(w.Events))
	assert.Equal(t, journal.TailUnterminated, w.Tail.Kind)
}

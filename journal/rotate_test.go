package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/journal"
)

func segmentName(k int) string {
	if k == 1 {
		return logPath
	}
	return fmt.Sprintf("/home/projects/garden/s1_%d.jsonl", k)
}

func TestSegmentsAreOneLog(t *testing.T) {
	opt := options(segments(3))
	mem := filled(t, 8, true, opt)
	// Three events and a checkpoint each, then two and the close's.
	for k, lines := range map[int]int{1: 4, 2: 4, 3: 3} {
		assert.Len(t, lineEnds(read(t, mem, segmentName(k))), lines+1, "segment %d", k)
	}
	rec, err := journal.Recover(mem, logPath, opt)
	require.NoError(t, err)
	assert.Equal(t, 3, rec.Segments)
	assert.Equal(t, 8, rec.Total)
	assert.Equal(t, 11, rec.Lines)
	offset := int64(len(read(t, mem, segmentName(1))))
	assert.Equal(t, offset, rec.Events[3].Offset, "offsets count from the start of segment 1")
	assert.Equal(t, 2, rec.Events[3].Segment)
	assert.Equal(t, int64(5), rec.Events[3].Sequence)

	j := open(t, mem, opt)
	require.NoError(t, j.Append(user(8)))
	require.NoError(t, j.Rotate())
	require.NoError(t, j.Rotate(), "an empty segment is not followed by another one")
	again := open(t, crashed(mem), opt)
	assert.Equal(t, 5, again.Recovered().Segments)
	assert.Equal(t, 9, again.Recovered().Total)
	require.NoError(t, again.Append(user(9)))
	require.NoError(t, again.Close())
	require.NoError(t, j.Close())
}

func TestASegmentVouchesForTheOneBefore(t *testing.T) {
	mem := filled(t, 8, false, options(segments(3)))
	for name, opt := range bothContracts() {
		for k := 1; k <= 2; k++ {
			whole := read(t, mem, segmentName(k))
			for i := 0; i < len(whole); i += 3 {
				damaged := crashed(mem)
				b := append([]byte(nil), whole...)
				b[i] ^= 4
				require.NoError(t, afero.WriteFile(damaged, segmentName(k), b, 0o600))
				_, err := journal.Recover(damaged, logPath, opt)
				var corrupt *journal.CorruptError
				require.ErrorAs(t, err, &corrupt, "%s, segment %d, byte %d", name, k, i)
				require.True(t, corrupt.Vouched)
				require.Equal(t, segmentName(k), corrupt.Path)
			}
			for _, cut := range []int{0, 1, len(whole) - 1, len(whole) / 2} {
				damaged := crashed(mem)
				require.NoError(t, afero.WriteFile(damaged, segmentName(k), whole[:cut], 0o600))
				_, err := journal.Recover(damaged, logPath, opt)
				var corrupt *journal.CorruptError
				require.ErrorAs(t, err, &corrupt, "segment %d has no tail", k)
				require.Equal(t, segmentName(k), corrupt.Path, "%d bytes", cut)
			}
		}
		for k := 1; k <= 2; k++ {
			damaged := crashed(mem)
			require.NoError(t, damaged.Remove(segmentName(k)))
			before := damaged.Image().Hash()
			for _, err := range []error{
				second(journal.Recover(damaged, logPath, opt)), second(journal.Open(damaged, logPath, opt)), second(journal.Last(damaged, logPath, 1, opt)),
			} {
				var corrupt *journal.CorruptError
				require.ErrorAs(t, err, &corrupt, "%s: without segment %d", name, k)
				require.Equal(t, segmentName(k), corrupt.Path)
			}
			require.Equal(t, before, damaged.Image().Hash(), "a missing first segment is not made anew")
		}
	}
}

func TestLineEndsOfAnotherProgramAreSeenInTheNewestSegment(t *testing.T) {
	mem := filled(t, 4, true, options(segments(3)))
	crlf := bytes.ReplaceAll(read(t, mem, segmentName(2)), []byte("\n"), []byte("\r\n"))
	require.NoError(t, afero.WriteFile(mem, segmentName(2), crlf, 0o600))
	for name, opt := range bothContracts() {
		_, err := journal.Recover(mem, logPath, opt)
		var corrupt *journal.CorruptError
		require.ErrorAs(t, err, &corrupt, name)
		require.True(t, corrupt.Vouched)
	}
}

func second[T any](_ T, err error) error { return err }

func TestASegmentOfAnotherLogIsRefused(t *testing.T) {
	mem := filled(t, 2, true, options())
	other := read(t, filled(t, 2, true, options(func(o *journal.Options) { o.Session = "other" })), logPath)
	require.NoError(t, afero.WriteFile(mem, segmentName(2), other, 0o600))
	_, err := journal.Recover(mem, logPath, options())
	require.ErrorIs(t, err, journal.ErrCorrupt)
	require.ErrorContains(t, err, `session "other"`)

	_, err = journal.Open(mem, "/home/projects/garden/s9_2.jsonl", options())
	require.ErrorContains(t, err, "later segment", "a new session is not called like a segment")
}

func TestARotationThatFailsDoesNotLoseTheJournal(t *testing.T) {
	for rule, poisoned := range map[string]bool{
		"on create s1_2.jsonl 1 -> enospc":          false,
		"on sync s1_2.jsonl 1 -> fail-clean":        true,
		"on syncdir /home/projects/garden 2 -> eio": true,
	} {
		plan, err := faultfs.ParsePlan(rule)
		require.NoError(t, err)
		mem := filled(t, 0, true, options())
		fsys := faultfs.New(mem, faultfs.WithPlan(plan))
		j := open(t, fsys, options(segments(1)))
		require.NoError(t, j.Append(user(0)))
		err = j.Append(user(1))
		require.Error(t, err, rule)
		require.Empty(t, fsys.Unused())
		var p *journal.PoisonedError
		require.Equal(t, poisoned, errors.As(err, &p), rule)
		if !poisoned {
			require.NoError(t, j.Append(user(1)))
		}
		require.NoError(t, j.Close())
		j = open(t, crashed(mem), options(segments(1)))
		require.NoError(t, j.Append(user(2)), rule)
	}
}

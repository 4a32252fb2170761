package journal_test

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/journal"
)

// bigLog is a log of at least size bytes on a real disk, in one file.
func bigLog(tb testing.TB, size int64) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "big.jsonl")
	j, err := journal.Open(afero.NewOsFs(), path, journal.Options{Create: true, SegmentLines: 1 << 30, Now: fixedNow})
	require.NoError(tb, err)
	batch := make([]journal.Event, 2000)
	for i := range batch {
		batch[i] = journal.Message("assistant", strings.Repeat("Water the basil, not the thyme. ", 32))
	}
	batch[0] = journal.AITitle("Beds")
	for written := int64(0); written < size; {
		require.NoError(tb, j.Append(batch...))
		info, err := afero.NewOsFs().Stat(path)
		require.NoError(tb, err)
		written = info.Size()
	}
	require.NoError(tb, j.Close())
	return path
}

// Reading a log takes memory for its longest line and for what is kept, not for the file.
func TestMemoryDoesNotGrowWithTheFile(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a file of 64 MiB")
	}
	path := bigLog(t, 64<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rec, err := journal.Recover(afero.NewOsFs(), path, journal.Options{Keep: journal.KeepNone})
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(2<<20), "all that was ever allocated for 64 MiB")
	assert.Equal(t, "Beds", rec.Title)
	assert.Greater(t, rec.Total, 50_000)

	runtime.GC()
	runtime.ReadMemStats(&before)
	rec, err = journal.Recover(afero.NewOsFs(), path, journal.Options{Keep: 100})
	require.NoError(t, err)
	runtime.GC()
	runtime.ReadMemStats(&after)
	assert.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(2<<20), "what stays for 100 events")
	assert.Len(t, rec.Events, 100)
	runtime.KeepAlive(rec)
}

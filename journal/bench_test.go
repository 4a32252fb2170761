package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/journal"
)

func median(d []time.Duration) float64 {
	slices.Sort(d)
	return float64(d[len(d)/2])
}

// openOnDisk opens a log in the benchmark's folder.
func openOnDisk(b *testing.B, name string) *journal.Journal {
	b.Helper()
	j, err := journal.Open(afero.NewOsFs(), filepath.Join(b.TempDir(), name), journal.Options{Create: true, SegmentLines: 1 << 30})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, j.Close()) })
	return j
}

// BenchmarkAppendAgainstWriteAndSync interleaves durable appends with bare writes and syncs of
// as many bytes, and reports the ratio of the medians. Figure: at most 1.05.
func BenchmarkAppendAgainstWriteAndSync(b *testing.B) {
	j := openOnDisk(b, "s1.jsonl")
	f, err := os.OpenFile(filepath.Join(b.TempDir(), "bare"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	require.NoError(b, err)
	defer func() { require.NoError(b, f.Close()) }()
	e := journal.Message("user", "Which herbs need water today? Look at the bed list first.")
	bare := []byte(strings.Repeat("x", 299) + "\n")
	var ours, theirs []time.Duration
	for b.Loop() {
		start := time.Now()
		require.NoError(b, j.Append(e))
		between := time.Now()
		_, err := f.Write(bare)
		require.NoError(b, err)
		require.NoError(b, f.Sync())
		ours = append(ours, between.Sub(start))
		theirs = append(theirs, time.Since(between))
	}
	b.ReportMetric(median(ours)/median(theirs), "ratio")
	b.ReportMetric(median(ours)/1e3, "append-µs")
	b.ReportMetric(median(theirs)/1e3, "write+fsync-µs")
}

// BenchmarkGroupCommit appends from one and from 16 goroutines and reports the ratio of the
// rates. Figure: at least 5.
func BenchmarkGroupCommit(b *testing.B) {
	e := journal.Message("user", "Which herbs need water today?")
	run := func(j *journal.Journal, writers, each int) time.Duration {
		start := time.Now()
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() {
				for range each {
					require.NoError(b, j.Append(e))
				}
			})
		}
		wg.Wait()
		return time.Since(start) / time.Duration(writers*each)
	}
	j := openOnDisk(b, "s1.jsonl")
	var one, many []time.Duration
	for b.Loop() {
		one = append(one, run(j, 1, 32))
		many = append(many, run(j, 16, 32))
	}
	b.ReportMetric(median(one)/median(many), "times")
	b.ReportMetric(1e9/median(many), "records/s")
}

// BenchmarkLast1000 reads the last 1,000 events of logs of growing size: the time must not grow
// with them. UNPLUG_BENCH_MIB sets the largest, in MiB (1024 for the figure).
func BenchmarkLast1000(b *testing.B) {
	largest := 64
	if s := os.Getenv("UNPLUG_BENCH_MIB"); s != "" {
		var err error
		largest, err = strconv.Atoi(s)
		require.NoError(b, err)
	}
	for _, mib := range []int{4, largest} {
		path := bigLog(b, int64(mib)<<20)
		b.Run(fmt.Sprintf("%dMiB", mib), func(b *testing.B) {
			for b.Loop() {
				w, err := journal.Last(afero.NewOsFs(), path, 1000, journal.Options{})
				require.NoError(b, err)
				require.Len(b, w.Events, 1000)
			}
		})
	}
}

// BenchmarkRecover verifies a log of 64 MiB from a file, keeping nothing.
func BenchmarkRecover(b *testing.B) {
	path := bigLog(b, 64<<20)
	info, err := os.Stat(path)
	require.NoError(b, err)
	b.SetBytes(info.Size())
	for b.Loop() {
		_, err := journal.Recover(afero.NewOsFs(), path, journal.Options{Keep: journal.KeepNone})
		require.NoError(b, err)
	}
}

// BenchmarkRecoverSmall reads a log under 4 KiB in memory, as the harness does. Figure: about
// 10 µs.
func BenchmarkRecoverSmall(b *testing.B) {
	mem := filled(b, 13, true, options())
	b.SetBytes(int64(len(read(b, mem, logPath))))
	b.ReportAllocs()
	for b.Loop() {
		_, err := journal.Recover(mem, logPath, options())
		require.NoError(b, err)
	}
}

// BenchmarkOpenSmall opens the same log for writing.
func BenchmarkOpenSmall(b *testing.B) {
	mem := filled(b, 13, true, options())
	var fsys afero.Fs = faultfs.New(mem)
	b.ReportAllocs()
	for b.Loop() {
		j, err := journal.Open(fsys, logPath, options())
		require.NoError(b, err)
		require.NoError(b, j.Close())
	}
}

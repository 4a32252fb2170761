package journal_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/journal"
)

// planned is a file system whose calls come out as a plan says.
func planned(t *testing.T, m *faultfs.Mem, format string, args ...any) *faultfs.FS {
	t.Helper()
	plan, err := faultfs.ParsePlan(fmt.Sprintf(format, args...))
	require.NoError(t, err)
	return faultfs.New(m, faultfs.WithPlan(plan))
}

// A file system may give less than it was asked for. Every way to read takes pieces of any
// size for what they are, and so does an open that keeps and cuts a tail.
func TestReadsInPieces(t *testing.T) {
	closed := read(t, filled(t, 6, true, options()), logPath)
	torn := closed[:len(closed)-200]
	for name, bytes := range map[string][]byte{"closed": closed, "torn": torn} {
		whole, err := journal.Recover(with(t, bytes), logPath, options())
		require.NoError(t, err)
		for _, n := range []int{1, 2, 3, 7, 64, 511, 512, 513, len(bytes), len(bytes) + 1} {
			rec, err := journal.Recover(planned(t, with(t, bytes), "on read * * -> short %d", n), logPath, options())
			require.NoError(t, err, "%s, %d bytes a read", name, n)
			require.Equal(t, whole.Events, rec.Events)
			require.Equal(t, whole.Tail, rec.Tail)
			w, err := journal.Last(planned(t, with(t, bytes), "on read * * -> short %d", n), logPath, 3, options())
			require.NoError(t, err, "%s, %d bytes a read", name, n)
			require.Equal(t, contents(whole.Events[len(whole.Events)-3:]), contents(w.Events))
			w, err = journal.Before(planned(t, with(t, bytes), "on read * * -> short %d", n), logPath, 4, 2, options())
			require.NoError(t, err, "%s, %d bytes a read", name, n)
			require.Equal(t, contents(whole.Events[1:3]), contents(w.Events))

			mem := with(t, bytes)
			j, err := journal.Open(planned(t, mem, "on read * * -> short %d", n), logPath, options())
			require.NoError(t, err, "%s, %d bytes a read", name, n)
			require.NoError(t, j.Close())
			if whole.Tail != nil {
				kept := read(t, mem, fmt.Sprintf("%s.tail-%d", logPath, whole.Tail.Offset))
				require.Equal(t, bytes[whole.Tail.Offset:], kept)
			}
		}
	}
}

// A sidecar with other bytes than the tail is not taken for the tail's, however small the pieces
// are in which they are compared.
func TestASidecarIsComparedToItsEnd(t *testing.T) {
	closed := read(t, filled(t, 6, true, options()), logPath)
	torn := closed[:len(closed)-200]
	rec, err := journal.Recover(with(t, torn), logPath, options())
	require.NoError(t, err)
	mem := with(t, torn)
	other := append([]byte(nil), torn[rec.Tail.Offset:]...)
	other[len(other)-1] ^= 1
	side := fmt.Sprintf("%s.tail-%d", logPath, rec.Tail.Offset)
	require.NoError(t, afero.WriteFile(mem, side, other, 0o600))
	j, err := journal.Open(planned(t, mem, "on read * * -> short 1"), logPath, options())
	require.NoError(t, err)
	require.NoError(t, j.Close())
	assert.Equal(t, other, read(t, mem, side))
	assert.Equal(t, torn[rec.Tail.Offset:], read(t, mem, side+"-2"), "the tail is kept beside it")
}

// A tail that is longer than the pieces in which it is copied and compared is kept whole, and
// kept again beside a sidecar from which it differs in its last byte alone.
func TestALongTailIsKeptWhole(t *testing.T) {
	whole := read(t, filled(t, 2, false, options()), logPath)
	for _, n := range []int{32<<10 - 1, 32 << 10, 32<<10 + 1, 100_000} {
		tail := []byte(strings.Repeat("torn", n/4+1)[:n])
		side := fmt.Sprintf("%s.tail-%d", logPath, len(whole))
		mem := with(t, append(slices.Clone(whole), tail...))
		require.NoError(t, open(t, mem, options()).Close())
		require.Equal(t, tail, read(t, mem, side), "%d bytes", n)

		other := slices.Clone(tail)
		other[n-1] ^= 1
		mem = with(t, append(slices.Clone(whole), tail...))
		require.NoError(t, afero.WriteFile(mem, side, other, 0o600))
		require.NoError(t, open(t, mem, options()).Close())
		require.Equal(t, other, read(t, mem, side), "%d bytes", n)
		require.Equal(t, tail, read(t, mem, side+"-2"), "%d bytes", n)
	}
}

// A consumer's error comes back as it is: it says nothing about damage, nothing is read behind
// it, and every file is let go.
func TestAConsumersErrorIsItsOwn(t *testing.T) {
	mem := filled(t, 9, true, options(segments(3)))
	stop := errors.New("the disk of the consumer is full")
	for n := 1; n <= 9; n++ {
		open := &openFiles{Fs: mem}
		seen := 0
		rec, err := journal.Scan(open, logPath, options(segments(3)), func(journal.Event) error {
			if seen++; seen == n {
				return stop
			}
			return nil
		})
		require.Nil(t, rec)
		require.True(t, err == stop, "unchanged, not wrapped: %v", err) //nolint:testifylint,errorlint // the very same value
		require.NotErrorIs(t, err, journal.ErrCorrupt)
		require.Equal(t, n, seen)
		require.Zero(t, open.n, "%d files are still open", open.n)
	}
	_, err := journal.Scan(mem, logPath, options(segments(3)), func(journal.Event) error { return io.EOF })
	require.Equal(t, io.EOF, err, "also one that means something to readers")
	_, err = journal.Scan(mem, logPath, options(segments(3)), func(journal.Event) error { return syscall.EIO })
	require.Equal(t, syscall.EIO, err)
}

// openFiles counts the handles that were opened for reading and not closed.
type openFiles struct {
	afero.Fs
	n int
}

func (o *openFiles) Open(name string) (afero.File, error) {
	f, err := o.Fs.Open(name)
	if err != nil {
		return nil, err
	}
	o.n++
	return &openFile{f, o}, nil
}

type openFile struct {
	afero.File
	all *openFiles
}

func (f *openFile) Close() error {
	f.all.n--
	return f.File.Close()
}

package faultfs_test

import (
	"bytes"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// broken is a layer with a plan over an empty image, and an open /log on it.
func broken(t *testing.T, plan string, opts ...faultfs.Option) (*faultfs.FS, *faultfs.Mem, afero.File) {
	t.Helper()
	p, err := faultfs.ParsePlan(plan)
	require.NoError(t, err)
	mem := faultfs.NewMem(nil)
	f := faultfs.New(mem, append(opts, faultfs.WithPlan(p))...)
	h, err := f.OpenFile("/log", os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	require.NoError(t, err)
	return f, mem, h
}

func TestCutWrites(t *testing.T) {
	for _, c := range []struct {
		rule  string
		n     int
		err   error
		disk  string // of "first\nsecond\nthird\n"
		later bool   // the next write works
	}{
		{"inside write log 2 -> cut 3", 3, syscall.EIO, "first\nsecthird\n", true},
		{"inside write log 2 -> cut 3 silent", 3, nil, "first\nsecthird\n", true},
		{"inside write log 2 -> cut 3 unseen", 7, nil, "first\nsecthird\n", true},
		{"inside write log 2 -> cut -1", 6, syscall.EIO, "first\nsecondthird\n", true},
		{"inside write log 2 -> cut -99", 0, syscall.EIO, "first\nthird\n", true},
		{"inside write log 2 -> cut 99", 7, syscall.EIO, "first\nsecond\nthird\n", true},
		{"on write log 2 -> short 3", 3, io.ErrShortWrite, "first\nsecthird\n", true},
		{"on write log 2 -> short 3 silent", 3, nil, "first\nsecthird\n", true},
		{"on write log 2 -> enospc 3", 3, syscall.ENOSPC, "first\nsecthird\n", true},
		{"on write log 2 -> enospc", 0, syscall.ENOSPC, "first\nthird\n", true},
		{"on write log 2+ -> eio", 0, syscall.EIO, "first\n", false},
		{"inside write log 2 -> kill 3", 0, faultfs.ErrKilled, "first\nsec", false},
		{"inside write log 2 -> kill", 0, faultfs.ErrKilled, "first\n", false},
		{"inside write log 2 -> kill -1", 0, faultfs.ErrKilled, "first\nsecond", false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			f, mem, h := broken(t, c.rule)
			_, err := h.Write([]byte("first\n"))
			require.NoError(t, err)
			n, err := h.Write([]byte("second\n"))
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.n, n)
			_, err = h.Write([]byte("third\n"))
			require.Equal(t, c.later, err == nil)
			require.Equal(t, c.disk, content(t, mem, "/log"))
			require.Empty(t, f.Unused())

			cut := f.Log().Ops()[2]
			require.Equal(t, trace.Write, cut.Kind)
			require.Equal(t, c.rule, cut.Fault)
			require.Equal(t, int64(6), cut.Off)
			require.Equal(t, 7, cut.Len)
			if c.err != nil {
				require.Equal(t, c.err.Error(), cut.Err)
			} else {
				require.Empty(t, cut.Err)
			}
		})
	}
}

func TestACutThatCutsNothingIsUnused(t *testing.T) {
	f, mem, h := broken(t, "inside write log 1 -> cut 7 silent")
	_, err := h.Write([]byte("second\n"))
	require.NoError(t, err)
	require.Equal(t, "second\n", content(t, mem, "/log"))
	require.Len(t, f.Unused(), 1)
}

// The sequence seen on ext4, xfs and btrfs: cut at a block boundary, nothing, room again.
func TestFullDisk(t *testing.T) {
	for _, c := range []struct {
		rule        string
		size, first int
	}{
		{"on write log 2 -> full", 60000, 4096 - 4008},
		{"on write log 2 -> full 1", 60000, 8192 - 4008},
		{"on write log 2 -> full 2", 60000, 3*4096 - 4008},
		{"on write log 2 -> full 99", 5000, 8192 - 4008},
		{"on write log 2 -> full", 80, 0},
		{"on write log 2 -> full", 88, 0},
		{"on write log 2 -> full", 89, 88},
	} {
		t.Run(c.rule, func(t *testing.T) {
			f, mem, h := broken(t, c.rule)
			_, err := h.Write(make([]byte, 4008))
			require.NoError(t, err)
			n, err := h.Write(bytes.Repeat([]byte{1}, c.size))
			require.ErrorIs(t, err, syscall.ENOSPC)
			require.Equal(t, c.first, n)
			n, err = h.Write(bytes.Repeat([]byte{2}, 700))
			require.ErrorIs(t, err, syscall.ENOSPC)
			require.Zero(t, n)
			n, err = h.Write(bytes.Repeat([]byte{3}, 700))
			require.NoError(t, err)
			require.Equal(t, 700, n)
			require.Len(t, content(t, mem, "/log"), 4008+c.first+700)
			require.Empty(t, f.Unused())
		})
	}
	_, _, h := broken(t, "on write log 2+ -> full")
	for i := range 5 {
		_, err := h.Write([]byte("x"))
		require.Equal(t, i == 0, err == nil, "a sticky rule never heals")
	}
}

func TestDiskOfSoManyBytes(t *testing.T) {
	f, mem, h := broken(t, "", faultfs.WithDisk(10))
	_, err := h.Write([]byte("12345678"))
	require.NoError(t, err)
	n, err := h.Write([]byte("9abc"))
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorContains(t, err, "disk with room for 10 bytes")
	require.Equal(t, 2, n)
	require.Equal(t, "123456789a", content(t, mem, "/log"))
	op := f.Log().Ops()[2]
	require.Equal(t, []any{"9a", 4, "disk with room for 10 bytes"}, []any{string(op.Data), op.Len, op.Fault})
	_, err = f.Create("/names are free")
	require.NoError(t, err)

	require.NoError(t, h.Truncate(4))
	n, err = h.Write([]byte("567890"))
	require.NoError(t, err)
	require.Equal(t, 6, n)

	w, err := f.OpenFile("/log", os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = w.WriteAt([]byte("zz"), 8)
	require.NoError(t, err, "bytes that are there need no room")
	n, err = w.WriteAt([]byte("zz"), 9)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Equal(t, 1, n)
	n, err = w.WriteAt([]byte("z"), 30)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Zero(t, n)

	require.NoError(t, f.Remove("/log"))
	_, err = h.Write([]byte("x"))
	require.ErrorIs(t, err, syscall.ENOSPC, "two handles still hold the file")
	require.NoError(t, w.Close())
	other, err := f.Create("/other")
	require.NoError(t, err)
	_, err = other.Write([]byte("x"))
	require.ErrorIs(t, err, syscall.ENOSPC, "one handle still holds it")
	require.NoError(t, h.Close())
	n, err = other.Write([]byte("0123456789z"))
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Equal(t, 10, n)

	over, err := f.Create("/over")
	require.NoError(t, err)
	require.NoError(t, other.Close())
	require.NoError(t, f.Rename("/over", "/other"))
	n, err = over.Write([]byte(strings.Repeat("y", 10)))
	require.NoError(t, err, "what was renamed over has made room")
	require.Equal(t, 10, n)
	again, err := f.Create("/other")
	require.NoError(t, err)
	_, err = again.Write([]byte("room"))
	require.NoError(t, err, "an open that cuts makes room")
}

func TestMarkersStandBehindTheirWrite(t *testing.T) {
	marker := func(b []byte) string {
		if bytes.HasPrefix(b, []byte("m:")) {
			return string(b[2:])
		}
		return ""
	}
	f, _, h := broken(t, "inside write log 3 -> cut 3\ninside write log 5 -> cut 99", faultfs.WithMarker(marker))
	for _, s := range []string{"m:one", "plain", "m:two", "m:three", "m:told it failed"} {
		_, _ = h.Write([]byte(s))
	}
	require.Equal(t, []string{
		"create log", "write log 0..5", "marker one", "write log 5..10", "write log 10..13 (short, 5 asked) failed: input/output error",
		"write log 13..20", "marker three", "write log 20..36 failed: input/output error",
	}, story(f))

	f, _, h = broken(t, `before note "marker *" 2 -> kill`, faultfs.WithMarker(marker))
	_, err := h.Write([]byte("m:one"))
	require.NoError(t, err)
	_, err = h.Write([]byte("m:two"))
	require.ErrorIs(t, err, faultfs.ErrKilled)
	require.Equal(t, []string{"create log", "write log 0..5", "marker one", "write log 5..10"}, story(f))
}

func TestSyncedWrites(t *testing.T) {
	p, err := faultfs.ParsePlan("on sync log 2 -> eio")
	require.NoError(t, err)
	f := faultfs.New(faultfs.NewMem(nil), faultfs.WithPlan(p))
	h, err := f.OpenFile("/log", os.O_WRONLY|os.O_CREATE|os.O_SYNC, 0o600)
	require.NoError(t, err)
	_, err = h.Write([]byte("one\n"))
	require.NoError(t, err)
	n, err := h.Write([]byte("two\n"))
	require.ErrorIs(t, err, syscall.EIO)
	require.Equal(t, 4, n)
	require.Equal(t, []string{
		"create log", "write log 0..4", "sync log", "write log 4..8", "sync log failed: input/output error",
	}, story(f))
}

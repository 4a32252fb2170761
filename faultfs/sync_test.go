package faultfs_test

import (
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// syncs are the syncs of a log, as results and errors.
func syncs(f *faultfs.FS) (all [][2]string) {
	for _, op := range f.Log().Ops() {
		if op.IsSync() {
			all = append(all, [2]string{string(op.Result), op.Err})
		}
	}
	return all
}

const eio = "input/output error"

func TestFailClean(t *testing.T) {
	f, mem, h := broken(t, "on sync log 1 -> fail-clean")
	other, err := f.Open("/log")
	require.NoError(t, err)
	third, err := f.OpenFile("/third", os.O_CREATE|os.O_RDWR, 0o600)
	require.NoError(t, err)
	_, err = h.Write([]byte("lost\n"))
	require.NoError(t, err)

	require.ErrorIs(t, h.Sync(), syscall.EIO)
	late, err := f.Open("/log")
	require.NoError(t, err)
	require.NoError(t, third.Sync(), "another file is none of it")
	require.NoError(t, h.Sync(), "the next sync succeeds")
	require.NoError(t, late.Sync(), "a handle that was opened later hears nothing")
	require.ErrorIs(t, other.Sync(), syscall.EIO, "each other handle hears of it once")
	require.NoError(t, other.Sync())
	require.Equal(t, "lost\n", content(t, mem, "/log"), "the cache still has it")
	require.Equal(t, [][2]string{{"fail-clean", eio}, {"", ""}, {"", ""}, {"", ""}, {"", eio}, {"", ""}}, syncs(f))
}

func TestFailRO(t *testing.T) {
	f, _, h := broken(t, "on sync log 1 -> fail-ro")
	_, err := h.Write([]byte("kept?\n"))
	require.NoError(t, err)
	require.ErrorIs(t, h.Sync(), syscall.EIO)
	require.NoError(t, h.Sync(), "as on ext4")
	for name, err := range map[string]error{
		"write":    func() error { _, err := h.Write([]byte("x")); return err }(),
		"truncate": h.Truncate(0),
		"mkdir":    f.MkdirAll("/a/b", 0o700),
		"rename":   f.Rename("/log", "/b"),
		"remove":   f.Remove("/log"),
		"link":     f.Link("/log", "/b"),
		"chmod":    f.Chmod("/log", 0o644),
		"open":     func() error { _, err := f.OpenFile("/log", os.O_RDWR, 0); return err }(),
		"create":   func() error { _, err := f.Create("/new"); return err }(),
	} {
		require.ErrorIs(t, err, syscall.EROFS, name)
	}
	require.Equal(t, "kept?\n", content(t, f, "/log"), "reading goes on")
	require.Equal(t, [][2]string{{"fail-ro", eio}, {"lied", ""}}, syncs(f))
}

func TestFailShutdown(t *testing.T) {
	f, mem, h := broken(t, "on sync log 1 -> fail-shutdown")
	require.ErrorIs(t, h.Sync(), syscall.EIO)
	for name, err := range map[string]error{
		"sync":  h.Sync(),
		"write": func() error { _, err := h.Write([]byte("x")); return err }(),
		"read":  func() error { _, err := h.Read(make([]byte, 1)); return err }(),
		"stat":  func() error { _, err := f.Stat("/log"); return err }(),
		"open":  func() error { _, err := f.Open("/log"); return err }(),
		"close": h.Close(),
	} {
		require.ErrorIs(t, err, syscall.EIO, name)
	}
	require.Empty(t, content(t, mem, "/log"))
	require.Equal(t, [][2]string{{"fail-shutdown", eio}, {"", eio}}, syncs(f))
}

// synced counts the syncs that reach the base.
type synced struct {
	afero.Fs
	count *int
}

type syncedFile struct {
	afero.File
	count *int
}

func (s synced) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	f, err := s.Fs.OpenFile(name, flag, perm)
	return syncedFile{f, s.count}, err
}

func (s syncedFile) Sync() error { *s.count++; return s.File.Sync() }

func TestOtherSyncs(t *testing.T) {
	for _, c := range []struct {
		fault   string
		err     error
		reaches int // syncs of three that the disk performs
	}{
		{"fail-false", syscall.EIO, 3},
		{"fail-late", nil, 2},
		{"lied", nil, 2},
		{"eio", syscall.EIO, 2},
	} {
		p, err := faultfs.ParsePlan("on sync log 2 -> " + c.fault)
		require.NoError(t, err)
		count := 0
		f := faultfs.New(synced{faultfs.NewMem(nil), &count}, faultfs.WithPlan(p))
		h, err := f.Create("/log")
		require.NoError(t, err)
		require.NoError(t, h.Sync())
		require.ErrorIs(t, h.Sync(), c.err)
		require.NoError(t, h.Sync())
		require.Equal(t, c.reaches, count, c.fault)
		result := c.fault
		if result == "eio" {
			result = ""
		}
		require.Equal(t, trace.SyncResult(result), f.Log().Ops()[2].Result)
		require.Equal(t, p.Rules[0].String(), f.Log().Ops()[2].Fault)
	}
}

func TestShortReads(t *testing.T) {
	f, _, h := broken(t, "on read log 2 -> short 3")
	_, err := h.Write([]byte("0123456789"))
	require.NoError(t, err)
	_, err = h.Seek(0, io.SeekStart)
	require.NoError(t, err)
	b := make([]byte, 4)
	for _, want := range []string{"0123", "456", "789"} {
		n, err := h.Read(b)
		require.NoError(t, err)
		require.Equal(t, want, string(b[:n]))
	}
	require.Empty(t, f.Unused())

	_, _, h = broken(t, "on read log 1 -> short 3")
	_, err = h.Write([]byte("0123456789"))
	require.NoError(t, err)
	n, err := h.ReadAt(b, 2)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "io.ReaderAt must say why")
	require.Equal(t, "234", string(b[:n]))
}

func TestClosedHandlesAreNotSyncs(t *testing.T) {
	f, _, h := broken(t, "")
	require.NoError(t, h.Close())
	require.ErrorIs(t, h.Sync(), os.ErrClosed)
	require.Equal(t, []string{"create log"}, story(f))
}

package faultfs_test

import (
	"os"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// folder is the layer over a real, empty folder.
func folder(t *testing.T, opts ...faultfs.Option) *faultfs.FS {
	t.Helper()
	return faultfs.New(afero.NewBasePathFs(afero.NewOsFs(), t.TempDir()), opts...)
}

// story is the log in words.
func story(f *faultfs.FS) []string {
	var s []string
	for _, op := range f.Log().Ops() {
		s = append(s, op.String())
	}
	return s
}

func TestRecordsWhatChangesAndNothingElse(t *testing.T) {
	f := folder(t)
	require.NoError(t, f.MkdirAll("/a/b", 0o700))
	h, err := f.OpenFile("/a/b/log.jsonl", os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	require.NoError(t, err)
	_, err = h.Write([]byte("one\n"))
	require.NoError(t, err)
	f.Note("append %d called", 1)
	_, err = h.WriteString("two\n")
	require.NoError(t, err)
	require.NoError(t, h.Sync())
	_, err = h.Seek(0, 0)
	require.NoError(t, err)
	all, err := afero.ReadAll(h)
	require.NoError(t, err)
	require.Equal(t, "one\ntwo\n", string(all))
	require.NoError(t, h.Truncate(4))
	require.NoError(t, h.Close())
	require.NoError(t, f.Rename("/a/b/log.jsonl", "/a/new"))
	dir, err := f.Open("/a")
	require.NoError(t, err)
	require.NoError(t, dir.Sync())
	require.NoError(t, dir.Close())
	require.NoError(t, f.Chmod("/a/new", 0o640))
	require.NoError(t, f.RemoveAll("/a"))
	require.Equal(t, []string{
		"mkdir a", "mkdir a/b", "create a/b/log.jsonl", "write a/b/log.jsonl 0..4", "append 1 called",
		"write a/b/log.jsonl 4..8", "sync a/b/log.jsonl", "truncate a/b/log.jsonl to 4", "rename a/b/log.jsonl to a/new",
		"sync folder a", "chmod a/new 0640", "remove a/b", "remove a/new", "remove a",
	}, story(f))
	ops := f.Log().Ops()
	file := ops[2].Ino
	require.Equal(t, trace.Root, ops[0].Dir)
	require.Equal(t, ops[0].Ino, ops[1].Dir)
	require.Equal(t, ops[1].Ino, ops[2].Dir)
	for _, i := range []int{3, 5, 6, 7, 8, 10, 12} {
		require.Equal(t, file, ops[i].Ino, "op %d", i)
	}
}

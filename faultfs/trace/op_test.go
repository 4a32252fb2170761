package trace_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs/trace"
)

func TestKindsPrintAndParse(t *testing.T) {
	for k := trace.Create; k <= trace.Note; k++ {
		again, err := trace.ParseKind(k.String())
		require.NoError(t, err)
		require.Equal(t, k, again)
	}
	require.Equal(t, "kind(200)", trace.Kind(200).String())
	_, err := trace.ParseKind("kind(200)")
	require.ErrorContains(t, err, "want one of create, mkdir, write")
}

func TestOpsInWords(t *testing.T) {
	changes := map[trace.Kind]bool{}
	for _, c := range []struct {
		op      trace.Op
		words   string
		changes bool
	}{
		{trace.Op{Kind: trace.Create, Path: "/a/b"}, "create a/b", true},
		{trace.Op{Kind: trace.Create, Path: "/a", Err: "file exists"}, "create a failed: file exists", false},
		{trace.Op{Kind: trace.Mkdir, Path: "/a"}, "mkdir a", true},
		{trace.Op{Kind: trace.Write, Path: "/a", Off: 10, Data: []byte("abc"), Len: 3}, "write a 10..13", true},
		{trace.Op{Kind: trace.Write, Path: "/a", Data: []byte("abc"), Len: 5, Err: "full"}, "write a 0..3 (short, 5 asked) failed: full", true},
		{trace.Op{Kind: trace.Write, Path: "/a", Len: 5, Err: "full"}, "write a 0..0 (short, 5 asked) failed: full", false},
		{trace.Op{Kind: trace.Truncate, Path: "/a", Size: 4}, "truncate a to 4", true},
		{trace.Op{Kind: trace.Rename, Path: "/a", Path2: "/b/c"}, "rename a to b/c", true},
		{trace.Op{Kind: trace.Remove, Path: "/a"}, "remove a", true},
		{trace.Op{Kind: trace.Link, Path: "/a", Path2: "/b"}, "link a to b", true},
		{trace.Op{Kind: trace.Chmod, Path: "/a", Mode: 0o600}, "chmod a 0600", true},
		{trace.Op{Kind: trace.SyncFile, Path: "/a", Result: trace.SyncLied}, "sync a (lied)", false},
		{trace.Op{Kind: trace.SyncDir, Path: "/"}, "sync folder .", false},
		{trace.Op{Kind: trace.SyncDir, Path: "/a", Err: "EIO", Result: trace.SyncFailRO}, "sync folder a failed: EIO (fail-ro)", false},
		{trace.Op{Kind: trace.Lock, Path: "/a"}, "lock a", false},
		{trace.Op{Kind: trace.Unlock, Path: "/a"}, "unlock a", false},
		{trace.Op{Kind: trace.Note, Text: "append 7 called"}, "append 7 called", false},
	} {
		assert.Equal(t, c.words, c.op.String())
		assert.Equal(t, c.changes, c.op.Changes(), c.words)
		assert.Equal(t, c.op.Kind == trace.SyncFile || c.op.Kind == trace.SyncDir, c.op.IsSync(), c.words)
		changes[c.op.Kind] = true
	}
	for k := trace.Create; k <= trace.Note; k++ {
		assert.True(t, changes[k], "%s has no case", k)
	}
	op := trace.Op{Path: "/a/b", Path2: "/c"}
	require.Equal(t, []string{"b", "c"}, []string{op.Entry(), op.Entry2()})
}

func TestLogKeepsOrderAndItsPast(t *testing.T) {
	var log trace.Log
	require.Equal(t, 0, log.Note("100% as it is"))
	early := log.Ops()
	require.Equal(t, 1, log.Note("append %d", 7))
	require.Len(t, early, 1)
	_ = append(early, trace.Op{Text: "mine"})
	require.Equal(t, "append 7", log.Ops()[1].Text)
	require.Equal(t, "100% as it is", log.Ops()[0].Text)

	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := range 50 {
				n := log.Note("%d %d", w, i)
				assert.Equal(t, fmt.Sprintf("%d %d", w, i), log.Ops()[n].Text)
			}
		})
	}
	all.Wait()
	require.Equal(t, 202, log.Len())
}

package crash

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// TestInsideAnOp: a write in flight may be on the disk wholly, in part or not at all; a sync
// in flight did nothing.
func TestInsideAnOp(t *testing.T) {
	s := newScript().create("/a").durable().append("/a", "abcdef").sync("/a")
	h := s.history()
	assert.Equal(t, []string{"a="}, shown(t, Contiguous, h, Cut{At: 0}, small(4)))
	all := []string{"a=", "a=abcd", "a=abcdef"}
	assert.Equal(t, all, shown(t, Contiguous, h, Cut{At: 0, Inside: true}, small(4)))
	assert.Equal(t, all, shown(t, Prefix, h, Cut{At: 0, Inside: true}, small(4)))
	assert.Equal(t, all, shown(t, Kill, h, Cut{At: 0, Inside: true}, small(4)))
	assert.Equal(t, all, shown(t, Contiguous, h, Cut{At: 1, Inside: true}, small(4)))
	assert.Equal(t, all[2:], shown(t, Contiguous, h, Cut{At: 2}, small(4)))
}

func TestEpochsAndCuts(t *testing.T) {
	s := newScript().create("/a").append("/a", "x").sync("/a").syncAs("/a", trace.SyncLied).sync("/").append("/a", "y")
	s.do(trace.Op{Kind: trace.SyncFile, Ino: s.ino("/a"), Err: "EIO"})
	assert.Equal(t, []Cut{{2, true}, {4, true}, {7, false}}, Epochs(s.ops))
	assert.Equal(t, []Cut{{0, false}, {1, false}, {1, true}, {2, false}, {3, false}, {4, false}, {5, false}, {5, true}, {6, false}, {7, false}}, Cuts(s.ops))
	assert.Equal(t, []Cut{{0, false}}, Epochs(nil))
}

func TestCovered(t *testing.T) {
	s := newScript().create("/a"). // 0: covered by 7
					append("/a", "x"). // 1: by 2
					sync("/a").        // 2
					append("/a", "y"). // 3: dropped by 4
					syncAs("/a", trace.SyncFailClean).
					sync("/a").        // 5
					append("/a", "z"). // 6: never
					sync("/").         // 7
					mkdir("/d").       // 8: never
					rename("/a", "/d/a").
					sync("/d").          // 10: half of 9
					chmod("/d/a", 0o640) // 11
	h := s.history()
	want := []bool{true, true, true, false, true, true, false, true, false, false, true, false}
	assert.Equal(t, want, Covered(h, len(h.Ops)))
	assert.Equal(t, []bool{false, false}, Covered(h, 2))
	s.sync("/").sync("/d/a")
	for _, i := range []int{6, 8, 9, 11} {
		want[i] = true
	}
	assert.Equal(t, append(want, true, true), Covered(s.history(), len(s.ops)))
}

// TestCoveredIsSynced: with every op covered, synced leaves exactly what is there.
func TestCoveredIsSynced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := randomScript(t, 10, []trace.SyncResult{trace.SyncOK})
		s.live.Walk(func(p string, _ image.Info) bool {
			if rapid.Bool().Draw(t, "sync") {
				s.sync(p)
			}
			return true
		})
		all := true
		for _, c := range Covered(s.history(), len(s.ops)) {
			all = all && c
		}
		sp, err := NewSpace(Synced, s.history(), s.end(), small(4))
		require.NoError(t, err)
		if all {
			require.NoError(t, sp.Contains(s.live))
		}
	})
}

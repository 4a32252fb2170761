package crash

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs/trace"
)

func TestFailedSyncs(t *testing.T) {
	log := func() *script {
		return newScript().create("/log").append("/log", "abcd").durable().append("/log", "ef")
	}
	for _, c := range []struct {
		why    string
		script *script
		model  Model
		want   []string
	}{
		{"a plain failure promises nothing", log().do(trace.Op{Kind: trace.SyncFile, Ino: 2, Err: "EIO"}), OwnPage, []string{"log=abcd", "log=abcdef"}},
		{"a lie promises nothing", log().syncAs("/log", trace.SyncLied), OwnPage, []string{"log=abcd", "log=abcdef"}},
		{"fail-false promises all", log().syncAs("/log", trace.SyncFailFalse), OwnPage, []string{"log=abcdef"}},
		{"fail-clean leaves a hole of the new size", log().syncAs("/log", trace.SyncFailClean), OwnPage, []string{"log=abcd.."}},
		{"fail-late the same, though it said ok", log().syncAs("/log", trace.SyncFailLate), Ext4Ordered, []string{"log=abcd.."}},
		{"the same under prefix", log().syncAs("/log", trace.SyncFailClean), Prefix, []string{"log=abcd.."}},
		{"the next sync succeeds and does not bring them back", log().syncAs("/log", trace.SyncFailClean).append("/log", "gh").sync("/log"), Ext4OOO, []string{"log=abcd..gh"}},
		{"nor under posix-worst", log().syncAs("/log", trace.SyncFailClean).append("/log", "gh").sync("/log"), PosixWorst, []string{"log=abcd..gh"}},
		{"nor under synced", log().syncAs("/log", trace.SyncFailClean).append("/log", "gh").sync("/log"), Synced, []string{"log=abcd..gh"}},
		{"nor under prefix", log().syncAs("/log", trace.SyncFailClean).append("/log", "gh").sync("/log"), Prefix, []string{"log=abcd..gh"}},
		{"synced waits for the next sync with the size as well", log().syncAs("/log", trace.SyncFailClean), Synced, []string{"log=abcd"}},
		{"an overwrite that was dropped leaves the old bytes", newScript().create("/log").append("/log", "abcd").durable().write("/log", 1, "XX").syncAs("/log", trace.SyncFailClean), OwnPage, []string{"log=abcd"}},
		{"a truncate before it counts", newScript().create("/log").append("/log", "abcdef").durable().truncate("/log", 1).append("/log", "XX").syncAs("/log", trace.SyncFailClean), OwnPage, []string{"log=a.."}},
		{"and under prefix", newScript().create("/log").append("/log", "abcdef").durable().truncate("/log", 1).append("/log", "XX").syncAs("/log", trace.SyncFailClean), Prefix, []string{"log=a.."}},
		{"fail-ro shows what was durable, whatever came later", log().syncAs("/log", trace.SyncFailRO).append("/log", "gh").sync("/log"), Writeback, []string{"log=abcd"}},
		{"fail-ro under prefix", log().syncAs("/log", trace.SyncFailRO).append("/log", "gh").sync("/log"), Prefix, []string{"log=abcd"}},
		{"fail-shutdown keeps what is pending in doubt", log().syncAs("/log", trace.SyncFailShutdown).append("/log", "gh").sync("/log"), Writeback, []string{"log=abcd", "log=abcd..", "log=abcdef"}},
		{"fail-shutdown under prefix", log().syncAs("/log", trace.SyncFailShutdown).append("/log", "gh").sync("/log"), Prefix, []string{"log=abcd", "log=abcdef"}},
		{"kill keeps the page cache, whatever the sync said", log().syncAs("/log", trace.SyncFailClean).append("/log", "gh"), Kill, []string{"log=abcdefgh"}},
	} {
		got := shown(t, c.model, c.script.history(), c.script.end(), small(4))
		assert.ElementsMatch(t, c.want, got, "%s: %s", c.model, c.why)
	}
}

func TestLyingFlush(t *testing.T) {
	s := newScript().create("/log").append("/log", "a").durable().
		append("/log", "b").sync("/log").append("/log", "c").sync("/log").append("/log", "d").sync("/log")
	for k, want := range map[int][]string{
		0: {"log=abc", "log=abcd"}, // 0 is 1
		1: {"log=abc", "log=abcd"},
		2: {"log=ab", "log=abc", "log=abcd"},
		3: {"log=a", "log=ab", "log=abc", "log=abcd"},
		9: {"log=a", "log=ab", "log=abc", "log=abcd"},
	} {
		o := small(1)
		o.LyingSyncs = k
		assert.ElementsMatch(t, want, shown(t, LyingFlush, s.history(), s.end(), o), "the last %d syncs lied", k)
		o.Base = Contiguous
		assert.ElementsMatch(t, want, shown(t, LyingFlush, s.history(), s.end(), o), "the last %d syncs lied", k)
	}
	o := small(4)
	o.Base = Synced
	assert.Equal(t, []string{"log=abc"}, shown(t, LyingFlush, s.history(), s.end(), o))
	require.Equal(t, []string{"log=abcd"}, shown(t, Prefix, s.history(), s.end(), small(1)))
}

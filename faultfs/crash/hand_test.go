package crash

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/unplug-go/unplug/faultfs/trace"
)

// handCase is a small trace with all its states, written down by hand. Pages are 4 bytes;
// a dot is NUL.
type handCase struct {
	why    string // what the case shows
	script *script
	model  Model
	tear   int
	want   []string
}

func TestStatesByHand(t *testing.T) {
	cases := []handCase{
		{
			"kill keeps all that was done, synced or not",
			newScript().create("/a").append("/a", "xy"), Kill, 4,
			[]string{"a=xy"},
		},
		{
			"synced has one state; a name without a folder sync is not in it",
			newScript().create("/a").append("/a", "xy").sync("/a"), Synced, 4,
			[]string{""},
		},
		{
			"synced: a durable name of a file never synced shows an empty file",
			newScript().create("/a").append("/a", "xy").sync("/"), Synced, 4,
			[]string{"a="},
		},
		{
			"synced undoes an unsynced truncate and rename",
			newScript().create("/a").append("/a", "xy").durable().truncate("/a", 1).rename("/a", "/b"),
			Synced, 4,
			[]string{"a=xy"},
		},
		{
			"prefix is one line of bytes",
			newScript().create("/a").durable().append("/a", "xyz"), Prefix, 1,
			[]string{"a=", "a=x", "a=xy", "a=xyz"},
		},
		{
			"prefix takes a truncate as one step, and an equal image only once",
			newScript().create("/a").append("/a", "xy").durable().truncate("/a", 0).append("/a", "xy"), Prefix, 1,
			[]string{"a=xy", "a=", "a=x"},
		},
		{
			"prefix: bytes that were the same before make no state",
			newScript().create("/a").append("/a", "abcd").durable().write("/a", 0, "aXcY"), Prefix, 1,
			[]string{"a=abcd", "a=aXcd", "a=aXcY"},
		},
		{
			"prefix: what is written to a removed file makes no state",
			newScript().create("/a").append("/a", "x").durable().remove("/a").do(trace.Op{
				Kind: trace.Write, Ino: 2, Path: "/a", Off: 1, Data: []byte("yz"), Len: 2,
			}), Prefix, 1,
			[]string{"a=x", ""},
		},
		{
			"prefix: nor after the removal is durable",
			newScript().create("/a").append("/a", "x").durable().remove("/a").sync("/").do(trace.Op{
				Kind: trace.Write, Ino: 2, Path: "/a", Off: 1, Data: []byte("yz"), Len: 2,
			}), Prefix, 1,
			[]string{""},
		},
		{
			"prefix: a sync makes all that came before durable, other files too",
			newScript().create("/a").create("/b").durable().append("/a", "x").append("/b", "y").sync("/b").append("/a", "z"),
			Prefix, 1,
			[]string{"a=x; b=y", "a=xz; b=y"},
		},
		{
			"contiguous never passes a byte that is not there, but stops at pages",
			newScript().create("/a").append("/a", "ab").durable().append("/a", "cdefg"), Contiguous, 2,
			[]string{"a=ab", "a=abcd", "a=abcdefg"},
		},
		{
			"own-page leaves a hole before the last page",
			newScript().create("/a").append("/a", "ab").durable().append("/a", "cdefg"), OwnPage, 4,
			[]string{"a=ab", "a=abcd", "a=ab..efg", "a=abcdefg"},
		},
		{
			"own-page tears the hole by units",
			newScript().create("/a").append("/a", "a").durable().append("/a", "bcdef"), OwnPage, 2,
			[]string{"a=a", "a=abcd", "a=a...ef", "a=a.cdef", "a=ab..ef", "a=abcdef"},
		},
		{
			"ext4-ordered has NULs at the end of the old page, never in a new one",
			newScript().create("/a").append("/a", "ab").durable().append("/a", "cdefghij"), Ext4Ordered, 4,
			[]string{"a=ab", "a=ab..", "a=abcd", "a=ab..efgh", "a=abcdefgh", "a=ab..efghij", "a=abcdefghij"},
		},
		{
			"ext4-ooo: an earlier new page may be missing",
			newScript().create("/a").append("/a", "abcd").durable().append("/a", "efghij"), Ext4OOO, 4,
			[]string{"a=abcd", "a=abcdefgh", "a=abcd....ij", "a=abcdefghij"},
		},
		{
			"writeback: the last page may be missing too",
			newScript().create("/a").append("/a", "abcd").durable().append("/a", "efghij"), Writeback, 4,
			[]string{"a=abcd", "a=abcd....", "a=abcdefgh", "a=abcd......", "a=abcd....ij", "a=abcdefgh..", "a=abcdefghij"},
		},
		{
			"posix-worst: a later write to a unit survives without the earlier one",
			newScript().create("/a").durable().append("/a", "x").append("/a", "y"), PosixWorst, 4,
			[]string{"a=", "a=.", "a=x", "a=..", "a=.y", "a=x.", "a=xy"},
		},
	}
	checkByHand(t, cases)
}

func TestNamesByHand(t *testing.T) {
	cases := []handCase{
		{
			"a created file is missing, empty or there; its sync brings the name",
			newScript().create("/a").append("/a", "x"), OwnPage, 4,
			[]string{"", "a=", "a=x"},
		},
		{
			"a synced file has its name, without a folder sync",
			newScript().create("/a").append("/a", "x").sync("/a"), OwnPage, 4,
			[]string{"a=x"},
		},
		{
			"but not under posix-worst",
			newScript().create("/a").append("/a", "x").sync("/a"), PosixWorst, 4,
			[]string{"", "a=x"},
		},
		{
			"a synced file brings the folders made to hold it",
			newScript().mkdir("/d").create("/d/a").append("/d/a", "x").sync("/d/a"), Ext4OOO, 4,
			[]string{"d/; d/a=x"},
		},
		{
			"names are one chain: b is not there without a",
			newScript().create("/a").create("/b"), Writeback, 4,
			[]string{"", "a=", "a=; b="},
		},
		{
			"under posix-worst they are independent",
			newScript().create("/a").create("/b"), PosixWorst, 4,
			[]string{"", "a=", "b=", "a=; b="},
		},
		{
			"rename to a fresh name of bytes never synced: zero length",
			newScript().create("/t").durable().append("/t", "new").rename("/t", "/a"), OwnPage, 4,
			[]string{"t=", "t=new", "a=", "a=new"},
		},
		{
			"rename over an old file without a sync: own-page leaves it empty",
			newScript().create("/a").append("/a", "old").create("/t").durable().append("/t", "new").rename("/t", "/a"), OwnPage, 4,
			[]string{"a=old; t=", "a=old; t=new", "a=", "a=new"},
		},
		{
			"replace-flush: ext4 leaves old or new",
			newScript().create("/a").append("/a", "old").create("/t").durable().append("/t", "new").rename("/t", "/a"), Ext4OOO, 4,
			[]string{"a=old; t=", "a=old; t=new", "a=new"},
		},
		{
			"replace-flush does not wait at a fresh name",
			newScript().create("/t").durable().append("/t", "new").rename("/t", "/a"), Ext4OOO, 4,
			[]string{"t=", "t=new", "a=", "a=new"},
		},
		{
			"replace-flush: a durable rename has brought the bytes along",
			newScript().create("/a").create("/t").durable().append("/t", "new").rename("/t", "/a").sync("/").append("/a", "er"), Ext4OOO, 4,
			[]string{"a=new", "a=new.", "a=newe", "a=newer", "a=new.r"},
		},
		{
			"ext4-ordered has names and sizes in one chain",
			newScript().create("/t").durable().append("/t", "x").rename("/t", "/a").append("/a", "y"), Ext4Ordered, 4,
			[]string{"t=", "t=x", "a=x", "a=x.", "a=xy"},
		},
		{
			"ext4-ordered: a sync with a size step takes the names before it along",
			newScript().create("/a").append("/a", "xy").durable().create("/b").append("/a", "z").sync("/a"), Ext4Ordered, 4,
			[]string{"a=xyz; b="},
		},
		{
			"ext4-ordered: a sync of an overwrite, which is no part of the chain, does not",
			newScript().create("/a").append("/a", "xy").durable().create("/b").write("/a", 0, "z").sync("/a"), Ext4Ordered, 4,
			[]string{"a=zy", "a=zy; b="},
		},
		{
			"posix-worst: a rename over a file is three changes",
			newScript().create("/a").append("/a", "o").create("/t").append("/t", "n").durable().rename("/t", "/a"), PosixWorst, 4,
			[]string{"a=o; t=n", "t=n", "a=n; t=n", "a=o", "", "a=n"},
		},
		{
			"a folder sync makes the rename durable there",
			newScript().create("/t").append("/t", "n").durable().rename("/t", "/a").sync("/"), PosixWorst, 4,
			[]string{"a=n"},
		},
		{
			"a removed file comes back, unless its folder was synced",
			newScript().create("/a").append("/a", "x").durable().remove("/a"), OwnPage, 4,
			[]string{"a=x", ""},
		},
		{
			"a linked file has both names or the old one, and one content",
			newScript().create("/a").durable().link("/a", "/b").append("/a", "x"), OwnPage, 4,
			[]string{"a=", "a=x", "a=; b=", "a=x; b=x"},
		},
		{
			"a rename between two names of one file does nothing, as the kernel has it",
			newScript().create("/a").link("/a", "/b").durable().rename("/a", "/b"), OwnPage, 4,
			[]string{"a=; b="},
		},
		{
			"nor after a kill",
			newScript().create("/a").link("/a", "/b").durable().rename("/a", "/b"), Kill, 4,
			[]string{"a=; b="},
		},
		{
			"files made anew under old names: each tree once",
			newScript().create("/a").create("/b").durable().remove("/a").remove("/b").
				create("/a").create("/b").append("/a", "q").append("/b", "r"), OwnPage, 4,
			[]string{"a=; b=", "b=", "", "a=", "a=q", "a=q; b=", "a=q; b=r", "a=; b=r"},
		},
		{
			"a folder has one name, or none",
			newScript().mkdir("/d").create("/d/a").durable().rename("/d", "/e"), PosixWorst, 4,
			[]string{"d/; d/a=", "", "e/; e/a="},
		},
	}
	checkByHand(t, cases)
}

func TestTruncateByHand(t *testing.T) {
	cases := []handCase{
		{
			"truncate inside the last page: the old size may show zeroed or newer bytes",
			newScript().create("/log").append("/log", "abcdefgh").durable().truncate("/log", 5).append("/log", "XY"), OwnPage, 4,
			[]string{
				"log=abcdefgh", "log=abcde...", "log=abcdeXY.", // the truncate is outside the cut
				"log=abcde", // "e" and zeros, or newer: one image
				"log=abcdeXY",
			},
		},
		{
			"the zeroing holds its own units to the truncate, not the whole page",
			newScript().create("/a").durable().append("/a", "abcd").truncate("/a", 2).append("/a", "xyz"), OwnPage, 2,
			[]string{
				"a=", "a=abcd", "a=abxy", "a=ab..", // the first size of 4, and the truncate not yet
				"a=ab", // page as of the truncate
				"a=..xyz", "a=....z", "a=abxyz", "a=ab..z",
			},
		},
		{
			"truncate to a page boundary frees the rest: old bytes until it takes effect, never new ones",
			newScript().create("/log").append("/log", "abcdef").durable().truncate("/log", 4).append("/log", "XY"), OwnPage, 4,
			[]string{"log=abcdef", "log=abcd", "log=abcdXY"},
		},
		{
			"under writeback the freed page is a hole until it is written",
			newScript().create("/log").append("/log", "abcdef").durable().truncate("/log", 4).append("/log", "XY"), Writeback, 4,
			[]string{"log=abcdef", "log=abcd", "log=abcd..", "log=abcdXY"},
		},
		{
			"truncate to nothing and rewrite: old, empty or new",
			newScript().create("/a").append("/a", "old").durable().truncate("/a", 0).append("/a", "new"), Ext4OOO, 4,
			[]string{"a=old", "a=", "a=new"},
		},
		{
			"a truncate that is synced leaves nothing of the torn tail",
			newScript().create("/log").append("/log", "abcdefgh").durable().truncate("/log", 5).sync("/log").append("/log", "XY"), OwnPage, 4,
			[]string{"log=abcde", "log=abcdeXY"},
		},
		{
			"a size that comes back shows each content once",
			newScript().create("/a").append("/a", "ab").durable().truncate("/a", 1).append("/a", "b"), Ext4Ordered, 4,
			[]string{"a=ab", "a=a.", "a=a"},
		},
		{
			"posix-worst: what is written after a page was freed never shows under the old size",
			newScript().create("/log").append("/log", "abcdef").durable().truncate("/log", 4).append("/log", "X"), PosixWorst, 4,
			[]string{"log=abcdef", "log=abcd", "log=abcd.", "log=abcdX"},
		},
		{
			"what a write leaves out of a freed page is a hole, not what was there",
			newScript().create("/a").append("/a", "abcdefgh").durable().truncate("/a", 4).write("/a", 6, "X"), PosixWorst, 4,
			[]string{"a=abcdefgh", "a=abcd", "a=abcd...", "a=abcd..X"},
		},
		{
			"two lives of the same pages, which have a hole in common",
			newScript().create("/a").durable().append("/a", "abcdefgh").truncate("/a", 0).append("/a", "ABCDEFGH"), Writeback, 4,
			[]string{
				"a=", "a=....", "a=abcd", "a=ABCD", "a=........", "a=....efgh", "a=abcd....", "a=abcdefgh",
				"a=....EFGH", "a=ABCD....", "a=ABCDEFGH",
			},
		},
		{
			"posix-worst: of two truncates the later one zeroes the rest of the page too",
			newScript().create("/a").durable().append("/a", "xyz").truncate("/a", 2).truncate("/a", 1), PosixWorst, 4,
			[]string{"a=", "a=...", "a=xyz", "a=xy.", "a=x..", "a=..", "a=xy", "a=x.", "a=.", "a=x"},
		},
		{
			"posix-worst: the zeroing may be missing under the new size",
			newScript().create("/a").append("/a", "abc").durable().truncate("/a", 1).truncate("/a", 3), PosixWorst, 4,
			[]string{"a=abc", "a=a..", "a=a"},
		},
	}
	checkByHand(t, cases)
}

// TestForgedLine is the splice that real ext4 and XFS showed: a torn tail is cut off and a
// record appended with one sync for both; the crash shows the old size over the new page.
func TestForgedLine(t *testing.T) {
	s := newScript().create("/log").append("/log", "A\nBBBB").durable().truncate("/log", 2).append("/log", "CC")
	for _, m := range []Model{Contiguous, OwnPage, Ext4Ordered, Ext4OOO, Writeback, PosixWorst} {
		states := shown(t, m, s.history(), s.end(), Options{page: 8, Tear: 4})
		assert.Contains(t, states, "log=A\nCCBB", "%s: the new record runs into the old tail", m)
	}
	for _, m := range []Model{Prefix, Synced} {
		states := shown(t, m, s.history(), s.end(), Options{page: 8, Tear: 4})
		assert.NotContains(t, states, "log=A\nCCBB", "%s", m)
	}
	synced := newScript().create("/log").append("/log", "A\nBBBB").durable().truncate("/log", 2).sync("/log").append("/log", "CC")
	for _, m := range []Model{OwnPage, Ext4OOO, Writeback, PosixWorst} {
		states := shown(t, m, synced.history(), synced.end(), Options{page: 8, Tear: 4})
		assert.NotContains(t, states, "log=A\nCCBB", "%s: a sync between them", m)
	}
}

func checkByHand(t *testing.T, cases []handCase) {
	t.Helper()
	for _, c := range cases {
		got := shown(t, c.model, c.script.history(), c.script.end(), small(c.tear))
		assert.ElementsMatch(t, c.want, got, "%s/%d: %s", c.model, c.tear, c.why)
	}
}

func TestStaleBytes(t *testing.T) {
	s := newScript().create("/log").append("/log", "abcdef").durable().truncate("/log", 4).append("/log", "XY")
	for _, m := range []Model{Writeback, PosixWorst} {
		o := small(4)
		o.Stale = true
		assert.ElementsMatch(t, []string{"log=abcdef", "log=abcd", "log=abcd..", "log=abcdXY"},
			shown(t, m, s.history(), s.end(), o), "%s: the old bytes in the new size are the old image here", m)
	}
	s.append("/log", "Z")
	o := small(4)
	o.Stale = true
	assert.Contains(t, shown(t, Writeback, s.history(), s.end(), o), "log=abcdef.")
	assert.NotContains(t, shown(t, Writeback, s.history(), s.end(), small(4)), "log=abcdef.")
}

func TestReplaceFlushOption(t *testing.T) {
	s := newScript().create("/a").append("/a", "old").create("/t").durable().append("/t", "new").rename("/t", "/a")
	on, off := true, false
	for m, flush := range map[Model]*bool{Ext4OOO: &off, Contiguous: &off, Writeback: &on, OwnPage: &on} {
		o := small(4)
		o.ReplaceFlush = flush
		states := shown(t, m, s.history(), s.end(), o)
		if *flush {
			assert.NotContains(t, states, "a=", "%s", m)
		} else {
			assert.Contains(t, states, "a=", "%s", m)
		}
	}
}

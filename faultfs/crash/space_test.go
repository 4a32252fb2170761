package crash

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

func everyResult() []trace.SyncResult { return append(trace.SyncResults(), trace.SyncOK) }

func powerModels() []Model {
	return []Model{Synced, Prefix, Contiguous, OwnPage, Ext4Ordered, Ext4OOO, Writeback, PosixWorst, LyingFlush}
}

// TestPlannerIsNewSpace: a planner that went through all cuts before gives the same space
// as one that begins anew, and what it gave before does not change.
func TestPlannerIsNewSpace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := randomScript(t, 12, everyResult())
		m := rapid.SampledFrom(Models()).Draw(t, "model")
		tear := rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "tear")
		p, err := NewPlanner(m, s.history(), small(tear))
		require.NoError(t, err)
		spaces := map[Cut]*Space{}
		for _, cut := range Cuts(s.ops) {
			spaces[cut], err = p.Space(cut)
			require.NoError(t, err)
		}
		for _, cut := range Cuts(s.ops) {
			fresh, err := NewSpace(m, s.history(), cut, small(tear))
			require.NoError(t, err)
			if fresh.Count().Cmp(bigOf(200)) > 0 {
				continue
			}
			var want, got []string
			for st := range fresh.All() {
				want = append(want, st.Choice()+" "+show(st.Image))
			}
			for st := range spaces[cut].All() {
				got = append(got, st.Choice()+" "+show(st.Image))
			}
			require.Equal(t, want, got, "%s at %+v", m, cut)
		}
	})
}

// TestEpochsAreEnough: every state of every cut is one of the next epoch's.
func TestEpochsAreEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := randomScript(t, 10, everyResult())
		tear := rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "tear")
		epochs := Epochs(s.ops)
		for _, m := range powerModels() {
			next := 0
			for at := range len(s.ops) + 1 {
				for epochs[next].At < at {
					next++
				}
				early, err := NewSpace(m, s.history(), Cut{At: at}, small(tear))
				require.NoError(t, err)
				late, err := NewSpace(m, s.history(), epochs[next], small(tear))
				require.NoError(t, err)
				if early.Count().Cmp(bigOf(100)) > 0 {
					continue
				}
				for st := range early.All() {
					require.NoError(t, late.Contains(st.Image), "%s: state %s of cut %d is not in epoch %+v", m, show(st.Image), at, epochs[next])
				}
			}
		}
	})
}

// TestSampleIsHonest: at most n states, all different, all of the space; all if there are
// no more; the same for the same seed.
func TestSampleIsHonest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := randomScript(t, 10, everyResult())
		m := rapid.SampledFrom(Models()).Draw(t, "model")
		sp, err := NewSpace(m, s.history(), s.end(), small(2))
		require.NoError(t, err)
		n := rapid.IntRange(1, 60).Draw(t, "n")
		var runs [2][]string
		for i := range runs {
			seen := map[image.Hash]bool{}
			for st := range sp.Sample(rand.New(rand.NewPCG(1, 2)), n) {
				runs[i] = append(runs[i], st.Choice())
				require.NoError(t, sp.Contains(st.Image))
				again, err := sp.At(st.Choice())
				require.NoError(t, err)
				require.Equal(t, again.Image.Hash(), st.Image.Hash())
				seen[st.Image.Hash()] = true
			}
			if m != PosixWorst {
				require.Len(t, seen, len(runs[i]), "states repeat")
			}
		}
		require.Equal(t, runs[0], runs[1])
		require.LessOrEqual(t, len(runs[0]), n)
		if sp.Count().Cmp(bigOf(n)) <= 0 {
			require.Equal(t, sp.Count().String(), bigOf(len(runs[0])).String())
		} else {
			require.Len(t, runs[0], n, "there are %s", sp.Count())
		}
	})
}

// TestSampleOrder: the telling states come first.
func TestSampleOrder(t *testing.T) {
	s := newScript().create("/log").append("/log", "ab").durable().append("/log", "cdefghijklmn")
	sp, err := NewSpace(Writeback, s.history(), s.end(), small(4))
	require.NoError(t, err)
	var got []string
	for st := range sp.Sample(rand.New(rand.NewPCG(1, 2)), 28) {
		if info, _ := st.Image.Stat(s.ino("/log")); info.Size == 14 {
			got = append(got, show(st.Image)[4:])
		}
	}
	assert.Equal(t, []string{
		"ab............", "abcdefghijklmn", // all old, all new
		"abcd..........", "abcdefgh......", "abcdefghijkl..", // prefixes
		"ab..efghijklmn", "ab......ijklmn", "ab..........mn", // suffixes
		"abcd....ijklmn", "abcdefgh....mn", // each alone old, where new
	}, got[:10])
}

// TestSampleOfMany: beyond any walk the telling states still come, and no state twice.
func TestSampleOfMany(t *testing.T) {
	s := newScript().create("/log").durable()
	for range 200 {
		s.append("/log", ramp(300))
	}
	for _, m := range []Model{OwnPage, Ext4OOO, Writeback, PosixWorst} {
		sp, err := NewSpace(m, s.history(), s.end(), Options{})
		require.NoError(t, err)
		choices := map[string]bool{}
		for st := range sp.Sample(rand.New(rand.NewPCG(1, 2)), 500) {
			choices[st.Choice()] = true
		}
		assert.Len(t, choices, 500, "%s", m)
	}
}

func TestKillInsideAWrite(t *testing.T) {
	s := newScript().create("/log").append("/log", ramp(100)).append("/log", ramp(10000))
	for _, c := range []struct {
		tear int
		want []int64
	}{
		{0, []int64{100, 4096, 8192, 10100}},
		{4096, []int64{100, 4096, 8192, 10100}},
	} {
		sp, err := NewSpace(Kill, s.history(), Cut{At: 2, Inside: true}, Options{Tear: c.tear})
		require.NoError(t, err)
		var sizes []int64
		for st := range sp.All() {
			info, _ := st.Image.Stat(s.ino("/log"))
			sizes = append(sizes, info.Size)
		}
		assert.Equal(t, c.want, sizes)
	}
	sp, err := NewSpace(Kill, s.history(), Cut{At: 2, Inside: true}, Options{Tear: 1})
	require.NoError(t, err)
	assert.Equal(t, "10001", sp.Count().String())
	sp, err = NewSpace(Kill, s.history(), Cut{At: 2}, Options{})
	require.NoError(t, err)
	assert.Equal(t, "1", sp.Count().String())
}

// TestPendingOfAKill: a power cut after a kill may lose what the kill left in the page
// cache, the torn write included; one after a power cut may not.
func TestPendingOfAKill(t *testing.T) {
	s := newScript().create("/log").append("/log", "ab").durable().append("/log", "cd").append("/log", "efgh")
	sp, err := NewSpace(Kill, s.history(), Cut{At: 1, Inside: true}, small(1))
	require.NoError(t, err)
	st, err := sp.At("1+3")
	require.NoError(t, err)
	assert.Equal(t, "log=abcdefg", show(st.Image))
	assert.Equal(t, "op 1 (write log 4..8) cut after 3 of 4 bytes", st.Why())

	h := st.Pending()
	require.Len(t, h.Ops, 2)
	assert.Equal(t, []string{"log=ab", "log=abcd", "log=abcdefg"}, shown(t, Contiguous, h, Cut{At: 2}, small(2)))
	again, err := NewSpace(Kill, h, Cut{At: 2}, small(1))
	require.NoError(t, err)
	assert.NoError(t, again.Contains(st.Image), "the history of a state replays to its image")

	// The second life syncs: only then is the torn write safe.
	life := &History{Base: h.Base, Ops: append(h.Ops, trace.Op{Kind: trace.SyncFile, Ino: s.ino("/log")})}
	assert.Equal(t, []string{"log=abcdefg"}, shown(t, Contiguous, life, Cut{At: 3}, small(2)))

	sp, err = NewSpace(Contiguous, h, Cut{At: 2}, small(2))
	require.NoError(t, err)
	for st := range sp.All() {
		p := st.Pending()
		assert.Empty(t, p.Ops)
		assert.Equal(t, st.Image.Hash(), p.Base.Hash())
	}
}

// TestPendingReplays: the history of every kill state leads to its image, and each of its
// power cuts is one of the whole history's at that position.
func TestPendingReplays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := randomScript(t, 10, []trace.SyncResult{trace.SyncOK})
		for _, cut := range Cuts(s.ops) {
			sp, err := NewSpace(Kill, s.history(), cut, small(1))
			require.NoError(t, err)
			for st := range sp.All() {
				h := st.Pending()
				img := h.Base.Clone()
				for _, op := range h.Ops {
					require.NoError(t, img.Apply(op))
				}
				require.Equal(t, st.Image.Hash(), img.Hash(), "%+v %s", cut, st.Choice())
			}
		}
	})
}

func TestStatesAreTheirOwn(t *testing.T) {
	s := newScript().create("/log").durable().append("/log", "abcdefgh")
	sp, err := NewSpace(Writeback, s.history(), s.end(), small(4))
	require.NoError(t, err)
	var want []string
	for st := range sp.All() {
		want = append(want, show(st.Image))
	}
	var got []string
	for st := range sp.All() {
		got = append(got, show(st.Image))
		st.Image.WriteAt(s.ino("/log"), []byte("spoilt"), 0)
	}
	assert.Equal(t, want, got)
}

func TestChoicesOfOthers(t *testing.T) {
	s := newScript().create("/log").durable().append("/log", "abcdefgh")
	for _, m := range []Model{Prefix, Writeback} {
		sp, err := NewSpace(m, s.history(), s.end(), small(4))
		require.NoError(t, err)
		for _, choice := range []string{"", "7", "0+99", "0", "n0", "n0 s9", "n0 s1 u5", "n0 s1 u0x99999999999", "x", "n0 s1 u0.", "n-1 s0", "é"} {
			_, err := sp.At(choice)
			assert.ErrorContains(t, err, "choice", "%s %q", m, choice)
		}
	}
}

func TestContainsSaysWhere(t *testing.T) {
	s := newScript().create("/log").append("/log", "abcd").durable().append("/log", "efgh").append("/log", "ij")
	other := func(change func(img *image.Image, ino trace.Ino)) *image.Image {
		img := s.live.Clone()
		change(img, s.ino("/log"))
		return img
	}
	for _, c := range []struct {
		img  *image.Image
		want string
	}{
		{other(func(m *image.Image, i trace.Ino) { m.WriteAt(i, []byte("X"), 1) }), "/log.*byte 0x58 at 1|/log: byte 0x58 at 1"},
		{other(func(m *image.Image, i trace.Ino) { m.WriteAt(i, []byte("X"), 6) }), "0x58 at 6"},
		{other(func(m *image.Image, i trace.Ino) { m.Truncate(i, 7) }), "size 7"},
		{other(func(m *image.Image, i trace.Ino) { m.Bind(trace.Root, "new", m.Alloc(false, 0o600)) }), "name /new should not be there"},
		{other(func(m *image.Image, _ trace.Ino) { m.Unbind(trace.Root, "log") }), "/log is missing"},
		{other(func(m *image.Image, i trace.Ino) { m.Chmod(i, 0o644) }), "mode 0644"},
	} {
		for _, m := range []Model{Prefix, Contiguous, OwnPage, Ext4Ordered, Writeback, PosixWorst, Synced, Kill} {
			sp, err := NewSpace(m, s.history(), s.end(), small(4))
			require.NoError(t, err)
			err = sp.Contains(c.img)
			if m == Synced { // one state, of another size
				require.Error(t, err, "%s", c.want)
				continue
			}
			if assert.Error(t, err, "%s", c.want) {
				assert.Regexp(t, c.want, err.Error(), "%s", m)
			}
		}
	}
}

// TestContainsOfLinks: two names of one file can not have two contents, even if each is
// allowed.
func TestContainsOfLinks(t *testing.T) {
	s := newScript().create("/a").link("/a", "/b").durable().append("/a", "x")
	img := image.New()
	for i, name := range []string{"a", "b"} {
		ino := img.Alloc(false, 0o600)
		img.Bind(trace.Root, name, ino)
		img.Truncate(ino, int64(i))
		img.WriteAt(ino, []byte("x")[:i], 0)
	}
	for _, m := range []Model{OwnPage, PosixWorst} {
		sp, err := NewSpace(m, s.history(), s.end(), small(4))
		require.NoError(t, err)
		assert.ErrorContains(t, sp.Contains(img), "/a and /b are one file, but differ", "%s", m)
	}
}

// TestSpacesAreShared: several goroutines may walk one space and name its states (run with -race).
func TestSpacesAreShared(t *testing.T) {
	s := newScript().create("/log").append("/log", "ab").durable().append("/log", "cdefghijkl").create("/b").rename("/b", "/c")
	for _, m := range Models() {
		sp, err := NewSpace(m, s.history(), s.end(), small(2))
		require.NoError(t, err)
		var wg sync.WaitGroup
		var counts [4]int
		for i := range counts {
			wg.Go(func() {
				for st := range sp.All() {
					st.Image.WriteAt(s.ino("/log"), []byte{byte(i)}, 0)
					_ = st.Why()
					if _, err := sp.At(st.Choice()); err == nil {
						counts[i]++
					}
				}
			})
		}
		wg.Wait()
		for _, n := range counts {
			assert.Equal(t, sp.Count().String(), bigOf(n).String(), "%s", m)
		}
	}
}

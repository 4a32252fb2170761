package journal_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/journal"
)

// recorded is a run with appends, a batch, a compaction and a rotation, and the number of
// events acknowledged in front of each of its ops.
func recorded(t *testing.T) (*crash.History, []int) {
	t.Helper()
	fsys := faultfs.New(faultfs.NewMem(image.New()))
	opt := options(segments(4))
	acked := []int{}
	done := 0
	mark := func(err error, n int) {
		require.NoError(t, err)
		for len(acked) < fsys.Log().Len() {
			acked = append(acked, done)
		}
		done += n
	}
	j := open(t, fsys, opt)
	mark(nil, 0)
	mark(j.Append(user(0)), 1)
	mark(j.Append(user(1), user(2), user(3)), 3)
	mark(j.Append(user(4)), 1)
	mark(j.CompactEvents(
		journal.Event{Type: journal.TypeCompacted, Payload: []byte(`{"replacement_history":["a"]}`)},
		journal.Event{Type: journal.TypeWorldState, Payload: []byte(`{"state":1}`)},
		journal.Event{Type: journal.TypeTurnContext},
	), 3)
	mark(j.Close(), 0)
	j = open(t, fsys, opt)
	mark(nil, 0)
	mark(j.Append(user(5)), 1)
	mark(j.Close(), 0)
	return &crash.History{Base: image.New(), Ops: fsys.Log().Ops()}, append(acked, done)
}

// Every honest-flush model, every cut: Watermark opens every state and loses nothing; Strict
// refuses only states with an unvouched, terminated bad place.
func TestEveryStateOfEveryHonestModel(t *testing.T) {
	const perCut = 60
	hist, acked := recorded(t)
	rng := rand.New(rand.NewPCG(1, 2))
	states, refused, tails := 0, 0, 0
	for _, model := range crash.Models() {
		if model == crash.LyingFlush {
			continue
		}
		planner, err := crash.NewPlanner(model, hist, crash.Options{})
		require.NoError(t, err)
		for _, cut := range crash.Cuts(hist.Ops) {
			space, err := planner.Space(cut)
			require.NoError(t, err)
			check := func(st crash.State) {
				states++
				mem := faultfs.NewMem(st.Image)
				rec, err := journal.Recover(mem, logPath, options(watermark))
				got := 0
				if !errors.Is(err, fs.ErrNotExist) {
					require.NoError(t, err, "%s, cut %d: %s", model, cut.At, st.Why())
					got = rec.Total
					if rec.Tail != nil {
						tails++
					}
				}
				require.GreaterOrEqual(t, got, acked[cut.At], "%s, cut %d: %s", model, cut.At, st.Why())
				_, err = journal.Recover(mem, logPath, options())
				if corrupt, ok := errors.AsType[*journal.CorruptError](err); ok {
					refused++
					require.False(t, corrupt.Vouched, "%s, cut %d: %s: %v", model, cut.At, st.Why(), err)
					require.Equal(t, journal.TailTerminated, rec.Tail.Kind)
					require.Equal(t, rec.Tail.Offset, corrupt.Offset)
				} else if rec != nil && rec.Tail != nil {
					require.NotEqual(t, journal.TailTerminated, rec.Tail.Kind)
				}
			}
			if n := space.Count(); n.IsInt64() && n.Int64() <= perCut {
				for st := range space.All() {
					check(st)
				}
				continue
			}
			for st := range space.Sample(rng, perCut) {
				check(st)
			}
		}
	}
	t.Logf("%d states, %d with a tail, %d refused by the strict rule", states, tails, refused)
	require.Greater(t, states, 1000)
	require.Positive(t, tails)
	require.Positive(t, refused, "a run in which the strict rule has nothing to refuse tests nothing")
}

// A failed sync poisons; a kill at any op leaves a log that opens. Each op of the run is failed
// once, and afterwards what was acknowledged is there.
func TestAFaultAtEveryOperation(t *testing.T) {
	for n := 1; ; n++ {
		fired := false
		for _, call := range []string{"write", "sync", "create", "syncdir", "truncate", "mkdir"} {
			for _, fault := range []string{"on %s ** %d -> eio", "before %s ** %d -> kill", "after %s ** %d -> kill"} {
				if call == "sync" && fault[0] == 'o' {
					fault = "on %s ** %d -> fail-clean"
				}
				fired = faultRun(t, call, fault, n) || fired
			}
		}
		if !fired {
			require.Greater(t, n, 8)
			return
		}
	}
}

func faultRun(t *testing.T, call, form string, n int) (fired bool) {
	t.Helper()
	plan, err := faultfs.ParsePlan(fmt.Sprintf(form, call, n))
	require.NoError(t, err)
	mem := faultfs.NewMem(image.New())
	fsys := faultfs.New(mem, faultfs.WithPlan(plan))
	var want []string
	for range 2 {
		j, err := journal.Open(fsys, logPath, options(segments(3)))
		if err != nil {
			continue
		}
		for i := range 4 {
			if j.Append(user(i)) == nil {
				want = append(want, fmt.Sprintf("water bed %d", i))
			}
		}
		_ = j.Close() // a fault may strike here too
	}
	rec, err := journal.Recover(crashed(mem), logPath, options())
	if errors.Is(err, fs.ErrNotExist) {
		require.Empty(t, want)
		return true
	}
	require.NoError(t, err, plan.String())
	got := contents(rec.Events)
	for _, w := range want { // in order; what failed may be there too
		for len(got) > 0 && got[0] != w {
			got = got[1:]
		}
		require.NotEmpty(t, got, "%s: %s is lost", plan, w)
		got = got[1:]
	}
	j, err := journal.Open(crashed(mem), logPath, options())
	require.NoError(t, err, plan.String())
	require.NoError(t, j.Append(user(9)))
	return len(fsys.Unused()) == 0
}

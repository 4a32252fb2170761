package journal_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/journal"
)

// A failed sync drops its pages and the next sync succeeds. The process goes on, opens the log
// again, appends, and only then the power goes: what was acknowledged after the failure must be
// there, although the line that failed was still to be read in between.
func TestAFailedSyncAReopeningAndAPowerCut(t *testing.T) {
	const draws, syncs = 30, 10
	fired := 0
	for n := 1; n <= syncs; n++ {
		plan, err := faultfs.ParsePlan(fmt.Sprintf("on sync s1*.jsonl %d -> fail-clean", n))
		require.NoError(t, err)
		fsys := faultfs.New(faultfs.NewMem(image.New()), faultfs.WithPlan(plan))
		acked := 0
		for range 3 {
			j, err := journal.Open(fsys, logPath, options(segments(4)))
			if err != nil {
				continue // the creation failed
			}
			for i := range 2 {
				if j.Append(user(i)) == nil {
					acked++
				}
			}
			_ = j.Close() // the fault may strike its checkpoint
		}
		if len(fsys.Unused()) == 0 {
			fired++
		}
		require.Positive(t, acked)
		hist := &crash.History{Base: image.New(), Ops: fsys.Log().Ops()}
		cuts := crash.Cuts(hist.Ops)
		rng := rand.New(rand.NewPCG(uint64(n), 2))
		for _, model := range crash.Models() {
			if model == crash.LyingFlush {
				continue
			}
			planner, err := crash.NewPlanner(model, hist, crash.Options{})
			require.NoError(t, err)
			space, err := planner.Space(cuts[len(cuts)-1])
			require.NoError(t, err)
			for st := range space.Sample(rng, draws) {
				rec, err := journal.Recover(faultfs.NewMem(st.Image), logPath, options(watermark))
				require.NoError(t, err, "%s, %s: %s", plan, model, st.Why())
				require.GreaterOrEqual(t, rec.Total, acked, "%s, %s: %s", plan, model, st.Why())
			}
		}
	}
	require.Greater(t, fired, 6, "faults that do not strike test nothing")
}

// A sync of the file that keeps a torn tail fails and drops its pages, and so does the opening.
// The next one finds that file, and it reads well; when the log is cut, the tail's bytes must be on
// disk in it all the same, whatever the power does then.
func TestAKeptTailWhoseSyncFailedIsOnDiskBeforeTheCut(t *testing.T) {
	before := faultfs.NewMem(image.New())
	j := open(t, before, options())
	require.NoError(t, j.Append(user(0)))
	require.NoError(t, j.Close())
	whole := read(t, before, logPath)
	const tail = `{"schema_version":1,"sequence":3,`
	require.NoError(t, afero.WriteFile(before, logPath, append(whole, tail...), 0o600))

	plan, err := faultfs.ParsePlan("on sync *.tail-* 1 -> fail-clean")
	require.NoError(t, err)
	base := before.Image()
	fsys := faultfs.New(faultfs.NewMem(base), faultfs.WithPlan(plan))
	_, err = journal.Open(fsys, logPath, options())
	require.Error(t, err)
	require.Empty(t, fsys.Unused())
	require.NoError(t, open(t, fsys, options()).Close())
	hist := &crash.History{Base: base, Ops: fsys.Log().Ops()}
	for _, cut := range crash.Epochs(hist.Ops) {
		space, err := crash.NewSpace(crash.Synced, hist, cut, crash.Options{})
		require.NoError(t, err)
		for st := range space.All() {
			mem := faultfs.NewMem(st.Image)
			if strings.HasSuffix(string(read(t, mem, logPath)), tail) {
				continue // it is not cut yet
			}
			kept := fmt.Sprintf("%s.tail-%d", logPath, len(whole))
			require.Equal(t, tail, string(read(t, mem, kept)), st.Why())
		}
	}
}

// Every method answers on a journal that was closed; none waits for a turn that never comes.
func TestEveryMethodAnswersAfterClose(t *testing.T) {
	j := open(t, faultfs.NewMem(image.New()), options())
	require.NoError(t, j.Append(user(0)))
	require.NoError(t, j.Close())
	for name, call := range map[string]func() error{
		"Append":     func() error { return j.Append(user(1)) },
		"Sync":       j.Sync,
		"Checkpoint": j.Checkpoint,
		"Rotate":     j.Rotate,
		"Compact":    func() error { return j.Compact(journal.Compaction{}) },
		"Close":      j.Close,
	} {
		require.ErrorIs(t, call(), journal.ErrClosed, name)
	}
}

// grudging makes the second segment's file with the wrong mode and does not let it be mended.
type grudging struct{ afero.Fs }

var errMode = errors.New("the mode stays as it is")

func (g grudging) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	return g.Fs.OpenFile(name, flag, perm&^0o200)
}

func (g grudging) Chmod(name string, mode fs.FileMode) error {
	if strings.HasSuffix(name, "_2.jsonl") {
		return errMode
	}
	return g.Fs.Chmod(name, mode)
}

// A file of the next segment vouches for all of this one, so that nothing may be appended here
// once there is one: a crash in such an append would read as damage.
func TestNothingIsAppendedInFrontOfALaterSegment(t *testing.T) {
	second := strings.TrimSuffix(logPath, ".jsonl") + "_2.jsonl"
	t.Run("left by a rotation that failed", func(t *testing.T) {
		mem := faultfs.NewMem(image.New())
		j := open(t, grudging{mem}, options())
		require.NoError(t, j.Append(user(0)))
		require.ErrorIs(t, j.Rotate(), errMode)
		_, err := mem.Stat(second)
		require.NoError(t, err)
		var poisoned *journal.PoisonedError
		require.ErrorAs(t, j.Append(user(1)), &poisoned)
	})
	t.Run("put there by another program", func(t *testing.T) {
		mem := faultfs.NewMem(image.New())
		j := open(t, mem, options())
		require.NoError(t, j.Append(user(0)))
		require.NoError(t, afero.WriteFile(mem, second, nil, 0o600))
		require.ErrorIs(t, j.Rotate(), fs.ErrExist)
		var poisoned *journal.PoisonedError
		require.ErrorAs(t, j.Append(user(1)), &poisoned)
	})
	t.Run("a creation that made nothing can be tried again", func(t *testing.T) {
		plan, err := faultfs.ParsePlan("on create s1_2.jsonl 1 -> eio")
		require.NoError(t, err)
		j := open(t, faultfs.New(faultfs.NewMem(image.New()), faultfs.WithPlan(plan)), options())
		require.NoError(t, j.Append(user(0)))
		require.Error(t, j.Rotate())
		require.NoError(t, j.Append(user(1)))
		require.NoError(t, j.Rotate())
		require.NoError(t, j.Append(user(2)))
	})
}

package explore_test

import (
	"errors"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/broken"
	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/target"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// found is the first finding of a rule for a known-bad journal under a workload of 40 steps.
func found(t *testing.T, bug, rule string) *report.Finding {
	t.Helper()
	cfg := explore.Config{
		Subject: broken.Subject(bug), Bug: bug, Contract: broken.Contract(bug), Seed: 1, Steps: 40,
		MaxStates: 1000, Levels: -1, Damages: 400, Scenes: []string{}, Workers: 2,
	}
	if scene := sceneFor(bug, rule); scene != "" {
		cfg.NoCrash, cfg.Damages, cfg.Scenes = true, -1, []string{scene}
	}
	switch bug { // it takes a crash of the recovery
	case broken.CutNotSynced:
		cfg.Levels, cfg.Lives, cfg.Steps, cfg.Models = 1, 2000, 16, []crash.Model{crash.Ext4OOO}
	case broken.NoSyncAtOpen, broken.WatermarkCached:
		cfg.Levels, cfg.Lives, cfg.Steps = 1, 400, 16
	}
	rep := run(t, cfg)
	for i := range rep.Violations {
		if rep.Violations[i].ID == rule {
			return &rep.Violations[i]
		}
	}
	require.FailNow(t, "not found", "%s by %s; found %v", bug, rule, ids(rep.Violations))
	return nil
}

// sceneFor is the scene that breaks a rule which no crash of the workload breaks.
func sceneFor(bug, rule string) string {
	switch bug {
	case broken.Surrogate:
		return "contents"
	case broken.EmptyIsNew:
		return "readers"
	}
	return map[string]string{"UP209": "faults", "UP212": "handles", "UP213": "readers"}[rule]
}

// Every known-bad journal's finding shrinks to a handful of steps, replays, breaks the same
// rule, and does not need the rest: it is 1-minimal.
func TestEveryMistakeShrinks(t *testing.T) {
	for _, b := range broken.Bugs() {
		t.Run(b.Name, func(t *testing.T) {
			f := found(t, b.Name, b.Rule)
			small, info, err := explore.Shrink(t.Context(), broken.Subject(b.Name), broken.Contract(b.Name), f.File, explore.ShrinkOptions{Workers: 2})
			require.NoError(t, err)
			t.Logf("%s (%d judged)\n%s", info, info.Judged, small)
			assert.LessOrEqual(t, len(small.Program), 8)
			assert.LessOrEqual(t, len(small.Program)+len(small.Cuts), len(f.File.Program)+len(f.File.Cuts))
			again, err := report.ParseRepro(small.String())
			require.NoError(t, err)
			res, err := explore.Replay(broken.Subject(b.Name), broken.Contract(b.Name), again)
			require.NoError(t, err)
			require.NotNil(t, res.Expected, "the shrunk file must show %s again", b.Rule)
		})
	}
}

// full is a journal that has no room for a third record, or cannot close behind a second.
type full struct {
	target.Journal
	records, room int
	closes        bool
}

func (f *full) Append(record []byte) error {
	if f.records++; f.records > f.room {
		return errors.New("no room")
	}
	return f.Journal.Append(record)
}

func (f *full) Close() error {
	if err := f.Journal.Close(); err != nil || f.closes || f.records < 2 {
		return err
	}
	return errors.New("cannot close")
}

// A workload that fails by itself is a finding that can be rerun, and shrinks.
func TestWorkloadsThatFailShrink(t *testing.T) {
	good := broken.Subject("")
	for _, c := range []struct {
		name   string
		room   int
		closes bool
		want   int
	}{
		{"an append fails", 2, true, 3},
		{"the close fails", 1000, false, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := good
			s.Open = func(f afero.Fs, path string) (target.Journal, error) {
				j, err := good.Open(f, path)
				return &full{Journal: j, room: c.room, closes: c.closes}, err
			}
			cfg := small(s)
			cfg.Program = workload.Random(3, 10)[:4] // a batch and no reopening among them
			rep := run(t, cfg)
			require.NotEmpty(t, rep.Violations)
			require.NotNil(t, rep.Violations[0].File)
			again, err := report.ParseRepro(rep.Violations[0].File.String())
			require.NoError(t, err)
			smaller, info, err := explore.Shrink(t.Context(), s, oracle.Lines(), again, explore.ShrinkOptions{})
			require.NoError(t, err)
			assert.Equal(t, c.want, smaller.Program.Records(), "%s\n%s", info, smaller)
			assert.True(t, info.Minimal)
			res, err := explore.Replay(good, oracle.Lines(), smaller)
			require.NoError(t, err)
			assert.Empty(t, res.Violations, "the journal that is right gets through it")
		})
	}
}

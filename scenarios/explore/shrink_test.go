package explore_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/broken"
	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
)

// found is the first finding of a rule for a known-bad journal under a workload of 40 steps.
func found(t *testing.T, bug, rule string) *report.Finding {
	t.Helper()
	cfg := explore.Config{
		Subject: broken.Subject(bug), Bug: bug, Contract: oracle.Lines(), Seed: 1, Steps: 40,
		MaxStates: 1000, Levels: -1, Damages: 100, Scenes: []string{}, Workers: 2,
	}
	if bug == broken.CutNotSynced { // it takes a crash of the recovery
		cfg.Levels, cfg.Lives, cfg.Steps, cfg.Models = 1, 2000, 16, []crash.Model{crash.Ext4OOO}
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

// Every known-bad journal's finding shrinks to a handful of steps, replays, breaks the same
// rule, and does not need the rest: it is 1-minimal.
func TestEveryMistakeShrinks(t *testing.T) {
	for _, b := range broken.Bugs() {
		if b.Rule == "UP203" {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			f := found(t, b.Name, b.Rule)
			small, info, err := explore.Shrink(t.Context(), broken.Subject(b.Name), oracle.Lines(), f.File, explore.ShrinkOptions{Workers: 2})
			require.NoError(t, err)
			t.Logf("%s (%d judged)\n%s", info, info.Judged, small)
			assert.LessOrEqual(t, len(small.Program), 8)
			assert.LessOrEqual(t, len(small.Cuts), len(f.File.Cuts))
			again, err := report.ParseRepro(small.String())
			require.NoError(t, err)
			res, err := explore.Replay(broken.Subject(b.Name), oracle.Lines(), again)
			require.NoError(t, err)
			require.NotNil(t, res.Expected, "the shrunk file must show %s again", b.Rule)
		})
	}
}

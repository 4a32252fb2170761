package explore_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/broken"
	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/target"
)

// readersOnly is a run of next to nothing but the scene of the readers.
func readersOnly(s target.Subject) explore.Config {
	return explore.Config{
		Subject: s, Contract: oracle.Lines(), Seed: 2, Steps: 10, Scenes: []string{"readers"},
		Models: []crash.Model{crash.Synced}, MaxStates: 20, Levels: -1, Damages: -1, Probes: 600,
	}
}

// Each wrong reader is caught by the rule and the kind of try meant for it, and its repro shows it
// again; a right one beside it passes.
func TestWrongReaders(t *testing.T) {
	good := broken.Subject("")
	for _, c := range wrongReaders() {
		t.Run(c.name, func(t *testing.T) {
			s := good
			s.Readers = []target.Reader{{Name: "wrong", Read: c.read}}
			rep := run(t, readersOnly(s))
			hit := finding(rep, c.rule)
			require.NotNil(t, hit, "found only %v", rep.Violations)
			assert.Equal(t, "readers", hit.Scene)
			require.Equal(t, []string{"readers", "wrong"}, hit.File.Probe[:2])
			assert.True(t, strings.HasPrefix(hit.File.Probe[2], c.done), hit.File.Probe[2])

			again, err := report.ParseRepro(hit.File.String())
			require.NoError(t, err)
			res, err := explore.Replay(s, oracle.Lines(), again)
			require.NoError(t, err)
			require.NotNil(t, res.Expected, "the repro must show %s again:\n%s", c.rule, hit.File)
			assert.Equal(t, hit.Want, res.Expected.Want)
			assert.Equal(t, hit.Got, res.Expected.Got)
		})
	}
}

func finding(rep *report.Report, rule string) *report.Finding {
	for i := range rep.Violations {
		if rep.Violations[i].ID == rule {
			return &rep.Violations[i]
		}
	}
	return nil
}

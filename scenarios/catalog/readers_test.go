package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/scenarios/catalog"
	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/report"
)

// readersOnly is a run of next to nothing but the scene of the readers.
func readersOnly(e catalog.Entry, seed uint64) explore.Config {
	return explore.Config{
		Subject: e.Subject, Contract: e.Contract, Seed: seed, Scenes: []string{"readers"},
		NoCrash: true, Damages: -1, Workers: 2,
	}
}

// The readers of every subject agree with its Recover.
func TestReadersAgree(t *testing.T) {
	for _, e := range catalog.Subjects() {
		t.Run(e.Name, func(t *testing.T) {
			cfg := readersOnly(e, 1)
			if testing.Short() {
				cfg.Probes = 300
			}
			rep, err := explore.Run(t.Context(), cfg)
			require.NoError(t, err)
			for _, v := range rep.Violations {
				t.Errorf("%s: %s\n%s\n want %q\n got  %q\n%s", v.ID, v.Text, v.Story, v.Want, v.Got, v.File)
			}
			row := readersRow(t, rep)
			assert.Empty(t, row.Skipped)
			assert.Greater(t, row.Tried, 250)
			assert.NotContains(t, row.Note, "tested nothing")
			t.Logf("%d %s; %s", row.Tried, row.Of, row.Note)
		})
	}
}

func readersRow(t *testing.T, rep *report.Report) report.Scene {
	t.Helper()
	for _, row := range rep.Coverage.Scenes {
		if row.Name == "readers" {
			return row
		}
	}
	t.Fatal("the scene is not in the report")
	return report.Scene{}
}

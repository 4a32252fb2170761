package broken_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/scenarios/broken"
	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
)

func explored(t *testing.T, bug string) *report.Report {
	t.Helper()
	cfg := explore.Config{
		Subject: broken.Subject(bug), Bug: bug, Contract: oracle.Lines(),
		Seed: 1, Steps: 16, MaxStates: 3000, Lives: 400, Deep: 10, Workers: 2,
	}
	if testing.Short() { // the race detector is ten times slower
		cfg.MaxStates, cfg.Deep, cfg.Damages, cfg.Probes = 300, 2, 100, 200
	}
	rep, err := explore.Run(t.Context(), cfg)
	require.NoError(t, err)
	require.Empty(t, rep.Vacuity)
	return rep
}

// The journal without a mistake passes: what the others are caught by is their mistake.
func TestTheLineJournalSurvives(t *testing.T) {
	rep := explored(t, "")
	for _, f := range rep.Violations {
		t.Errorf("%s under %s: %s\n%s\nwant %q\ngot  %q", f.ID, f.Model, f.Text, f.Story, f.Want, f.Got)
	}
	assert.Positive(t, rep.Tails(), "some state must have had a tail")
	assert.Positive(t, rep.Refused(), "the strict line rule must have refused some legal state")
	assert.True(t, rep.Coverage.Complete, "%+v", rep.Coverage)
}

// Each mistake is caught by the rule meant for it, and its repro shows it again.
func TestEveryMistakeIsCaught(t *testing.T) {
	for _, b := range broken.Bugs() {
		t.Run(b.Name, func(t *testing.T) {
			rep := explored(t, b.Name)
			var hit *report.Finding
			for i := range rep.Violations {
				if rep.Violations[i].ID == b.Rule {
					hit = &rep.Violations[i]
					break
				}
			}
			require.NotNil(t, hit, "%s must be caught by %s; found %v", b.Name, b.Rule, ids(rep))
			assert.NotEmpty(t, hit.Story)
			require.NotNil(t, hit.File)

			again, err := report.ParseRepro(hit.File.String())
			require.NoError(t, err)
			res, err := explore.Replay(broken.Subject(b.Name), oracle.Lines(), again)
			require.NoError(t, err)
			require.NotNil(t, res.Expected, "the repro must show %s again:\n%s", b.Rule, hit.File)
			assert.Equal(t, hit.Want, res.Expected.Want)
			assert.Equal(t, hit.Got, res.Expected.Got)

			good, err := explore.Replay(broken.Subject(""), oracle.Lines(), again)
			if err == nil {
				assert.Nil(t, good.Expected, "the journal without the mistake must not break %s there", b.Rule)
			}
		})
	}
}

func ids(rep *report.Report) []string {
	var out []string
	for _, f := range rep.Violations {
		out = append(out, f.ID+" "+f.Model)
	}
	return out
}

func TestFindSaysWhatIsAllowed(t *testing.T) {
	_, err := broken.Find("lost-fsink")
	require.ErrorContains(t, err, "want one of lost-fsync, early-ack")
	b, err := broken.Find(broken.NoDirSync)
	require.NoError(t, err)
	assert.Equal(t, "UP211", b.Rule)
}

package broken_test

import (
	"slices"
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

// small is a run with budgets that keep this package's tests short.
func small(s target.Subject, c oracle.Contract, bug string) explore.Config {
	cfg := explore.Config{
		Subject: s, Bug: bug, Contract: c,
		Seed: 1, Steps: 16, MaxStates: 3000, Lives: 400, Deep: 10, Workers: 2,
	}
	if testing.Short() { // the race detector is ten times slower
		cfg.MaxStates, cfg.Deep, cfg.Damages, cfg.Probes = 300, 2, 100, 200
	}
	return cfg
}

// aimed is a run of that part of the suite which has the rule of a bug.
func aimed(b broken.Bug) explore.Config {
	cfg := small(broken.Subject(b.Name), broken.Contract(b.Name), b.Name)
	cfg.Scenes, cfg.NoCrash = []string{}, true
	only := func(scene string) { cfg.Scenes, cfg.Damages = []string{scene}, -1 }
	switch {
	case b.Rule == "UP209":
		only("faults")
	case b.Rule == "UP212":
		only("handles")
	case b.Rule == "UP213", b.Name == broken.EmptyIsNew:
		only("readers")
	case b.Name == broken.Surrogate:
		only("contents")
	case b.Rule != "UP203":
		cfg.NoCrash, cfg.Damages = false, -1
	}
	return cfg
}

// The journals without a mistake pass the whole suite: what the others are caught by is their
// mistake.
func TestTheBasesSurvive(t *testing.T) {
	for _, base := range broken.Bases() {
		t.Run(base.Name, func(t *testing.T) {
			cfg := small(base.Subject(""), base.Contract, "")
			if !testing.Short() && !base.Contract.NoTail {
				cfg.Models = crash.Models()
			}
			rep, err := explore.Run(t.Context(), cfg)
			require.NoError(t, err)
			require.Empty(t, rep.Vacuity)
			for _, f := range rep.Violations {
				t.Errorf("%s under %s: %s\n%s\nwant %q\ngot  %q", f.ID, f.Model, f.Text, f.Story, f.Want, f.Got)
			}
			assert.Equal(t, !base.Contract.NoTail, rep.Tails() > 0, "some state must have had a tail, unless the file is replaced as a whole")
			assert.Equal(t, base.Contract.Refuse == oracle.RefuseTerminated, rep.Refused() > 0, "the strict line rule, and no other, must have refused some legal state")
			never := []string{}
			if base.Contract.NoTail {
				never = append(never, "mid-compaction") // no write of a whole history begins with a marker
			}
			assert.ElementsMatch(t, never, rep.Coverage.Never)
		})
	}
}

// Each mistake is caught by the rule meant for it, and its repro shows it again.
func TestEveryMistakeIsCaught(t *testing.T) {
	for _, b := range broken.Bugs() {
		t.Run(b.Name, func(t *testing.T) {
			rep, err := explore.Run(t.Context(), aimed(b))
			require.NoError(t, err)
			i := slices.IndexFunc(rep.Violations, func(f report.Finding) bool { return f.ID == b.Rule })
			require.GreaterOrEqual(t, i, 0, "%s must be caught by %s; found %v", b.Name, b.Rule, ids(rep))
			hit := rep.Violations[i]
			assert.NotEmpty(t, hit.Story)
			require.NotNil(t, hit.File)

			again, err := report.ParseRepro(hit.File.String())
			require.NoError(t, err)
			res, err := explore.Replay(broken.Subject(b.Name), broken.Contract(b.Name), again)
			require.NoError(t, err)
			require.NotNil(t, res.Expected, "the repro must show %s again:\n%s", b.Rule, hit.File)
			assert.Equal(t, hit.Want, res.Expected.Want)
			assert.Equal(t, hit.Got, res.Expected.Got)

			good, err := explore.Replay(b.BaseSubject(), broken.Contract(b.Name), again)
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

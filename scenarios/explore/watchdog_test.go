package explore

import (
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/broken"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/target"
)

func hanging(t *testing.T, bend func(s *target.Subject, forever chan struct{})) []report.Finding {
	t.Helper()
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	s := broken.Subject("")
	bend(&s, forever)
	rep, err := Run(t.Context(), Config{
		Subject: s, Contract: oracle.Lines(), Steps: 1, Levels: -1, Damages: -1, Workers: 2, patience: 1, Scenes: []string{"readers"},
		Models: []crash.Model{crash.Synced},
	})
	require.NoError(t, err)
	return rep.Violations
}

// A subject that blocks without a file operation is a finding; the harness goes on.
func TestWatchdog(t *testing.T) {
	t.Parallel()
	good := broken.Subject("")
	t.Run("recover", func(t *testing.T) {
		t.Parallel()
		found := hanging(t, func(s *target.Subject, forever chan struct{}) {
			s.Recover = func(f afero.Fs, path string) (target.Recovered, error) {
				r, err := good.Recover(f, path)
				if len(r.Records) > 0 {
					<-forever
				}
				return r, err
			}
		})
		require.NotEmpty(t, found)
		assert.Equal(t, "UP205", found[0].ID)
		assert.Contains(t, found[0].Text, "did not return")
	})
	t.Run("open", func(t *testing.T) {
		t.Parallel()
		found := hanging(t, func(s *target.Subject, forever chan struct{}) {
			s.Open = func(afero.Fs, string) (target.Journal, error) {
				<-forever
				return nil, nil
			}
		})
		require.NotEmpty(t, found)
		assert.Equal(t, "UP206", found[0].ID)
	})
}

// A panic of the harness itself is an error of the run, not of the process.
func TestHarnessPanicIsAnError(t *testing.T) {
	p := pool{workers: 2, patience: 1, work: func(*caseOf) *caseResult { panic("out of luck") }}
	for _, res := range p.run([]*caseOf{{}, {}}) {
		require.ErrorContains(t, res.err, "out of luck")
	}
}

package explore_test

import (
	"errors"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/scenarios/broken"
	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/target"
)

// chatty is the line journal with two more syncs: one of a side file that no recovery reads,
// which nobody can miss, and one of a log that was just synced.
type chatty struct {
	target.Journal
	log, side afero.File
}

func (c *chatty) Append(record []byte) error {
	if _, err := c.side.Write([]byte("one more\n")); err != nil {
		return err
	}
	if err := c.side.Sync(); err != nil {
		return err
	}
	if err := c.Journal.Append(record); err != nil {
		return err
	}
	return c.log.Sync()
}

func (c *chatty) Close() error {
	return errors.Join(c.Journal.Close(), c.side.Close(), c.log.Close())
}

func chattySubject() target.Subject {
	s := broken.Subject("")
	base := s
	s.Name = "chatty"
	s.Open = func(fsys afero.Fs, name string) (target.Journal, error) {
		j, err := base.Open(fsys, name)
		if err != nil {
			return nil, err
		}
		log, err := fsys.OpenFile(name, os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		side, err := fsys.OpenFile(path.Join(path.Dir(name), "counts"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
		return &chatty{j, log, side}, err
	}
	return s
}

func weakened(t *testing.T, s target.Subject) *report.Weakening {
	t.Helper()
	w, err := explore.Weaken(t.Context(), explore.Config{
		Subject: s, Contract: oracle.Lines(), Seed: 1, Steps: 8, MaxStates: 150, Lives: 40, Deep: 2, Workers: 2,
	})
	require.NoError(t, err)
	return w
}

// Every sync of the small line journal is missed when it is dropped, or shown to be redundant.
func TestNothingIsBlindOnTheLineJournal(t *testing.T) {
	w := weakened(t, broken.Subject(""))
	assert.Zero(t, w.Count(report.Blind), "%+v", w.Syncs)
	assert.GreaterOrEqual(t, w.Count(report.Noticed), 3)
	for _, s := range w.Syncs {
		assert.Positive(t, s.Times, s.Place)
		assert.NotEmpty(t, s.Text, s.Place)
	}
}

// A sync that nobody can miss is reported as blind, with what rested on it; one that covers
// nothing as redundant.
func TestWeakenTellsBlindFromRedundant(t *testing.T) {
	w := weakened(t, chattySubject())
	require.Equal(t, 1, w.Count(report.Blind), "%+v", w.Syncs)
	for _, s := range w.Syncs {
		switch {
		case s.Verdict == report.Blind:
			assert.Equal(t, "/journal/…", s.Path)
			assert.Contains(t, s.Text, "counts")
			assert.Contains(t, s.Text, "nothing else had synced it")
			assert.Contains(t, s.Place, "weaken_test.go:")
		case s.Path == "/journal/log.jsonl" && strings.HasPrefix(s.Place, "explore/weaken_test.go"):
			assert.Equal(t, report.Redundant, s.Verdict)
			assert.Contains(t, s.Text, "nothing was unsynced there")
		}
	}
	assert.Positive(t, w.Count(report.Redundant))
	assert.GreaterOrEqual(t, w.Count(report.Noticed), 3)
}

// What is broken as it is cannot be weakened.
func TestWeakenWantsASubjectThatPasses(t *testing.T) {
	_, err := explore.Weaken(t.Context(), explore.Config{
		Subject: broken.Subject(broken.LostFsync), Contract: oracle.Lines(), Seed: 1, Steps: 4, MaxStates: 100, Levels: -1,
	})
	require.ErrorIs(t, err, explore.ErrBroken)
	require.ErrorContains(t, err, "UP201")
}

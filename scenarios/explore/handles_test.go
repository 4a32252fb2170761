package explore_test

import (
	"errors"
	"os"
	"path"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/scenarios/broken"
	"github.com/unplug-go/unplug/scenarios/catalog"
	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/target"
)

func handlesRun(t *testing.T, s target.Subject, c oracle.Contract) *report.Report {
	t.Helper()
	rep, err := explore.Run(t.Context(), explore.Config{
		Subject: s, Contract: c, Seed: 1, Steps: 4, NoCrash: true, Damages: -1, Scenes: []string{"handles"},
	})
	require.NoError(t, err)
	return rep
}

// caught is the finding of a rule, replayed from its file.
func caught(t *testing.T, rep *report.Report, s target.Subject, c oracle.Contract, rule string) report.Finding {
	t.Helper()
	for _, f := range rep.Violations {
		if f.ID != rule {
			continue
		}
		file, err := report.ParseRepro(f.File.String())
		require.NoError(t, err)
		res, err := explore.Replay(s, c, file)
		require.NoError(t, err)
		require.NotNil(t, res.Expected, "%s", f.File)
		assert.Equal(t, f.Text, res.Expected.Text)
		assert.Equal(t, f.Got, res.Expected.Got)
		return f
	}
	t.Fatalf("no %s in %+v", rule, rep.Violations)
	return report.Finding{}
}

// The reference journal under both contracts, and the small line journal, keep to one writer and
// notice what outsiders do.
func TestOneWriterAtATime(t *testing.T) {
	for _, name := range []string{"reference", "reference-watermark", "lines"} {
		e, err := catalog.Find(name, "")
		require.NoError(t, err)
		rep := handlesRun(t, e.Subject, e.Contract)
		for _, f := range rep.Violations {
			t.Errorf("%s: %s %s\n%s\nwant %q\ngot  %q", name, f.ID, f.Text, f.Story, f.Want, f.Got)
		}
		row := sceneRow(t, rep, "handles")
		assert.Greater(t, row.Tried, 100, name)
		assert.Contains(t, row.Note, "10 scripts", name)
	}
}

// unlocked hides the lock of every file, as a journal that takes none would have it.
type unlocked struct{ afero.Fs }

type unlockedFile struct{ afero.File }

func (u unlocked) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	f, err := u.Fs.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return unlockedFile{f}, nil
}

// A journal without a lock lets a second writer in.
func TestSecondOpenerIsCaught(t *testing.T) {
	s := broken.Subject("")
	open := s.Open
	s.Open = func(fsys afero.Fs, name string) (target.Journal, error) { return open(unlocked{fsys}, name) }
	f := caught(t, handlesRun(t, s, oracle.Lines()), s, oracle.Lines(), "UP212")
	assert.Contains(t, f.Text, "second opener")
	assert.Contains(t, f.Story, "a second process opens")
}

// lockFileSubject takes a lock file that is there as its lock: a killed owner leaves it behind.
func lockFileSubject() target.Subject {
	s := broken.Subject("")
	open := s.Open
	s.Open = func(fsys afero.Fs, name string) (target.Journal, error) {
		if err := fsys.MkdirAll(path.Dir(name), 0o700); err != nil {
			return nil, err
		}
		lock, err := fsys.OpenFile(name+".lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		j, err := open(unlocked{fsys}, name)
		return &lockFile{j, fsys, name + ".lock"}, errors.Join(err, lock.Close())
	}
	return s
}

type lockFile struct {
	target.Journal
	fsys afero.Fs
	name string
}

func (l *lockFile) Close() error { return errors.Join(l.Journal.Close(), l.fsys.Remove(l.name)) }

func TestLockThatOutlivesItsOwnerIsCaught(t *testing.T) {
	s := lockFileSubject()
	f := caught(t, handlesRun(t, s, oracle.Lines()), s, oracle.Lines(), "UP212")
	killed := *f.File
	killed.Probe = []string{"handles", "killed", "20"}
	res, err := explore.Replay(s, oracle.Lines(), &killed)
	require.NoError(t, err)
	require.NotNil(t, res.Expected)
	assert.Contains(t, res.Expected.Text, "the owner was killed, and nobody can open the journal any more")
}

// A contract that trusts its callers speaks of no second writer, and is not held to it.
func TestTrustedWritersAreNotHeldToALock(t *testing.T) {
	s := broken.Subject("")
	open := s.Open
	s.Open = func(fsys afero.Fs, name string) (target.Journal, error) { return open(unlocked{fsys}, name) }
	c := oracle.Lines()
	c.Writers = oracle.WritersTrusted
	rep := handlesRun(t, s, c)
	assert.Empty(t, rep.Violations)
	assert.Contains(t, sceneRow(t, rep, "handles").Note, "trusts the callers")
}

package explore_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/broken"
	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/target"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// faulty is a configuration in which nearly nothing but the faults is tried.
func faulty(s target.Subject) explore.Config {
	return explore.Config{
		Subject: s, Contract: oracle.Lines(), Seed: 1, Steps: 10, Workers: 2, Scenes: []string{"faults"},
		Models: []crash.Model{crash.Kill}, MaxStates: 1, Levels: -1, Damages: -1,
	}
}

// bentFile is a file whose caller does not see what went wrong.
type bentFile struct {
	afero.File
	write func(afero.File, []byte) (int, error)
	sync  func(afero.File) error
}

func (f bentFile) Write(p []byte) (int, error) {
	if f.write == nil {
		return f.File.Write(p)
	}
	return f.write(f.File, p)
}

func (f bentFile) Sync() error {
	if f.sync == nil {
		return f.File.Sync()
	}
	return f.sync(f.File)
}

// bentFS hands out bent files for writing.
type bentFS struct {
	afero.Fs
	bend bentFile
}

func (b bentFS) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	f, err := b.Fs.OpenFile(name, flag, perm)
	if err != nil || flag&os.O_APPEND == 0 {
		return f, err
	}
	bent := b.bend
	bent.File = f
	return bent, nil
}

// bent is the small line journal, right but for what its files hide from it.
func bent(how bentFile) target.Subject {
	s := broken.Subject(broken.StaleHandle) // it does not look at the file again
	open := s.Open
	s.Open = func(f afero.Fs, path string) (target.Journal, error) { return open(bentFS{f, how}, path) }
	return s
}

// stubborn is a line journal that goes on behind a write that failed, and leaves there what it
// wrote.
type stubborn struct {
	file afero.File
	seq  int
	bad  error
}

func openStubborn(fsys afero.Fs, path string) (target.Journal, error) {
	good := broken.Subject("")
	repaired, err := good.Open(fsys, path)
	if err == nil {
		err = repaired.Close()
	}
	if err != nil {
		return nil, err
	}
	found, err := good.Recover(fsys, path)
	if err != nil {
		return nil, err
	}
	file, err := fsys.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	return &stubborn{file: file, seq: len(found.Records)}, err
}

func (s *stubborn) Append(record []byte) error {
	if s.bad != nil {
		return s.bad
	}
	if _, err := fmt.Fprintf(s.file, `{"seq":%d,"record":%s}`+"\n", s.seq+1, record); err != nil {
		return err
	}
	s.seq++
	s.bad = s.file.Sync()
	return s.bad
}

func (s *stubborn) Sync() error  { return s.bad }
func (s *stubborn) Close() error { return s.file.Close() }

// Journals that go on after an error, each in its own way: all of them are caught by UP209, and
// the finding runs again.
func TestGoingOnAfterAnErrorIsCaught(t *testing.T) {
	halves := broken.Subject("")
	halves.Open = openStubborn
	for name, s := range map[string]target.Subject{
		"an error of a sync is ignored": bent(bentFile{sync: func(f afero.File) error { _ = f.Sync(); return nil }}),
		"a sync that failed is tried again": bent(bentFile{sync: func(f afero.File) error {
			if f.Sync() == nil {
				return nil
			}
			return f.Sync()
		}}),
		"a short write is taken for a whole one": bent(bentFile{write: func(f afero.File, p []byte) (int, error) {
			n, err := f.Write(p)
			if n > 0 {
				return len(p), nil
			}
			return n, err
		}}),
		"half a record is left and the next one written behind it": halves,
	} {
		t.Run(name, func(t *testing.T) {
			rep := run(t, faulty(s))
			var hit *report.Finding
			for i := range rep.Violations {
				if rep.Violations[i].ID == "UP209" {
					hit = &rep.Violations[i]
				}
			}
			require.NotNil(t, hit, "found %v", ids(rep.Violations))
			assert.Equal(t, "faults", hit.Scene)
			assert.Contains(t, hit.Story, "FAULT (")

			file, err := report.ParseRepro(hit.File.String())
			require.NoError(t, err)
			again, err := explore.Replay(s, oracle.Lines(), file)
			require.NoError(t, err)
			require.NotNil(t, again.Expected, "%s", hit.File)
			assert.Equal(t, hit.Text, again.Expected.Text)
			assert.Equal(t, hit.Got, again.Expected.Got)
			good, err := explore.Replay(broken.Subject(""), oracle.Lines(), file)
			if err == nil { // else it does less than the wrong one, and there is nothing to cut
				assert.Nil(t, good.Expected, "%s", hit.File)
			}
		})
	}
}

// A journal that poisons itself passes, and the report says how many calls were hit.
func TestAPoisonedJournalPasses(t *testing.T) {
	rep := run(t, faulty(broken.Subject("")))
	require.Empty(t, rep.Violations)
	row := sceneOf(rep, "faults")
	assert.Greater(t, row.Tried, 500)
	assert.Contains(t, row.Note, "poisoned")

	cfg := faulty(broken.Subject(""))
	cfg.Probes = 50
	row = sceneOf(run(t, cfg), "faults")
	assert.Equal(t, 50, row.Tried)
	assert.Contains(t, row.Note, "a seeded draw of")
}

func sceneOf(rep *report.Report, name string) report.Scene {
	for _, row := range rep.Coverage.Scenes {
		if row.Name == name {
			return row
		}
	}
	return report.Scene{}
}

// What the faults find is told as it is: a promise that is broken without any fault is told once,
// and no fault is tried.
func TestFaultsLeaveOtherBugsAlone(t *testing.T) {
	rep := run(t, faulty(broken.Subject(broken.LostFsync)))
	row := sceneOf(rep, "faults")
	assert.Equal(t, 1, row.Tried)
	assert.Equal(t, 1, row.Bad, "no crash under kill shows it")
	assert.Contains(t, ids(rep.Violations), "UP201")
	assert.NotContains(t, ids(rep.Violations), "UP209")
}

// Journals that take a fault badly in other ways than going on.
func TestFaultsBehindWhichAJournalDoesWorse(t *testing.T) {
	good := broken.Subject("")
	for _, c := range []struct {
		name, want string
		open       func(fsys afero.Fs, path string) (target.Journal, error)
	}{
		{"it panics on an error", "UP206", func(fsys afero.Fs, path string) (target.Journal, error) {
			j, err := good.Open(fsys, path)
			if err != nil {
				panic(err)
			}
			return j, nil
		}},
		{"it tries for ever", "UP206", func(fsys afero.Fs, path string) (target.Journal, error) {
			for {
				j, err := good.Open(fsys, path)
				if err == nil || errors.Is(err, faultfs.ErrOpLimit) || errors.Is(err, broken.ErrCorrupt) {
					return j, err
				}
			}
		}},
		{"an open that cannot read sets the file aside", "UP208", func(fsys afero.Fs, path string) (target.Journal, error) {
			_, err := good.Recover(fsys, path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, errors.Join(err, fsys.Rename(path, path+".bad"))
			}
			return good.Open(fsys, path)
		}},
		{"a read that fails is the end of the file", "UP201", func(fsys afero.Fs, path string) (target.Journal, error) {
			if _, err := good.Recover(fsys, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				if err := afero.WriteFile(fsys, path, nil, 0o600); err != nil {
					return nil, err
				}
			}
			return good.Open(fsys, path)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := good
			s.Open = c.open
			assert.Contains(t, ids(run(t, faulty(s)).Violations), c.want)
		})
	}
}

// However many workers there are, and however often it is run, the findings are the same.
func TestFaultsAreDeterministic(t *testing.T) {
	s := bent(bentFile{sync: func(f afero.File) error { _ = f.Sync(); return nil }})
	cfg := faulty(s)
	cfg.Program, cfg.Probes = workload.Random(5, 6), 200
	var first *report.Report
	for _, workers := range []int{1, 3} {
		cfg.Workers = workers
		rep := run(t, cfg)
		if first == nil {
			first = rep
			require.NotEmpty(t, rep.Violations)
			continue
		}
		assert.Equal(t, first.Violations, rep.Violations)
		assert.Equal(t, first.Coverage.Scenes, rep.Coverage.Scenes)
	}
}

package explore_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	"github.com/unplug-go/unplug/scenarios/workload"
)

// readersOnly is a run of next to nothing but the scene of the readers.
func readersOnly(s target.Subject) explore.Config {
	return explore.Config{
		Subject: s, Contract: oracle.Lines(), Seed: 2, Steps: 10, Scenes: []string{"readers"},
		NoCrash: true, Damages: -1, Probes: 600,
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

// swallow is a file system on which a read that fails is the end of the file.
type swallow struct{ afero.Fs }

func (s swallow) Open(name string) (afero.File, error) {
	f, err := s.Fs.Open(name)
	return swallowFile{f}, err
}

func (s swallow) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	f, err := s.Fs.OpenFile(name, flag, perm)
	return swallowFile{f}, err
}

type swallowFile struct{ afero.File }

func (f swallowFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	if err != nil {
		err = io.EOF
	}
	return n, err
}

// A subject's own Recover and Open are held to the same, also when there is no other reader.
func TestWrongRecoverAndOpen(t *testing.T) {
	good := broken.Subject(broken.StaleHandle) // it does not look at the file again
	for _, c := range []struct {
		name   string
		rule   string
		reader string
		bend   func(s *target.Subject)
	}{
		{"Recover takes a failed read for the end", "UP213", "Recover", func(s *target.Subject) {
			s.Recover = func(f afero.Fs, path string) (target.Recovered, error) { return good.Recover(swallow{f}, path) }
		}},
		{"Open takes a failed read for the end, and cuts what it did not read", "UP208", "Open", func(s *target.Subject) {
			s.Open = func(f afero.Fs, path string) (target.Journal, error) { return good.Open(swallow{f}, path) }
		}},
		{"Open makes a new log where the old one cannot be read", "UP208", "Open", func(s *target.Subject) {
			s.Open = func(f afero.Fs, path string) (target.Journal, error) {
				if _, err := good.Recover(f, path); err != nil && !errors.Is(err, broken.ErrCorrupt) && !errors.Is(err, fs.ErrNotExist) {
					if err := f.Rename(path, path+".bad"); err != nil {
						return nil, err
					}
				}
				return good.Open(f, path)
			}
		}},
		{"Open clears away before it looks, and fails", "UP208", "Open", func(s *target.Subject) {
			s.Open = func(f afero.Fs, path string) (target.Journal, error) {
				j, err := good.Open(f, path)
				if failed, ok := errors.AsType[*fs.PathError](err); ok && failed.Op == "read" {
					err = errors.Join(err, f.Rename(path, path+".bad"))
				}
				return j, err
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := good
			s.Readers = nil
			c.bend(&s)
			rep := run(t, readersOnly(s))
			hit := finding(rep, c.rule)
			require.NotNil(t, hit, "found only %v", rep.Violations)
			assert.Equal(t, c.reader, hit.File.Probe[1])
			assert.Regexp(t, `^on (read|open|stat) \* \d+\+? -> `, hit.File.Probe[2])
			res, err := explore.Replay(s, oracle.Lines(), hit.File)
			require.NoError(t, err)
			require.NotNil(t, res.Expected)
			right, err := explore.Replay(good, oracle.Lines(), hit.File)
			require.NoError(t, err)
			assert.Nil(t, right.Expected, "the right one does not break it")
			assert.Contains(t, rep.Coverage.Scenes[2].Note, "the subject has no other readers (Subject.Readers)")
		})
	}
}

// A reader may pass on the error of a read at an offset that gives less than was asked for; the
// report says that it tested nothing then.
func TestAReaderByOffsets(t *testing.T) {
	s := broken.Subject("")
	s.Readers = []target.Reader{{Name: "by offsets", Read: reading(func(file afero.File) (target.Reading, error) {
		data, err := io.ReadAll(io.NewSectionReader(file, 0, 1<<20))
		return after(err, data, rightly)
	})}}
	rep := run(t, readersOnly(s))
	assert.Empty(t, rep.Violations)
	assert.Contains(t, rep.Coverage.Scenes[2].Note, "tested nothing")
}

// The same seed tries the same, whatever the number of workers.
func TestReadersAreDeterministic(t *testing.T) {
	s := broken.Subject("")
	s.Readers = []target.Reader{{Name: "wrong", Read: wrongReaders()[0].read}}
	var first string
	for workers := 1; workers <= 3; workers++ {
		cfg := readersOnly(s)
		cfg.Workers = workers
		rep := run(t, cfg)
		text := fmt.Sprint(rep.Coverage.Scenes[2], rep.Violations[0].Times, rep.Violations[0].File)
		if first == "" {
			first = text
		}
		assert.Equal(t, first, text)
	}
}

// A probe that does not fit is refused with what is wrong about it.
func TestReadersReplayRefusesNonsense(t *testing.T) {
	s := broken.Subject("")
	step := workload.Program{{Kind: workload.Append, Records: [][]byte{[]byte(`{"type":"message"}`)}}}
	for probe, want := range map[string][]string{
		"want the reader's name": {"readers", "Recover"},
		"no reader":              {"readers", "nobody", "plain"},
		"want \"empty\"":         {"readers", "Recover", "plain", "full"},
		"the log has":            {"readers", "Recover", "grow from 10 to 1000000@2 by 1"},
		"become shorter":         {"readers", "Recover", "grow from 10 to 5@2 by 1"},
		"want \"grow from":       {"readers", "Recover", "grow to 5"},
		"plan line 1":            {"readers", "Recover", "on reed * 1 -> eio"},
	} {
		_, err := explore.Replay(s, oracle.Lines(), &report.Repro{Expect: "UP213", Program: step, Probe: want})
		require.ErrorContains(t, err, probe)
	}
}

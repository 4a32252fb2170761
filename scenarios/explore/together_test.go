package explore_test

import (
	"bytes"
	"fmt"
	"os"
	"sync"
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

// groupLog is the line journal for several goroutines: whoever comes first syncs for all that
// have written by then. With the mistake, who finds a sync under way waits for it to end and
// takes it for its own, though it may have begun before the line was written.
type groupLog struct {
	mu               sync.Mutex
	turn             *sync.Cond
	file             afero.File
	seq              int
	written, durable int
	syncing, mistake bool
}

func groupSubject(mistake bool) target.Subject {
	s := broken.Subject("")
	base := s
	s.Name, s.Concurrent = "group", true
	s.Open = func(fsys afero.Fs, path string) (target.Journal, error) {
		j, err := base.Open(fsys, path) // it repairs and syncs
		if err != nil {
			return nil, err
		}
		if err := j.Close(); err != nil {
			return nil, err
		}
		r, err := base.Recover(fsys, path)
		if err != nil {
			return nil, err
		}
		file, err := fsys.OpenFile(path, os.O_RDWR|os.O_APPEND, 0o600)
		g := &groupLog{file: file, seq: len(r.Records), mistake: mistake}
		g.turn = sync.NewCond(&g.mu)
		return g, err
	}
	return s
}

func (g *groupLog) Append(record []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seq++
	if _, err := fmt.Fprintf(g.file, `{"seq":%d,"record":%s}`+"\n", g.seq, record); err != nil {
		return err
	}
	g.written++
	mine := g.written
	if g.mistake && g.syncing {
		for g.syncing {
			g.turn.Wait()
		}
		return nil
	}
	for g.durable < mine {
		if g.syncing {
			g.turn.Wait()
			continue
		}
		g.syncing = true
		upto := g.written
		g.mu.Unlock()
		err := g.file.Sync()
		g.mu.Lock()
		g.syncing = false
		g.turn.Broadcast()
		if err != nil {
			return err
		}
		g.durable = max(g.durable, upto)
	}
	return nil
}

func (g *groupLog) Sync() error  { return nil }
func (g *groupLog) Close() error { return g.file.Close() }

func togetherRun(t *testing.T, mistake bool) *report.Report {
	t.Helper()
	c := oracle.Lines()
	c.Writers = oracle.WritersTrusted
	rep, err := explore.Run(t.Context(), explore.Config{
		Subject: groupSubject(mistake), Contract: c, Seed: 1, Steps: 4,
		Levels: -1, Damages: -1, MaxStates: 20, Scenes: []string{"together"}, Workers: 2,
	})
	require.NoError(t, err)
	return rep
}

func sceneRow(t *testing.T, rep *report.Report, name string) report.Scene {
	t.Helper()
	for _, s := range rep.Coverage.Scenes {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no scene %s", name)
	return report.Scene{}
}

// Group commit that is right passes, in whatever order its appenders came.
func TestGroupCommitSurvives(t *testing.T) {
	rep := togetherRun(t, false)
	for _, f := range rep.Violations {
		t.Errorf("%s: %s\n%s\nwant %q\ngot  %q\n%s", f.ID, f.Text, f.Story, f.Want, f.Got, f.File)
	}
	row := sceneRow(t, rep, "together")
	assert.Greater(t, row.Tried, 100)
	assert.Contains(t, row.Note, "overlapped another")
}

// A sync that was under way already is taken for one's own: it shows only when appends meet.
func TestGroupCommitThatTrustsAnOlderSync(t *testing.T) {
	rep := togetherRun(t, true)
	require.NotEmpty(t, rep.Violations)
	f := rep.Violations[0]
	assert.Equal(t, "UP201", f.ID)
	assert.Equal(t, "together", f.Scene)
	require.NotNil(t, f.File)

	file, err := report.ParseRepro(f.File.String())
	require.NoError(t, err)
	c := oracle.Lines()
	for range 3 { // the trace is in the file: it is the same each time
		res, err := explore.Replay(groupSubject(true), c, file)
		require.NoError(t, err)
		require.NotNil(t, res.Expected)
		assert.Equal(t, f.Want, res.Expected.Want)
		assert.Equal(t, f.Got, res.Expected.Got)
	}
}

// The harness says so when a subject cannot be used by several goroutines.
func TestTogetherIsSkippedByName(t *testing.T) {
	rep, err := explore.Run(t.Context(), explore.Config{
		Subject: broken.Subject(""), Contract: oracle.Lines(), Seed: 1, Steps: 4, Levels: -1, Damages: -1, MaxStates: 20, Scenes: []string{"together"},
	})
	require.NoError(t, err)
	assert.Contains(t, sceneRow(t, rep, "together").Skipped, "Subject.Concurrent")
}

// A goroutine of the subject that panics is a finding, not the end of the harness.
func TestTogetherSurvivesAPanic(t *testing.T) {
	s := groupSubject(false)
	open := s.Open
	s.Open = func(fsys afero.Fs, path string) (target.Journal, error) {
		j, err := open(fsys, path)
		return &panicky{j}, err
	}
	rep, err := explore.Run(t.Context(), explore.Config{
		Subject: s, Contract: oracle.Lines(), Seed: 1, Steps: 1, Levels: -1, Damages: -1, MaxStates: 20, Scenes: []string{"together"},
	})
	require.NoError(t, err)
	found := ""
	for _, f := range rep.Violations {
		if f.Scene == "together" {
			found = f.ID + f.Text + fmt.Sprint(f.Got)
		}
	}
	assert.Contains(t, found, "UP206")
	assert.Contains(t, found, "I am not for two")
}

type panicky struct{ target.Journal }

func (p *panicky) Append(record []byte) error {
	if bytes.Contains(record, []byte(`"content":"t1 `)) {
		panic("I am not for two")
	}
	return p.Journal.Append(record)
}

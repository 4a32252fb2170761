package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/scenarios/broken"
	"github.com/unplug-go/unplug/scenarios/catalog"
	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/target"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// drive performs a program on a fresh disk and closes the journal.
func drive(t require.TestingT, e catalog.Entry, p workload.Program) *faultfs.FS {
	fsys := faultfs.New(faultfs.NewMem(image.New()), faultfs.WithMarker(e.Subject.Marker))
	d := workload.Driver{Subject: e.Subject, AckOnAppend: e.Contract.AckOn == oracle.AckAppend}
	require.Empty(t, d.Run(fsys, p))
	require.NoError(t, d.Close())
	return fsys
}

// told is what a program leaves: its records, and the state behind its last compaction.
func told(p workload.Program) (records []string, view viewed) {
	for _, s := range p {
		if s.Kind == workload.Cancel {
			continue // it leaves nothing
		}
		for i, r := range s.Records {
			records = append(records, string(r))
			switch {
			case s.Kind != workload.Compact:
				view.History = append(view.History, string(r))
			case i == 0:
				view = viewed{}
				for _, h := range s.Replaces {
					view.History = append(view.History, string(h))
				}
			case i == 1:
				view.WorldState = string(r)
			default:
				view.TurnContext = string(r)
			}
		}
	}
	return records, view
}

type viewed struct {
	History                 []string
	WorldState, TurnContext string
}

func stringsOf(records [][]byte) []string {
	var out []string
	for _, r := range records {
		out = append(out, string(r))
	}
	return out
}

func view(v *target.View) viewed {
	return viewed{stringsOf(v.History), string(v.WorldState), string(v.TurnContext)}
}

func TestSubjectsReturnWhatTheyWereGiven(t *testing.T) {
	for _, e := range catalog.Subjects() {
		t.Run(e.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p := workload.Random(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 40).Draw(t, "steps"))
				fsys := drive(t, e, p)
				got, err := e.Subject.Recover(fsys, e.Subject.File())
				require.NoError(t, err)
				wantRecords, wantView := told(p)
				require.Empty(t, cmp.Diff(wantRecords, stringsOf(got.Records)))
				require.Empty(t, cmp.Diff(wantView, view(got.View)))
				require.Zero(t, got.Tail)
			})
		})
	}
}

func TestTheReferenceRotatesAndNamesItsMarkers(t *testing.T) {
	for _, name := range []string{"reference", "reference-watermark"} {
		e, err := catalog.Find(name, "")
		require.NoError(t, err)
		fsys := drive(t, e, workload.Random(1, 40))
		var files []string
		infos, err := afero.ReadDir(fsys, "/sessions/garden")
		require.NoError(t, err)
		for _, info := range infos {
			files = append(files, info.Name())
		}
		assert.Contains(t, files, "log_2.jsonl", "a workload of 40 steps must reach the rotation")
		markers := map[string]int{}
		compactions := 0
		for _, op := range fsys.Log().Ops() {
			m, ok := workload.ParseMark(op.Text)
			switch {
			case op.Kind != trace.Note || !ok:
			case m.What == "marker":
				markers[m.Name]++
			case m.What == "compact" && m.Event == workload.Called:
				compactions++
			}
		}
		assert.Positive(t, compactions)
		assert.Equal(t, map[string]int{"compacted": compactions, "world_state": compactions, "turn_context": compactions}, markers)
	}
}

func TestTheReferenceReportsItsTail(t *testing.T) {
	e, err := catalog.Find("reference", "")
	require.NoError(t, err)
	p := workload.Program{
		{Kind: workload.Append, Records: [][]byte{[]byte(`{"type":"message","role":"user","content":"first"}`)}},
		{Kind: workload.Append, Records: [][]byte{[]byte(`{"type":"message","role":"user","content":"second"}`)}},
	}
	mem := faultfs.NewMem(image.New())
	d := workload.Driver{Subject: e.Subject, AckOnAppend: true}
	require.Empty(t, d.Run(faultfs.New(mem), p))
	whole, err := afero.ReadFile(mem, e.Subject.File())
	require.NoError(t, err)
	for lost := range 60 {
		cut := faultfs.NewMem(mem.Image().Clone())
		f, err := cut.OpenFile(e.Subject.File(), 2, 0)
		require.NoError(t, err)
		require.NoError(t, f.Truncate(int64(len(whole)-lost)))
		require.NoError(t, f.Close())
		got, err := e.Subject.Recover(cut, e.Subject.File())
		require.NoError(t, err)
		if lost < 2 {
			assert.Len(t, got.Records, 2, "a line that lacks only its newline is a record")
			assert.Zero(t, got.Tail.Length)
			continue
		}
		assert.Len(t, got.Records, 1)
		assert.Equal(t, int64(len(whole)-lost), got.Tail.Offset+got.Tail.Length)
		assert.NotEmpty(t, got.Tail.Kind)
		assert.Equal(t, byte('\n'), whole[got.Tail.Offset-1])
	}
}

func TestFindSaysWhatThereIs(t *testing.T) {
	_, err := catalog.Find("nobody", "")
	require.EqualError(t, err, `unknown subject "nobody": want one of reference, reference-watermark, lines, sums, snapshot`)
	_, err = catalog.Find("lines", "typo")
	require.ErrorContains(t, err, `unknown bug "typo": want one of lost-fsync, `)
	_, err = catalog.Find("nobody", broken.LostFsync)
	require.ErrorContains(t, err, "unknown subject")
	for _, name := range []string{"reference", "lines"} {
		e, err := catalog.Find(name, broken.LostFsync)
		require.NoError(t, err)
		assert.Equal(t, name, e.Subject.Name, "a saved failure must find it again")
		assert.Equal(t, "lines", e.Contract.Name)
	}
}

func config(t *testing.T, name, bug string) explore.Config {
	t.Helper()
	e, err := catalog.Find(name, bug)
	require.NoError(t, err)
	return explore.Config{Subject: e.Subject, Bug: bug, Contract: e.Contract, Seed: 1, Steps: 16, MaxStates: 250, Lives: 60, Deep: 5, Damages: 60, Probes: 200, Workers: 2}
}

func TestEverySubjectKeepsItsContract(t *testing.T) {
	for _, e := range catalog.Subjects() {
		t.Run(e.Name, func(t *testing.T) {
			rep, err := explore.Run(t.Context(), config(t, e.Name, ""))
			require.NoError(t, err)
			for _, v := range rep.Violations {
				t.Errorf("%s (%s): %s\n%s\n want %q\n got  %q", v.ID, v.Model, v.Text, v.Story, v.Want, v.Got)
			}
			assert.Empty(t, rep.Vacuity)
			if e.Contract.Refuse == oracle.RefuseNothing {
				assert.Zero(t, rep.Refused())
			}
		})
	}
}

func TestEveryBugIsCaughtByItsRule(t *testing.T) {
	for _, b := range broken.Bugs() {
		t.Run(b.Name, func(t *testing.T) {
			cfg := config(t, "reference", b.Name)
			if b.Name == broken.CutNotSynced {
				cfg.Lives = 1000 // it shows in few of the crashed recoveries
			}
			rep, err := explore.Run(t.Context(), cfg)
			require.NoError(t, err)
			var rules []string
			for _, v := range rep.Violations {
				rules = append(rules, v.ID)
			}
			assert.Contains(t, rules, b.Rule)
		})
	}
}

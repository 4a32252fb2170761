package workload_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/scenarios/target"
	"github.com/unplug-go/unplug/scenarios/workload"
)

func TestRandomIsSeeded(t *testing.T) {
	first, second := workload.Random(7, 40), workload.Random(7, 40)
	assert.Equal(t, first, second)
	assert.NotEqual(t, workload.Random(7, 40), workload.Random(8, 40))
}

// Every program has every kind of step, and records that differ and are compact JSON objects.
func TestRandomIsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := workload.Random(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(8, 60).Draw(t, "steps"))
		kinds, seen := map[workload.Kind]bool{}, map[string]bool{}
		for _, s := range p {
			kinds[s.Kind] = true
			for _, r := range s.Records {
				if seen[string(r)] || !json.Valid(r) || r[0] != '{' {
					t.Fatalf("record %s", r)
				}
				seen[string(r)] = true
			}
		}
		if len(kinds) != 6 {
			t.Fatalf("kinds %v", kinds)
		}
	})
}

func TestProgramsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := workload.Random(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 30).Draw(t, "steps"))
		raw := rapid.SliceOf(rapid.Byte()).Draw(t, "raw")
		p = append(p, workload.Step{Kind: workload.Append, Records: [][]byte{append([]byte{}, raw...)}})
		got, err := workload.Parse(p.String())
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != p.String() {
			t.Fatalf("got\n%s\nwant\n%s", got, p)
		}
	})
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"apend \"a\"", "line 1: unknown step \"apend\""},
		{"sync\nappend", "line 2: step append has 0 records, want one record"},
		{"append a", "is not a quoted string"},
		{`compact "a" "b"`, "want three records"},
		{`sync "a"`, "want no record"},
	} {
		_, err := workload.Parse(c.text)
		assert.ErrorContains(t, err, c.want)
	}
}

func TestMarksRoundTrip(t *testing.T) {
	for _, m := range []workload.Mark{
		{What: "append", N: 7, Event: workload.Called},
		{What: "append", N: 0, Event: workload.Acked},
		{What: "open", N: -1, Event: workload.Returned},
		{What: "marker", N: -1, Name: "compacted", Event: workload.Reached},
	} {
		got, ok := workload.ParseMark(m.String())
		require.True(t, ok, m.String())
		assert.Equal(t, m, got)
	}
	for _, text := range []string{"", "append", "append x called", "append 1 done", "hello world", "marker "} {
		_, ok := workload.ParseMark(text)
		assert.False(t, ok, text)
	}
}

// pad is a file system that keeps the driver's notes.
type pad struct {
	afero.Fs
	notes  []string
	killed bool
}

func (p *pad) Note(format string, _ ...any) { p.notes = append(p.notes, format) }
func (p *pad) Killed() bool                 { return p.killed }

// fake is a journal in memory that fails where it is told to.
type fake struct {
	pad  *pad
	fail map[string]bool
}

func (f *fake) Append(r []byte) error { return f.err("append " + string(r)) }
func (f *fake) Sync() error           { return f.err("sync") }
func (f *fake) Close() error          { return f.err("close") }

func (f *fake) err(call string) error {
	f.pad.notes = append(f.pad.notes, "-> "+call)
	if f.fail[call] {
		return errors.New("no")
	}
	return nil
}

// A journal that acknowledges on sync: nothing is acknowledged before it returns, and
// nothing at all when it fails.
func TestDriverAcknowledgesOnSync(t *testing.T) {
	p := &pad{Fs: afero.NewOsFs()}
	f := &fake{pad: p, fail: map[string]bool{}}
	d := workload.Driver{Subject: target.Subject{Open: func(afero.Fs, string) (target.Journal, error) { return f, nil }}}
	program, err := workload.Parse("append \"a\"\nbatch \"b\" \"c\"\nsync")
	require.NoError(t, err)
	require.Empty(t, d.Run(p, program))
	assert.Equal(t, []string{
		"open called", "open returned",
		"append 0 called", "-> append a", "append 0 returned",
		"append 1 called", "-> append b", "append 1 returned",
		"append 2 called", "-> append c", "append 2 returned",
		"sync called", "-> sync", "sync returned",
		"append 0 acked", "append 1 acked", "append 2 acked",
	}, p.notes)

	f.fail["sync"], p.notes = true, nil
	failures := d.Run(p, program)
	require.Len(t, failures, 1)
	require.ErrorContains(t, failures[0], "sync")
	assert.NotContains(t, p.notes, "append 0 acked")
}

func TestDriverAcknowledgesOnAppend(t *testing.T) {
	p := &pad{Fs: afero.NewOsFs()}
	f := &fake{pad: p, fail: map[string]bool{"append b": true}}
	d := workload.Driver{AckOnAppend: true, Subject: target.Subject{Open: func(afero.Fs, string) (target.Journal, error) { return f, nil }}}
	program, err := workload.Parse("append \"a\"\nbatch \"b\" \"c\"\nappend \"d\"")
	require.NoError(t, err)
	require.Len(t, d.Run(p, program), 1)
	assert.Equal(t, []string{
		"open called", "open returned",
		"append 0 called", "-> append a", "append 0 returned", "append 0 acked",
		"append 1 called", "-> append b", "append 1 failed",
		"append 3 called", "-> append d", "append 3 returned", "append 3 acked",
	}, p.notes, "the numbers follow the program behind a failed call")
}

func TestDriverStopsWhenKilled(t *testing.T) {
	p := &pad{Fs: afero.NewOsFs(), killed: true}
	f := &fake{pad: p}
	d := workload.Driver{Subject: target.Subject{Open: func(afero.Fs, string) (target.Journal, error) { return f, nil }}}
	require.Empty(t, d.Run(p, workload.Random(1, 9)))
	assert.Equal(t, []string{"open called", "open returned"}, p.notes)
}

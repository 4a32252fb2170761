package journal_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/journal"
)

// viewOf is a view in plain values; "null" is a baseline that is not there.
type viewOf struct {
	base                    []string
	events                  []string
	worldState, turnContext string
}

func viewed(v *journal.View) viewOf {
	out := viewOf{events: contents(v.Events), worldState: "null", turnContext: "null"}
	for _, b := range v.Base {
		out.base = append(out.base, string(b))
	}
	if v.WorldState != nil {
		out.worldState = string(v.WorldState.Value("state"))
	}
	if v.TurnContext != nil {
		out.turnContext = string(v.TurnContext.Value("context"))
	}
	return out
}

// A cut between the markers of a compaction leaves the state before, or the new history with
// null for each baseline that is not there yet: never an old baseline with a new history.
func TestACutBetweenCompactionMarkers(t *testing.T) {
	mem := faultfs.NewMem(image.New())
	j := open(t, mem, options())
	require.NoError(t, j.Append(user(0)))
	require.NoError(t, j.Compact(journal.Compaction{ReplacementHistory: [][]byte{[]byte(`"old"`)}, WorldState: []byte("1"), TurnContext: []byte("2"), Window: 1}))
	require.NoError(t, j.Append(user(1)))
	from := len(read(t, mem, logPath))
	require.NoError(t, j.Compact(journal.Compaction{
		ReplacementHistory: [][]byte{[]byte(`{"role":"user","content":"[,]{\"}"}`), []byte(`"new"`)}, WorldState: []byte(`[3]`), TurnContext: []byte(`{"k":4}`), Window: 2, Summary: "beds",
	}))
	require.NoError(t, j.Append(user(2)))
	whole := read(t, mem, logPath)
	ends := lineEnds(whole)
	base := []string{`{"role":"user","content":"[,]{\"}"}`, `"new"`}
	want := []viewOf{
		{base: []string{`"old"`}, events: []string{"water bed 1"}, worldState: "1", turnContext: "2"},
		{base: base, events: []string{}, worldState: "null", turnContext: "null"},
		{base: base, events: []string{}, worldState: "[3]", turnContext: "null"},
		{base: base, events: []string{}, worldState: "[3]", turnContext: `{"k":4}`},
		{base: base, events: []string{"water bed 2"}, worldState: "[3]", turnContext: `{"k":4}`},
	}
	first, _ := before(ends, from)
	seen := map[int]bool{}
	for n := from; n <= len(whole); n++ {
		rec, err := journal.Recover(with(t, whole[:n]), logPath, options())
		require.NoError(t, err)
		k := rec.Lines - first
		seen[k] = true
		require.Equal(t, want[k], viewed(&rec.View), "%d bytes", n)
	}
	assert.Len(t, seen, len(want))
}

func TestWithoutACompactionTheViewIsTheHistory(t *testing.T) {
	rec, err := journal.Recover(filled(t, 3, true, options()), logPath, options())
	require.NoError(t, err)
	assert.Equal(t, viewOf{events: []string{"water bed 0", "water bed 1", "water bed 2"}, worldState: "null", turnContext: "null"}, viewed(&rec.View))
	assert.Nil(t, rec.View.Compacted)
}

func TestMarkersAreCheckedBeforeTheFirstIsWritten(t *testing.T) {
	mem := faultfs.NewMem(image.New())
	j := open(t, mem, options())
	compacted, world, turn := journal.Event{Type: journal.TypeCompacted}, journal.Event{Type: journal.TypeWorldState}, journal.Event{Type: journal.TypeTurnContext}
	require.ErrorIs(t, j.CompactEvents(world, compacted, turn), journal.ErrEvent)
	turn.Payload = []byte("{")
	require.ErrorIs(t, j.CompactEvents(compacted, world, turn), journal.ErrEvent)
	require.ErrorIs(t, j.Compact(journal.Compaction{ReplacementHistory: [][]byte{[]byte("x")}}), journal.ErrEvent)
	assert.Empty(t, read(t, mem, logPath))
}

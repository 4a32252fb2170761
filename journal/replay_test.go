package journal_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/journal"
)

// session is a log with one event of each kind.
func session(t *testing.T) *faultfs.Mem {
	t.Helper()
	mem := faultfs.NewMem(image.New())
	j := open(t, mem, options())
	require.NoError(t, j.Append(journal.Message("user", "Which herbs need water?")))
	require.NoError(t, j.Append(journal.Reasoning("Look at the bed list first.")))
	require.NoError(t, j.Append(journal.FunctionCall("read_file", []byte(`{"path":"beds.txt"}`), "c1")))
	require.NoError(t, j.Append(journal.FunctionCallResult("c1", []byte(`{"content":"basil: dry"}`))))
	require.NoError(t, j.Append(journal.FileSnapshot("beds.txt", "9b2d")))
	require.NoError(t, j.Append(journal.Message("assistant", "Basil.")))
	require.NoError(t, j.Append(journal.UserTitle("My herbs")))
	require.NoError(t, j.Append(journal.AITitle("Watering plan")))
	require.NoError(t, j.Append(journal.Event{Type: "weather", Payload: []byte(`{"rain":true}`)}))
	require.NoError(t, j.Append(journal.Message("user", "Thanks.")))
	require.NoError(t, j.Append(journal.FunctionCall("water", nil, "c2")))
	require.NoError(t, j.Close())
	return mem
}

func TestReplayIsTheSeedsTable(t *testing.T) {
	rec, err := journal.Recover(session(t), logPath, options())
	require.NoError(t, err)
	assert.Equal(t, []journal.ModelMessage{
		{Role: "user", Part: journal.PartText, Text: "Which herbs need water?", Sequence: 1},
		{Role: "assistant", Part: journal.PartToolUse, Name: "read_file", CallID: "c1", Data: []byte(`{"path":"beds.txt"}`), Sequence: 3},
		{Role: "user", Part: journal.PartToolResult, CallID: "c1", Data: []byte(`{"content":"basil: dry"}`), Sequence: 4},
		{Role: "assistant", Part: journal.PartText, Text: "Basil.", Sequence: 6},
		{Role: "user", Part: journal.PartText, Text: "Thanks.", Sequence: 10},
		{Role: "assistant", Part: journal.PartToolUse, Name: "water", CallID: "c2", Data: []byte("null"), Sequence: 11},
	}, rec.Replay(journal.DefaultReplay))
	assert.Len(t, rec.Replay(2), 2)
	assert.Len(t, rec.Replay(3), 2, "the window counts events, not messages")
	assert.Empty(t, rec.Replay(0), "zero is none, not all")
	assert.Empty(t, rec.Replay(-1))
	assert.Equal(t, "My herbs", rec.Title, "what the person set counts before what a model gave later")
	assert.Equal(t, 11, rec.Total)
	assert.Equal(t, []journal.Snapshot{{Path: "beds.txt", Hash: "9b2d", Sequence: 5}}, rec.Snapshots)
}

func TestAWindowInMemoryKeepsTitleAndCounts(t *testing.T) {
	mem := session(t)
	for _, keep := range []int{journal.KeepNone, 1, 3, 100} {
		rec, err := journal.Recover(mem, logPath, options(func(o *journal.Options) { o.Keep = keep }))
		require.NoError(t, err)
		assert.Len(t, rec.Events, min(max(keep, 0), 11))
		assert.Equal(t, 11, rec.Total)
		assert.Equal(t, "My herbs", rec.Title)
		assert.Len(t, rec.Snapshots, 1)
	}
}

func TestScanGivesEveryEventAndStops(t *testing.T) {
	mem := session(t)
	var sequences []int64
	rec, err := journal.Scan(mem, logPath, options(func(o *journal.Options) { o.Keep = journal.KeepNone }), func(e journal.Event) error {
		sequences = append(sequences, e.Sequence)
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, sequences)
	assert.Empty(t, rec.Events)
	stop := errors.New("enough")
	n := 0
	_, err = journal.Scan(mem, logPath, options(), func(journal.Event) error {
		if n++; n == 3 {
			return stop
		}
		return nil
	})
	require.ErrorIs(t, err, stop)
	assert.Equal(t, 3, n)
}

func TestLastTurnAndLegalSuffix(t *testing.T) {
	rec, err := journal.Recover(session(t), logPath, options())
	require.NoError(t, err)
	turn := journal.LastTurn(rec.Events)
	assert.Equal(t, int64(10), turn[0].Sequence)
	assert.Len(t, journal.LastTurn(rec.Events[1:3]), 2, "without a message of the user, all events")

	legal, dangling := journal.LegalSuffix(rec.Events[3:]) // begins at a result whose call is cut off
	assert.Equal(t, int64(5), legal[0].Sequence)
	assert.Equal(t, []string{"c2"}, dangling)
	legal, dangling = journal.LegalSuffix(rec.Events[:4])
	assert.Len(t, legal, 4)
	assert.Empty(t, dangling)
	legal, _ = journal.LegalSuffix(append(rec.Events[4:5:5], rec.Events[3]))
	assert.Len(t, legal, 1, "an orphan is left out behind other events too")
}

func TestMemoryCandidates(t *testing.T) {
	mem := session(t)
	id := func(seq int64) string { return journal.EventID("s1", seq) }
	c, err := journal.SelectMemoryCandidate(mem, logPath, options(), id(1), "Asked about herbs.", "A standing interest.")
	require.NoError(t, err)
	assert.Equal(t, journal.Candidate{
		EventID: "transcript:s1:1", SessionID: "s1", Sequence: 1, Type: "message", RecordedAt: "2026-08-20T09:00:00Z",
		Summary: "Asked about herbs.", Reason: "A standing interest.",
	}, c, "and nothing of the event's text")
	_, err = journal.SelectMemoryCandidate(mem, logPath, options(func(o *journal.Options) { o.Keep = 2 }), id(5), "s", "r")
	require.NoError(t, err, "S-98: an event outside the window, a snapshot")

	before := mem.Image().Hash()
	for reason, tt := range map[string]struct{ id, summary, why string }{
		"only what is on disk":     {id(99), "s", "r"},
		"a checkpoint is no event": {id(12), "s", "r"},
		"another session":          {"transcript:s2:1", "s", "r"},
		"no id":                    {"s1:1", "s", "r"},
		"another spelling":         {"transcript:s1:01", "s", "r"},
		"a blank summary":          {id(1), " \t", "r"},
		"a blank reason":           {id(1), "s", ""},
		"reasoning":                {id(2), "s", "r"},
		"a tool call":              {id(3), "s", "r"},
		"a tool result":            {id(4), "s", "r"},
		"a title":                  {id(8), "s", "r"},
		"an unknown type":          {id(9), "s", "r"},
	} {
		_, err := journal.SelectMemoryCandidate(mem, logPath, options(), tt.id, tt.summary, tt.why)
		require.ErrorIs(t, err, journal.ErrNotSelectable, reason)
	}
	assert.Equal(t, before, mem.Image().Hash())
	legacy := with(t, []byte(`{"type":"message","role":"user","content":"a","session_id":"s1"}`+"\n"))
	_, err = journal.SelectMemoryCandidate(legacy, logPath, options(), id(1), "s", "r")
	require.ErrorContains(t, err, "when it was recorded")
}

// What is written and not yet acknowledged cannot be selected.
func TestAnUnacknowledgedEventIsNoCandidate(t *testing.T) {
	mem := faultfs.NewMem(image.New())
	var j *journal.Journal
	var during error
	spy := &writeSpy{Mem: mem, do: func() {}}
	j = open(t, spy, options(func(o *journal.Options) { o.AllowNoLock = true }))
	require.NoError(t, j.Append(user(1)))
	spy.synced = func() { _, during = j.SelectMemoryCandidate("transcript:s1:2", "s", "r") }
	require.NoError(t, j.Append(user(2)))
	require.ErrorIs(t, during, journal.ErrNotSelectable)
	require.ErrorContains(t, during, "not acknowledged")
	_, err := j.SelectMemoryCandidate("transcript:s1:2", "s", "r")
	require.NoError(t, err)
}

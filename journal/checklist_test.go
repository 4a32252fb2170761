package journal_test

import (
	"bytes"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/journal"
)

// checklistRow is one row of the list of what the first seed's journal does, and should do.
type checklistRow struct {
	id     string
	reason string // what must hold here
	check  func(t *testing.T)
}

// threeLines is a log of three events, not closed.
func threeLines(t *testing.T) []byte {
	t.Helper()
	return read(t, filled(t, 3, false, options()), logPath)
}

func plus(b []byte, tail string) []byte { return append(append([]byte(nil), b...), tail...) }

// mustRecover expects n events, and a tail of the kind, or none.
func mustRecover(t *testing.T, b []byte, n int, kind journal.TailKind) *journal.Recovery {
	t.Helper()
	rec, err := journal.Recover(with(t, b), logPath, options())
	require.NoError(t, err)
	require.Equal(t, n, rec.Total)
	if kind == "" {
		require.Nil(t, rec.Tail)
	} else {
		require.Equal(t, kind, rec.Tail.Kind)
	}
	return rec
}

func mustRefuse(t *testing.T, b []byte, line int) {
	t.Helper()
	_, err := journal.Recover(with(t, b), logPath, options())
	var corrupt *journal.CorruptError
	require.ErrorAs(t, err, &corrupt)
	require.Equal(t, logPath, corrupt.Path)
	require.Equal(t, line, corrupt.Line)
}

// mustGoOn appends behind a crash state.
func mustGoOn(t *testing.T, b []byte, n int) {
	t.Helper()
	mem := with(t, b)
	j := open(t, mem, options())
	require.NoError(t, j.Append(user(9)))
	rec, err := journal.Recover(crashed(mem), logPath, options())
	require.NoError(t, err)
	require.Equal(t, n+1, rec.Total)
	require.Nil(t, rec.Tail)
}

func TestChecklist(t *testing.T) {
	for _, row := range append(crashRows(), formatRows()...) {
		t.Run(row.id, func(t *testing.T) {
			t.Log(row.reason)
			row.check(t)
		})
	}
}

func crashRows() []checklistRow {
	return []checklistRow{
		{"S-01", "nil from Append comes behind the write and the sync of the file", func(t *testing.T) {
			t.Helper()
			fsys := faultfs.New(faultfs.NewMem(image.New()))
			j := open(t, fsys, options())
			from := fsys.Log().Len()
			require.NoError(t, j.Append(user(1)))
			ops := fsys.Log().Ops()[from:]
			require.Len(t, ops, 2)
			require.Equal(t, trace.Write, ops[0].Kind)
			require.Equal(t, trace.SyncFile, ops[1].Kind)
		}},
		{"S-02", "the record in flight is absent, torn, or whole", func(t *testing.T) {
			t.Helper()
			whole := threeLines(t)
			ends := lineEnds(whole)
			for n := ends[2]; n <= len(whole); n++ {
				rec, err := journal.Recover(with(t, whole[:n]), logPath, options())
				require.NoError(t, err)
				require.Equal(t, []string{"water bed 0", "water bed 1", "water bed 2"}[:rec.Total], contents(rec.Events))
				require.GreaterOrEqual(t, rec.Total, 2)
			}
		}},
		{"S-03", "a torn ASCII tail is reported and leaves the events in front", func(t *testing.T) {
			t.Helper()
			mustRecover(t, plus(threeLines(t), `{"schema_version":1,"sequ`), 3, journal.TailUnterminated)
		}},
		{"S-04", "a complete object without its newline counts", func(t *testing.T) {
			t.Helper()
			mustRecover(t, bytes.TrimSuffix(threeLines(t), []byte("\n")), 3, journal.TailComplete)
			mustRecover(t, []byte(`{"type":"message","role":"user","content":"a"}`), 1, journal.TailComplete)
		}},
		{"S-05", "an append behind S-03 or S-04 repairs first", func(t *testing.T) {
			t.Helper()
			mustGoOn(t, plus(threeLines(t), `{"schema_version":1,"sequ`), 3)
			mustGoOn(t, bytes.TrimSuffix(threeLines(t), []byte("\n")), 3)
			mustGoOn(t, []byte(`{"type":"message","role":"user","content":"a"}`), 1)
		}},
		{"S-06", "a cut inside a character is a tail like any other", func(t *testing.T) {
			t.Helper()
			mustRecover(t, plus(threeLines(t), "{\"content\":\"caf\xc3"), 3, journal.TailUnterminated)
			mustRecover(t, []byte("{\"type\":\"message\",\"content\":\"\xf0\x9f\x98"), 0, journal.TailUnterminated)
		}},
		{"S-07", "a complete bad line is refused by file and line, wherever it stands", func(t *testing.T) {
			t.Helper()
			whole := threeLines(t)
			ends := lineEnds(whole)
			for k := range 4 {
				b := append(append(append([]byte(nil), whole[:ends[k]]...), "{not json}\n"...), whole[ends[k]:]...)
				mustRefuse(t, b, k+1)
			}
		}},
		{"S-08", "a gap or repetition in the sequence is refused", func(t *testing.T) {
			t.Helper()
			whole := threeLines(t)
			ends := lineEnds(whole)
			mustRefuse(t, append(append([]byte(nil), whole[:ends[1]]...), whole[ends[2]:]...), 2)
			mustRefuse(t, append(append([]byte(nil), whole[:ends[2]]...), whole[ends[1]:]...), 3)
			mustRefuse(t, []byte(`{"type":"message","sequence":1}`+"\n"+`{"type":"message","sequence":3}`+"\n"), 2)
			mustRefuse(t, []byte(`{"type":"message","sequence":1}`+"\n"+`{"type":"message","sequence":1}`+"\n"), 2)
		}},
		{"S-09", "another session's line or event id is refused", func(t *testing.T) {
			t.Helper()
			mustRefuse(t, []byte(`{"type":"message","session_id":"a"}`+"\n"+`{"type":"message","session_id":"b"}`+"\n"), 2)
			mustRefuse(t, []byte(`{"type":"message","session_id":"a","sequence":1,"event_id":"transcript:a:2"}`+"\n"), 1)
			_, err := journal.Recover(with(t, threeLines(t)), logPath, options(func(o *journal.Options) { o.Session = "other" }))
			require.ErrorIs(t, err, journal.ErrCorrupt)
		}},
		{"S-11", "a NUL tail is a tail, and a NUL tail with a newline is not", func(t *testing.T) {
			t.Helper()
			mustRecover(t, plus(threeLines(t), "\x00\x00\x00"), 3, journal.TailNUL)
			mustGoOn(t, plus(threeLines(t), "\x00\x00\x00"), 3)
			mustRefuse(t, plus(threeLines(t), "\x00\x00\n"), 4)
		}},
		{"S-13", "after a sync that failed nothing is acknowledged, and nothing is there twice", func(t *testing.T) {
			t.Helper()
			plan, err := faultfs.ParsePlan("on sync s1.jsonl 3 -> fail-false")
			require.NoError(t, err)
			mem := faultfs.NewMem(image.New())
			j := open(t, faultfs.New(mem, faultfs.WithPlan(plan)), options())
			require.NoError(t, j.Append(user(0)))
			var poisoned *journal.PoisonedError
			require.ErrorAs(t, j.Append(user(1)), &poisoned)
			require.ErrorAs(t, j.Append(user(1)), &poisoned)
			rec, err := journal.Recover(crashed(mem), logPath, options())
			require.NoError(t, err)
			require.Equal(t, []string{"water bed 0", "water bed 1"}, contents(rec.Events))
		}},
		{"S-14", "a short write is an error, taken back before the next append", func(t *testing.T) {
			t.Helper()
			plan, err := faultfs.ParsePlan("on write s1.jsonl 2 -> short 30")
			require.NoError(t, err)
			mem := faultfs.NewMem(image.New())
			j := open(t, faultfs.New(mem, faultfs.WithPlan(plan)), options())
			require.NoError(t, j.Append(user(0)))
			require.Error(t, j.Append(user(1)))
			require.NoError(t, j.Append(user(2)))
			rec, err := journal.Recover(crashed(mem), logPath, options())
			require.NoError(t, err)
			require.Equal(t, []string{"water bed 0", "water bed 2"}, contents(rec.Events))
		}},
		{"S-15", "the folders are synced before the first acknowledgement", func(t *testing.T) {
			t.Helper()
			fsys := faultfs.New(faultfs.NewMem(image.New()))
			j := open(t, fsys, options())
			require.NoError(t, j.Append(user(0)))
			synced := map[string]bool{}
			for _, op := range fsys.Log().Ops() {
				if op.Kind == trace.SyncDir {
					synced[op.Path] = true
				}
				if op.Kind == trace.Write {
					require.Len(t, synced, 4)
				}
			}
		}},
	}
}

func formatRows() []checklistRow {
	return []checklistRow{
		{"S-10", "characters at which other readers break lines come back", func(t *testing.T) {
			t.Helper()
			mem := faultfs.NewMem(image.New())
			j := open(t, mem, options())
			const text = "a\u2028b\u2029c\u0085d\ve\ff\x1cg\nh\r\ni"
			require.NoError(t, j.Append(journal.Message("user", text)))
			require.NoError(t, j.Append(journal.Event{Type: "raw", Payload: []byte("{\"content\":\"a\u2028b\u0085c\"}")}))
			require.NoError(t, j.Close())
			rec, err := journal.Recover(mem, logPath, options())
			require.NoError(t, err)
			require.Equal(t, []string{text, "a\u2028b\u0085c"}, contents(rec.Events))
			require.Len(t, lineEnds(read(t, mem, logPath)), 4)
		}},
		{"S-12", "a reserved member in a payload is refused and the file untouched", func(t *testing.T) {
			t.Helper()
			mem := filled(t, 1, true, options())
			j := open(t, mem, options())
			before := mem.Image().Hash()
			for _, name := range []string{"schema_version", "sequence", "session_id", "event_id", "recorded_at", "type", "durable", "prev", "crc"} {
				require.ErrorIs(t, j.Append(journal.Event{Type: "message", Payload: []byte(`{"` + name + `":1}`)}), journal.ErrEvent, name)
			}
			require.Equal(t, before, mem.Image().Hash())
		}},
		{"S-16", "messages come from the last 1,000 events, title and snapshots from all", func(t *testing.T) {
			t.Helper()
			mem := faultfs.NewMem(image.New())
			j := open(t, mem, options())
			events := []journal.Event{journal.AITitle("Beds"), journal.FileSnapshot("beds", "1")}
			for i := range 1200 {
				events = append(events, user(i))
			}
			require.NoError(t, j.Append(events...))
			rec, err := journal.Recover(mem, logPath, options())
			require.NoError(t, err)
			messages := rec.Replay(journal.DefaultReplay)
			require.Len(t, messages, 1000)
			require.Equal(t, "water bed 200", messages[0].Text)
			require.Equal(t, "Beds", rec.Title)
			require.Len(t, rec.Snapshots, 1)
			require.Equal(t, 1202, rec.Total)
		}},
		{"S-17", "unknown types and newer versions are kept and mapped to nothing", func(t *testing.T) {
			t.Helper()
			rec := mustRecover(t, []byte(`{"type":"hologram","x":1}`+"\n"+`{"schema_version":2,"type":"message","role":"user","content":"a"}`+"\n"), 2, "")
			require.Empty(t, rec.Replay(10))
			require.Equal(t, `{"x":1}`, string(rec.Events[0].Payload))
		}},
		{"S-18", "only a message or snapshot on disk can be selected; no body, no write", func(t *testing.T) {
			t.Helper()
			mem := session(t)
			before := mem.Image().Hash()
			for seq := int64(1); seq <= 12; seq++ {
				c, err := journal.SelectMemoryCandidate(mem, logPath, options(), journal.EventID("s1", seq), "summary", "reason")
				if seq == 1 || seq == 5 || seq == 6 || seq == 10 {
					require.NoError(t, err)
					require.Equal(t, "summary", c.Summary)
					continue
				}
				require.ErrorIs(t, err, journal.ErrNotSelectable)
			}
			require.Equal(t, before, mem.Image().Hash())
		}},
		{"S-98", "an event outside the replay window can be selected", func(t *testing.T) {
			t.Helper()
			mem := filled(t, 30, true, options())
			_, err := journal.SelectMemoryCandidate(mem, logPath, options(func(o *journal.Options) { o.Keep = 3 }), journal.EventID("s1", 2), "s", "r")
			require.NoError(t, err)
		}},
		{"absent", "not found is no damage, and makes nothing", func(t *testing.T) {
			t.Helper()
			mem := faultfs.NewMem(image.New())
			_, err := journal.Open(mem, logPath, journal.Options{})
			require.ErrorIs(t, err, fs.ErrNotExist)
			require.NotErrorIs(t, err, journal.ErrCorrupt)
			require.Equal(t, image.New().Hash(), mem.Image().Hash())
		}},
	}
}

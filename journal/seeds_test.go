package journal_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/journal"
)

func TestTheSeedsSampleOpensUnchecked(t *testing.T) {
	text, err := os.ReadFile("../testdata/seeds/workbuddy/herb-bed.jsonl")
	require.NoError(t, err)
	for name, opt := range bothContracts() {
		mem := with(t, text)
		rec, err := journal.Recover(mem, logPath, opt)
		require.NoError(t, err, name)
		assert.Equal(t, 7, rec.Total)
		assert.Equal(t, 7, rec.Unchecked)
		assert.Equal(t, "herb-bed", rec.Session, "whatever the file is called")
		assert.Equal(t, "Watering plan", rec.Title)
		assert.Equal(t, []journal.Snapshot{{Path: "beds.txt", Hash: "9b2d4e7c", Sequence: 5}}, rec.Snapshots)
		assert.Len(t, rec.Replay(journal.DefaultReplay), 4)
		assert.Equal(t, `{"arguments":{"path": "beds.txt"},"callId":"call_001","name":"read_file"}`, string(rec.Events[2].Payload))

		// Our lines follow, chained to every byte in front of them.
		j := open(t, mem, opt)
		require.NoError(t, j.Append(user(1)))
		require.NoError(t, j.Close())
		rec, err = journal.Recover(mem, logPath, opt)
		require.NoError(t, err)
		assert.Equal(t, 8, rec.Total)
		assert.Equal(t, 7, rec.Unchecked)
		assert.Equal(t, "transcript:herb-bed:8", rec.Events[7].EventID())
		b := read(t, mem, logPath)
		for i := range text {
			b[i] ^= 1
			_, err := journal.Recover(with(t, b), logPath, opt)
			require.ErrorIs(t, err, journal.ErrCorrupt, "a checked line vouches for the unchecked ones: byte %d", i)
			b[i] ^= 1
		}
	}
}

// The lines that the first seed prints, each with the class that it deserves.
func TestTheSeedsLiteralLines(t *testing.T) {
	const (
		enveloped = `{"schema_version":1,"sequence":1,"session_id":"abc123","event_id":"transcript:abc123:1","recorded_at":"...","type":"message","role":"user","content":"fix the bug"}
{"schema_version":1,"sequence":2,"session_id":"abc123","event_id":"transcript:abc123:2","recorded_at":"...","type":"reasoning","content":"Let me analyze the error..."}
{"schema_version":1,"sequence":3,"session_id":"abc123","event_id":"transcript:abc123:3","recorded_at":"...","type":"function_call","name":"read_file","arguments":{"path":"main.py"},"callId":"call_001"}
{"schema_version":1,"sequence":4,"session_id":"abc123","event_id":"transcript:abc123:4","recorded_at":"...","type":"function_call_result","callId":"call_001","output":{"content":"..."}}
`
		bare = `{"type":"message","role":"user","content":"fix the bug","uuid":"a1b2c3","timestamp":1709123456}
{"type":"reasoning","content":"Let me analyze...","uuid":"d4e5f6","timestamp":1709123457}
{"type":"function_call","name":"read_file","arguments":{"path":"main.py"},"callId":"call_001","uuid":"g7h8i9"}
`
		drawn = `{"type":"message","role":"user","content":"..."}
{"type":"reasoning","content":"Let me analyze"}
`
		elided = `{"type":"function_call","name":"read_file",...}` + "\n"
	)
	for name, opt := range bothContracts() {
		for text, want := range map[string]int{enveloped: 4, bare: 3, drawn: 2} {
			rec, err := journal.Recover(with(t, []byte(text)), logPath, opt)
			require.NoError(t, err, name)
			assert.Equal(t, want, rec.Total)
			assert.Equal(t, want, rec.Unchecked)
			assert.Equal(t, int64(want), rec.Events[want-1].Sequence, "an absent sequence is the line's place")
		}
		_, err := journal.Recover(with(t, []byte(drawn+elided)), logPath, opt)
		var corrupt *journal.CorruptError
		require.ErrorAs(t, err, &corrupt, "a complete bad line, as the drawing has it")
		assert.Equal(t, 3, corrupt.Line)
		rec, err := journal.Recover(with(t, []byte(drawn+strings.TrimSuffix(elided, "...}\n"))), logPath, opt)
		require.NoError(t, err, "the same without its end is a partial tail")
		assert.Equal(t, 2, rec.Total)
		assert.Equal(t, int64(len(drawn)), rec.Tail.Offset)
	}
}

// A member of the envelope that a line lacks, and the lines before have, is misspelt or lost.
func TestUncheckedEnvelopesDoNotShrink(t *testing.T) {
	for bad, cause := range map[string]string{
		`{"type":"message","seqeunce":2}`:                    "missing or misspelt",
		`{"type":"message","Sequence":2}`:                    "misspelt",
		`{"type":"message","sequence":"2"}`:                  "not a line's number",
		`{"type":"message","sequence":2,"schema_version":0}`: "not a version",
		`{"type":"message","sequence":2,"session_id":7}`:     "not a name",
		`{"type":"message","sequence":2,"recorded_at":7}`:    "not a string",
		`{"sequence":2}`:          "no type",
		`{"type":7,"sequence":2}`: "no type",
	} {
		first := `{"type":"message","sequence":1}` + "\n"
		for name, opt := range bothContracts() {
			for _, end := range []string{"\n", ""} { // a complete object is no torn line
				_, err := journal.Recover(with(t, []byte(first+bad+end)), logPath, opt)
				var corrupt *journal.CorruptError
				require.ErrorAs(t, err, &corrupt, "%s: %s", name, bad)
				require.Contains(t, corrupt.Cause, cause, "%s: %s", name, bad)
				require.Equal(t, 2, corrupt.Line)
			}
		}
	}
}

// jq . and grep '"type":"function_call"' find in our files what the seed says that they find.
func TestTheSeedsShellLines(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "session.jsonl")
	j, err := journal.Open(afero.NewOsFs(), path, journal.Options{Create: true})
	require.NoError(t, err)
	require.NoError(t, j.Append(journal.Message("user", "a \"type\":\"function_call\" in a text"), journal.FunctionCall("read_file", []byte(`{ "path": "main.py" }`), "call_001"),
		journal.FunctionCallResult("call_001", []byte(`{"content":"..."}`))))
	require.NoError(t, j.Close())
	for _, tt := range []struct {
		line string
		want string
	}{
		{`grep -c '"type":"function_call"' session.jsonl`, "1\n"},
		{`cat session.jsonl | jq -c 'select(.type == "function_call") | .arguments'`, `{"path":"main.py"}` + "\n"},
		{`jq -s 'length' session.jsonl`, "4\n"},
		{`cp session.jsonl backup.jsonl && tail -n 1 backup.jsonl | grep -c checkpoint`, "1\n"},
	} {
		tool, _, _ := strings.Cut(tt.line, " ")
		if strings.Contains(tt.line, "jq") {
			tool = "jq"
		}
		if _, err := exec.LookPath(tool); err != nil {
			t.Logf("%s is not installed: skipped: %s", tool, tt.line)
			continue
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", tt.line)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", tt.line, out)
		assert.Equal(t, tt.want, string(out), tt.line)
	}
	rec, err := journal.Recover(afero.NewOsFs(), filepath.Join(dir, "backup.jsonl"), journal.Options{})
	require.NoError(t, err, "a copied file opens")
	assert.Equal(t, 3, rec.Total)
	assert.Equal(t, "session", rec.Session)
	j, err = journal.Open(afero.NewOsFs(), filepath.Join(dir, "backup.jsonl"), journal.Options{})
	require.NoError(t, err)
	require.NoError(t, j.Append(user(1)))
	require.NoError(t, j.Close())
}

// Frozen files: every format ever released still opens, byte for byte the same.
func TestFrozenFilesOpen(t *testing.T) {
	files, err := filepath.Glob("../testdata/journal/v1/*.jsonl")
	require.NoError(t, err)
	require.Len(t, files, 3)
	fsys := afero.NewReadOnlyFs(afero.NewOsFs())
	for _, tt := range []struct {
		name        string
		total, tail int
		title, last string
		unchecked   int
	}{
		{"closed.jsonl", 6, 0, "Beds", "transcript:closed:6", 0},
		{"torn.jsonl", 2, 31, "", "transcript:torn:2", 0},
	} {
		rec, err := journal.Recover(fsys, "../testdata/journal/v1/"+tt.name, journal.Options{})
		require.NoError(t, err)
		assert.Equal(t, tt.total, rec.Total)
		assert.Equal(t, tt.title, rec.Title)
		assert.Equal(t, tt.last, rec.Events[len(rec.Events)-1].EventID())
		assert.Equal(t, tt.unchecked, rec.Unchecked)
		if tt.tail > 0 {
			require.NotNil(t, rec.Tail)
			assert.Equal(t, int64(tt.tail), rec.Tail.Length)
		}
	}
	_, err = journal.Recover(fsys, "../testdata/journal/v1/damaged.jsonl", journal.Options{})
	var corrupt *journal.CorruptError
	require.ErrorAs(t, err, &corrupt)
	assert.True(t, corrupt.Vouched)
	assert.Equal(t, 3, corrupt.Line)
}

// The writer still writes what it wrote when the format was released.
func TestTheWriterWritesTheFrozenFormat(t *testing.T) {
	mem := faultfs.NewMem(image.New())
	j, err := journal.Open(mem, "/closed.jsonl", journal.Options{Create: true, Now: fixedNow})
	require.NoError(t, err)
	frozen(t, j)
	want, err := os.ReadFile("../testdata/journal/v1/closed.jsonl")
	require.NoError(t, err)
	assert.Equal(t, string(want), string(read(t, mem, "/closed.jsonl")))
}

func frozen(t *testing.T, j *journal.Journal) {
	t.Helper()
	require.NoError(t, j.Append(journal.Message("user", "Which herbs need water? é \u2028 \x00 \"")))
	require.NoError(t, j.Append(journal.Reasoning("beds"), journal.FunctionCall("read_file", []byte(`{"path":"beds.txt"}`), "c1"), journal.FunctionCallResult("c1", []byte(`"dry"`))))
	require.NoError(t, j.Append(journal.FileSnapshot("beds.txt", "9b")))
	require.NoError(t, j.Append(journal.AITitle("Beds")))
	require.NoError(t, j.Close())
}

func TestErrorsNameWhatIsPlainToSee(t *testing.T) {
	whole := read(t, filled(t, 2, true, options()), logPath)
	legacy := []byte(`{"type":"message"}` + "\r\n" + `{"type":"message"}` + "\r\n")
	for cause, b := range map[string][]byte{
		"a carriage return": legacy,
		"byte order mark":   append([]byte("\xef\xbb\xbf"), whole...),
		"carriage return":   bytes.ReplaceAll(whole, []byte("\n"), []byte("\r\n")),
		"an empty line":     append([]byte("\n"), whole...),
		"NUL bytes":         append([]byte("\x00\x00\n"), whole...),
		"does not fit":      bytes.Replace(whole, []byte("water"), []byte("wafer"), 1),
	} {
		_, err := journal.Recover(with(t, b), logPath, options())
		require.ErrorContains(t, err, cause)
		require.ErrorContains(t, err, fmt.Sprintf("%s: line 1, byte 0: ", logPath))
	}
}

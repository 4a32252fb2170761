package report_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/scenarios/report"
)

func TestReproKeepsARecordedTraceAndAProbe(t *testing.T) {
	in := &report.Repro{
		Subject: "reference", Expect: "UP201",
		Ops: []trace.Op{
			{Kind: trace.Note, Text: "append 0 called"},
			{Kind: trace.Write, Ino: 2, Path: "/journal/log.jsonl", Data: []byte("{\"a\":\"\\u2028\xff\"}\n"), Len: 14},
		},
		Probe: []string{"together", `with "quotes"`, ""},
	}
	out, err := report.ParseRepro(in.String())
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(in.Ops, out.Ops))
	assert.Equal(t, in.Probe, out.Probe)
	assert.Equal(t, in.Name(), out.Name())
}

func TestReproSaysWhatIsWrongWithAProbe(t *testing.T) {
	for text, want := range map[string]string{
		"probe":                          "want quoted strings",
		`probe "a`:                       "want quoted strings",
		"probe \"a\"\nprobe \"b\"":       "want it once",
		`op {"unplug":"trace"`:           "op lines",
		"op {}\nprobe \"together\" \"\"": "op lines",
	} {
		_, err := report.ParseRepro("unplug repro v1\nsubject s\nexpect UP201\n" + text + "\n")
		require.ErrorContains(t, err, want, text)
	}
}

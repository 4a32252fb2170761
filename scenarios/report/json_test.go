package report_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/scenarios/report"
)

func asJSON(t *testing.T, r *report.Report) (line string, members map[string]any) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.WriteJSON(&b))
	require.NoError(t, json.Unmarshal(b.Bytes(), &members))
	return b.String(), members
}

func TestJSONHasThePromisedMembers(t *testing.T) {
	line, got := asJSON(t, failing())
	assert.Equal(t, 1, bytes.Count([]byte(line), []byte("\n")), "one object on one line")
	assert.Equal(t, "unplug.torture/v1", got["schema"])
	for _, name := range []string{"subject", "contract", "models", "seed", "states", "unique", "violations", "coverage", "elapsed_seconds", "states_per_second"} {
		assert.Contains(t, got, name)
	}
	model := got["models"].([]any)[1].(map[string]any)
	for _, name := range []string{"model", "tear", "states", "unique", "exhaustive", "tails", "refused", "violations"} {
		assert.Contains(t, model, name)
	}
	assert.InDelta(t, 984, model["violations"], 0, "violations inside a model is a count")
	finding := got["violations"].([]any)[0].(map[string]any)
	for _, name := range []string{"id", "model", "story", "want", "got", "repro"} {
		assert.Contains(t, finding, name)
	}
}

func TestJSONListsAreNeverNull(t *testing.T) {
	r := &report.Report{Violations: []report.Finding{{ID: "UP201"}}, Vacuity: []report.Finding{{ID: "UP401"}}}
	line, _ := asJSON(t, r)
	assert.NotContains(t, line, "null")
	assert.Nil(t, r.Violations[0].Want, "the report itself is left alone")
	line, _ = asJSON(t, &report.Report{})
	assert.Contains(t, line, `"violations":[]`)
	assert.Contains(t, line, `"schema":"unplug.torture/v1"`)
	assert.NotContains(t, line, "null")
}

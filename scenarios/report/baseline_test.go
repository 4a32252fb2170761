package report_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/scenarios/report"
)

func knownFindings() []report.Finding {
	return []report.Finding{
		{ID: "UP205", Model: "prefix", Story: "append #7 called · CUT (prefix: 12 of 40 bytes)"},
		{ID: "UP201", Model: "synced", Story: "append #1 acknowledged · CUT (synced)"},
	}
}

// What was accepted does not fail a run; what is new does; what is gone is told.
func TestBaselineLetsOnlyNewFindingsFail(t *testing.T) {
	b := report.NewBaseline(&report.Report{Violations: knownFindings()})
	again, err := report.ParseBaseline(b.String())
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(b, again))

	rep := &report.Report{Violations: append(knownFindings()[:1],
		report.Finding{ID: "UP205", Model: "prefix", Story: "another story"},
		report.Finding{ID: "UP205", Model: "own-page", Story: knownFindings()[0].Story},
	)}
	again.Apply(rep)
	require.Len(t, rep.Accepted, 1)
	require.Len(t, rep.Violations, 2, "another story, and the same under another model, are new")
	require.True(t, rep.Failed())
	require.Len(t, rep.Stale, 1)
	assert.Equal(t, "UP201", rep.Stale[0].Rule)

	all := report.NewBaseline(rep)
	assert.Len(t, all.Entries, 3, "what was accepted before stays accepted")
}

// A record that grew by a byte makes no new finding.
func TestBaselineOverlooksNumbers(t *testing.T) {
	a, b := knownFindings()[0], knownFindings()[0]
	b.Story = "append #8 called · CUT (prefix: 13 of 41 bytes)"
	assert.Equal(t, a.Hash(), b.Hash())
	b.Story = "append #8 failed · CUT (prefix: 13 of 41 bytes)"
	assert.NotEqual(t, a.Hash(), b.Hash())
}

func TestBaselineSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       `line 1: not such a file: want "unplug baseline v1"`,
		"unplug repro v1":                        "line 1: not such a file",
		"unplug baseline v2":                     "upgrade unplug",
		"unplug baseline v1\nUP999 0123":         `line 2: "UP999": no such rule`,
		"unplug baseline v1\n\nUP201":            "line 3: want a rule and a hash of 12 digits",
		"unplug baseline v1\nUP201 0123456789ag": "not hexadecimal",
	} {
		_, err := report.ParseBaseline(text)
		require.ErrorContains(t, err, want, text)
	}
}

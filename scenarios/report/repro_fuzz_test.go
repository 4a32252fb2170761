package report_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/scenarios/report"
)

// Whatever bytes a repro file holds: it is refused with a line number, or it means the same
// after it was printed and read again.
func FuzzParseRepro(f *testing.F) {
	f.Add("unplug repro v1\n# why\nsubject lines\nbug lost-fsync\ncontract lines\nexpect UP201\n" +
		"plan \"on sync * 1 -> eio\"\nappend \"{}\"\nsync\ncut model=ext4-ooo tear=512 at=14 inside choice=\"n0 s1 u0.1\"\n")
	f.Add("unplug repro v1\nsubject lines\nexpect UP203\ncompact \"a\" \"b\" \"c\" replaces \"d\"\ndamage \"nul 120 8\" \"/journal/log.jsonl\"\n")
	f.Add("unplug repro v2\n")
	f.Fuzz(func(t *testing.T, text string) {
		first, err := report.ParseRepro(text)
		if err != nil {
			var at *report.LineError
			require.ErrorAs(t, err, &at)
			assert.Positive(t, at.Line)
			return
		}
		again, err := report.ParseRepro(first.String())
		require.NoError(t, err, "what was printed does not parse:\n%s", first)
		assert.Equal(t, first.String(), again.String())
	})
}

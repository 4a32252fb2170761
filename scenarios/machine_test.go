package scenarios_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/scenarios"
	"github.com/unplug-go/unplug/scenarios/broken"
	"github.com/unplug-go/unplug/scenarios/catalog"
)

// The reference journal under both contracts, and the small line journal, pass whatever a
// machine does with them.
func TestMachine(t *testing.T) {
	for _, name := range []string{"reference", "reference-watermark", "lines"} {
		t.Run(name, func(t *testing.T) {
			e, err := catalog.Find(name, "")
			require.NoError(t, err)
			rapid.Check(t, scenarios.Machine(e.Subject, scenarios.With(e.Contract)))
		})
	}
}

func FuzzMachine(f *testing.F) {
	e, err := catalog.Find("reference-watermark", "")
	require.NoError(f, err)
	scenarios.Fuzz(f, e.Subject, scenarios.With(e.Contract))
}

// TestMachineHelper is not a test of its own: TestMachineFails starts it.
func TestMachineHelper(t *testing.T) {
	bug, ok := os.LookupEnv(helperEnv)
	if !ok {
		return
	}
	t.Chdir(os.Getenv("UNPLUG_TEST_DIR"))
	rapid.Check(t, scenarios.Machine(broken.Subject(bug), scenarios.With(scenarios.Lines())))
}

// A machine finds planted mistakes, and says how to rerun what it found.
func TestMachineFails(t *testing.T) {
	for bug, rule := range map[string]string{
		broken.LostFsync:    "UP206", // the shortest way to see it: append x0 behind a crash of nothing
		broken.NoDirSync:    "UP211",
		broken.GluedTail:    "UP206",
		broken.SkipsBadLine: "UP203",
	} {
		out, err := process(t, "^TestMachineHelper$", bug, t.TempDir())
		require.Error(t, err, bug)
		for _, want := range []string{rule, "story", "want (-) got (+)", "next", "-rapid.failfile"} {
			assert.Contains(t, out, want, bug)
		}
	}
}

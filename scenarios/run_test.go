package scenarios_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/scenarios"
	"github.com/unplug-go/unplug/scenarios/broken"
)

// helperEnv names the mistake that TestHelper runs with, in a process of its own: a suite
// that fails cannot be watched from inside.
const helperEnv = "UNPLUG_TEST_HELPER"

// TestHelper is not a test of its own: TestRunFails starts it.
func TestHelper(t *testing.T) {
	bug, ok := os.LookupEnv(helperEnv)
	if !ok {
		return
	}
	t.Chdir(os.Getenv("UNPLUG_TEST_DIR"))
	opts := []scenarios.Option{
		scenarios.With(scenarios.Lines()),
		scenarios.Seed(1, 10), scenarios.Budget(600), scenarios.Models("synced", "own-page"),
	}
	if path := os.Getenv("UNPLUG_TEST_BASELINE"); path != "" {
		opts = append(opts, scenarios.Baseline(path))
	}
	scenarios.Run(t, broken.Subject(bug), opts...)
}

// helper runs the suite on a mistake in a process of its own, in dir.
func helper(t *testing.T, bug, dir string) (string, error) {
	t.Helper()
	return process(t, "^TestHelper$", bug, dir)
}

// process runs one test of this package in a process of its own, on a mistake, in dir.
func process(t *testing.T, test, bug, dir string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+test, "-test.v")
	cmd.Env = append(os.Environ(), helperEnv+"="+bug, "UNPLUG_TEST_DIR="+dir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestRunPasses(t *testing.T) {
	out, err := helper(t, "", t.TempDir())
	require.NoError(t, err, out)
	assert.Contains(t, out, "--- PASS: TestHelper/synced")
	assert.Contains(t, out, "--- SKIP: TestHelper/batch", "a missing ability is skipped by name")
	assert.Contains(t, out, "--- PASS: TestHelper/compaction")
	assert.Contains(t, out, "states")
}

// A finding fails the test with its story, is saved, and is rerun first the next time.
func TestRunFails(t *testing.T) {
	dir := t.TempDir()
	out, err := helper(t, broken.LostFsync, dir)
	require.Error(t, err, out)
	for _, want := range []string{"UP201", "story", "want (-) got (+)", "repro", "rerun   go test -run", "next    Sync the file"} {
		assert.Contains(t, out, want)
	}
	files, err := filepath.Glob(filepath.Join(dir, "testdata", "unplug", "TestHelper", "up201-*.unplug"))
	require.NoError(t, err)
	require.NotEmpty(t, files)

	out, err = helper(t, broken.LostFsync, dir)
	require.Error(t, err)
	assert.Contains(t, out, "--- FAIL: TestHelper/repro/"+filepath.Base(files[0]))

	out, err = helper(t, "", dir)
	require.NoError(t, err, out)
	assert.Contains(t, out, "passes now: keep it as a regression test")
}

func TestExplain(t *testing.T) {
	out := scenarios.Explain(broken.Subject(""), scenarios.With(scenarios.Lines()))
	for _, want := range []string{"open called", "create journal/log.jsonl", "sync folder journal", "append 0 called", "write journal/log.jsonl 0..", "sync journal/log.jsonl", "append 1 acked"} {
		assert.Contains(t, out, want)
	}
}

// Findings of a baseline do not fail a test; without them they do.
func TestRunWithABaseline(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("UNPLUG_TEST_BASELINE", "known.baseline")
	out, err := helper(t, broken.LostFsync, dir)
	require.Error(t, err, "a baseline that is not there is said")
	assert.Contains(t, out, "write it with UNPLUG_WRITE_BASELINE=1")

	t.Setenv("UNPLUG_WRITE_BASELINE", "1")
	out, err = helper(t, broken.LostFsync, dir)
	require.NoError(t, err, out)
	assert.Contains(t, out, "accepted findings now")
	t.Setenv("UNPLUG_WRITE_BASELINE", "")

	out, err = helper(t, broken.LostFsync, dir)
	require.NoError(t, err, out)
	assert.Contains(t, out, "accepted: UP201")
	assert.NotContains(t, out, "stale:")

	out, err = helper(t, broken.NoDirSync, dir)
	require.Error(t, err)
	assert.Contains(t, out, "UP211")
	assert.Contains(t, out, "stale: UP201")
}

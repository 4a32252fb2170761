package unplug_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pluginModule copies testdata/plugin, a module by somebody else, so that what its tests save
// stays out of the source tree, and gives the folder.
func pluginModule(t *testing.T) string {
	t.Helper()
	here, err := filepath.Abs(".")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(here, "testdata", "plugin"))))
	out, err := inModule(t, dir, "mod", "edit", "-replace", "github.com/unplug-go/unplug="+here)
	require.NoError(t, err, out)
	return dir
}

func inModule(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A module that uses nothing but the public packages runs the suite on its own journals: the
// honest one passes, the wrong one fails with the rules that it breaks.
func TestPluginModule(t *testing.T) {
	dir := pluginModule(t)
	out, err := inModule(t, dir, "mod", "tidy", "-diff")
	require.NoError(t, err, out)
	out, err = inModule(t, dir, "vet", "./...")
	require.NoError(t, err, out)

	out, err = inModule(t, dir, "test", "-short", "-v", "./notebook")
	require.NoError(t, err, out)
	for _, want := range []string{
		"--- PASS: TestUnplug/posix-worst", "--- PASS: TestUnplug/damage", "--- PASS: TestMachine", "--- PASS: FuzzMachine", "--- PASS: TestNoSyncIsBlind",
		"--- SKIP: TestUnplug/together", "Subject.Concurrent", "--- SKIP: TestUnplug/compaction",
	} {
		assert.Contains(t, out, want)
	}

	out, err = inModule(t, dir, "test", "-short", "-v", "./shoebox")
	require.Error(t, err, out)
	for _, want := range []string{"UP201", "UP211", "story", "shrunk", "rerun   go test -run"} {
		assert.Contains(t, out, want)
	}
	saved, err := filepath.Glob(filepath.Join(dir, "shoebox", "testdata", "unplug", "TestUnplug", "*.unplug"))
	require.NoError(t, err)
	require.NotEmpty(t, saved)

	out, err = inModule(t, dir, "test", "-short", "-v", "-run", "^TestUnplug$/^repro$", "./shoebox")
	require.Error(t, err, "what was saved fails again: %s", out)
	assert.Contains(t, out, "--- FAIL: TestUnplug/repro/"+filepath.Base(saved[0]))
}

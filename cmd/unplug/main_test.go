package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/journal"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"unplug": main})
}

// TestScripts runs the scripts of testdata/script: every subcommand, class of flag, bad
// input and exit code.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"code": code, "bytes": writeBytes, "journal": writeJournal},
		Setup: func(env *testscript.Env) error {
			env.Setenv("TERM", "xterm")
			return nil
		},
	})
}

// code runs a program and holds its exit code: code 2 unplug torture.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program args…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// writeBytes writes a Go string literal to a file: bytes name "\x00…".
func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: bytes file literal")
	}
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(args[1], `"`, `\"`) + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// writeJournal writes a journal of n messages: journal file n [segment lines].
func writeJournal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: journal file n [lines]")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	opt := journal.Options{Create: true, Now: func() time.Time { return time.Unix(1_780_000_000, 0) }}
	if len(args) > 2 {
		opt.SegmentLines, err = strconv.Atoi(args[2])
		ts.Check(err)
	}
	j, err := journal.Open(afero.NewOsFs(), ts.MkAbs(args[0]), opt)
	ts.Check(err)
	for i := range n {
		ts.Check(j.Append(journal.Message("user", fmt.Sprintf("secret %d", i))))
	}
	ts.Check(j.Close())
}

// fake is a world without terminals, with a clock that tells the hundredth part of a second
// more each time it is looked at.
func fake() (h *host, stdout, stderr *bytes.Buffer) {
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	now := time.Unix(0, 0)
	return &host{
		stdin: strings.NewReader(""), stdout: stdout, stderr: stderr,
		getenv: func(string) string { return "" },
		now:    func() time.Time { now = now.Add(10 * time.Millisecond); return now },
		self:   "unplug",
	}, stdout, stderr
}

// Only appends at the same time (scene together) take another order in each run.
func TestWorkersDoNotChangeTheResult(t *testing.T) {
	for _, subject := range [][]string{
		{"lines", "--bug", "cut-not-synced"},
		{"reference", "--model", "all"},
		{"reference-watermark", "--cut", "torn,mid-compaction"},
	} {
		var first any
		for _, p := range []string{"1", "2"} {
			h, stdout, stderr := fake()
			args := append([]string{"torture", "--json", "--seed", "5", "--ops", "7", "--max-states", "15", "--damages", "3000", "-p", p, "--scene", "faults,handles,readers", "--progress", "none", "--out", t.TempDir()}, subject...)
			run(t.Context(), args, h)
			require.Empty(t, stderr.String())
			got := result(t, stdout.Bytes())
			if first == nil {
				first = got
				continue
			}
			assert.Empty(t, cmp.Diff(first, got), "%v with %s workers", subject, p)
		}
	}
}

// result is a report without what may differ between two runs.
func result(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var got map[string]any
	require.NoError(t, json.Unmarshal(text, &got))
	require.NotZero(t, got["states"])
	delete(got, "elapsed_seconds")
	delete(got, "states_per_second")
	for _, v := range got["violations"].([]any) {
		f := v.(map[string]any)
		f["repro"], f["rerun"] = "", "" // they are in another folder each time
	}
	return got
}

func TestSeedsChangeTheResult(t *testing.T) {
	var states []any
	for _, seed := range []string{"1", "2"} {
		h, stdout, _ := fake()
		run(t.Context(), []string{"torture", "lines", "--json", "--seed", seed, "--ops", "12", "--max-states", "60", "--scene", "none", "--damages", "100"}, h)
		states = append(states, result(t, stdout.Bytes())["unique"])
	}
	assert.NotEqual(t, states[0], states[1])
}

func TestDurationRunsNumberedRounds(t *testing.T) {
	h, stdout, _ := fake()
	got := run(t.Context(), []string{"torture", "lines", "--seed", "9", "--ops", "4", "--max-states", "20", "--levels", "0", "--scene", "none", "--damages", "100", "--duration", "40ms"}, h)
	require.Equal(t, exitClean, got, stdout.String())
	assert.Contains(t, stdout.String(), "4 rounds, seeds 9 to 12")
	assert.Contains(t, stdout.String(), "4 rounds from seed 9")
}

func TestAnInterruptedRunPrintsWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h, stdout, _ := fake()
	require.Equal(t, exitInterrupted, run(ctx, []string{"torture", "lines", "--ops", "8", "--json"}, h))
	assert.Contains(t, stdout.String(), "INTERRUPTED")
	h, stdout, _ = fake()
	require.Equal(t, exitInterrupted, run(ctx, []string{"torture", "lines", "--ops", "8"}, h))
	assert.Contains(t, stdout.String(), "INTERRUPTED")
	assert.NotContains(t, stdout.String(), "\nOK")
}

// panics is a writer with a mistake in it.
type panics struct{}

func (panics) Write([]byte) (int, error) { panic("a mistake") }

// full is a writer to a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestMistakesOfOurOwnAreInternal(t *testing.T) {
	h, _, stderr := fake()
	h.stdout = panics{}
	require.Equal(t, exitInternal, run(t.Context(), []string{"explain"}, h))
	assert.Contains(t, stderr.String(), "internal error: a mistake")
	for _, args := range []string{"explain UP201", "explain UP201 --json", "explain --json", "version", "version --json", "torture --list --json", "completion bash", "torture lines --ops 2 --max-states 5 --levels 0"} {
		h, _, stderr = fake()
		h.stdout = full{}
		require.Equal(t, exitInternal, run(t.Context(), strings.Fields(args), h), args)
		assert.Contains(t, stderr.String(), "no space left", args)
	}
}

func TestTheWorstCodeWins(t *testing.T) {
	order := []int{exitClean, exitTail, exitInconclusive, exitUsage, exitBroken, exitInternal, exitInterrupted}
	for i, a := range order {
		for j, b := range order {
			assert.Equal(t, order[max(i, j)], worse(a, b))
		}
	}
}

func TestTheBinaryHoldsNoTestCode(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	deps := strings.Fields(string(out))
	require.Contains(t, deps, "github.com/unplug-go/unplug/cmd/unplug")
	for _, dep := range deps {
		assert.NotEqual(t, "testing", dep)
		for _, module := range []string{"pgregory.net/rapid", "github.com/stretchr/testify", "github.com/google/go-cmp", "github.com/rogpeppe/go-internal"} {
			assert.False(t, strings.HasPrefix(dep, module), dep)
		}
	}
}

func TestWordsForShells(t *testing.T) {
	for word, want := range map[string]string{
		"unplug-out/up201-1a.unplug": "unplug-out/up201-1a.unplug",
		"my out/x":                   "'my out/x'",
		"it's":                       `'it'\''s'`,
		"":                           "''",
		"$HOME":                      "'$HOME'",
	} {
		assert.Equalf(t, want, quoteArg(word), "%q", word)
	}
}

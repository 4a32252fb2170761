package scenarios

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
)

// margin is how long before the test's deadline a run stops, so that what it found is
// still printed.
const margin = 5 * time.Second

// check explores one configuration and fails t for every finding.
func check(t *testing.T, s *settings, cfg explore.Config) {
	t.Helper()
	ctx, cancel := untilDeadline(t)
	defer cancel()
	rep, err := explore.Run(ctx, cfg)
	switch {
	case errors.Is(err, explore.ErrInterrupted):
		t.Errorf("the test's deadline came first: %d states judged; give it more time or a smaller Budget", rep.States)
	case err != nil:
		t.Fatalf("unplug could not work (this is not a finding about the journal): %v", err)
	}
	if err == nil && slices.ContainsFunc(rep.Violations, func(f report.Finding) bool { return s.skip[f.ID] == "" }) {
		explore.ShrinkReport(ctx, cfg, rep, shrinkBudget())
	}
	if s.baseline != nil && rep != nil {
		s.baseline.apply(t, rep)
	}
	for i := range rep.Violations {
		finding(t, s, &rep.Violations[i])
	}
	for _, v := range rep.Vacuity {
		t.Errorf("%s %s: %s\n  next    %s", v.ID, v.Name, v.Text, next(v.ID))
	}
	for _, d := range rep.Coverage.Scenes {
		switch {
		case d.Tried > 0:
			t.Logf("%d %s tried, %d bad; %s (seed %d)", d.Tried, d.Of, d.Bad, d.Note, rep.Seed)
		case cfg.NoCrash && len(cfg.Scenes) == 1 && cfg.Scenes[0] == d.Name && d.Skipped != "":
			t.Skip(d.Skipped)
		}
	}
	logDamage(t, rep)
	if cfg.NoCrash {
		return
	}
	for _, m := range rep.Models {
		t.Logf("%s tear %d: %d of %s states, %d unique, %d with a tail, %d refused, %d violations (seed %d)",
			m.Model, m.Tear, m.States, m.Of, m.Unique, m.Tails, m.Refused, m.Violations, rep.Seed)
		if m.Refused > 0 {
			t.Logf("REFUSED: %d legal crash states of model %s do not open; contract %s accepts that", m.Refused, m.Model, rep.Contract)
		}
	}
}

// logDamage says what became of damaged logs.
func logDamage(t *testing.T, rep *report.Report) {
	t.Helper()
	d := rep.Coverage.Damage
	for _, l := range d.Logs {
		t.Logf("%s log of %d bytes: %d of %d damages (seed %d)", l.Log, l.Bytes, l.Tried, l.Of, rep.Seed)
	}
	for _, k := range d.Kinds {
		t.Logf("damage %s", k.String())
	}
}

// shrinkBudget is how many states the shrinking of one finding may judge.
func shrinkBudget() int {
	if testing.Short() {
		return explore.DefaultShrink / 10
	}
	return explore.DefaultShrink
}

// untilDeadline ends a little before the test's own deadline.
func untilDeadline(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	if deadline, ok := t.Deadline(); ok {
		return context.WithDeadline(t.Context(), deadline.Add(-margin))
	}
	return context.WithCancel(t.Context())
}

// finding fails t with one finding, its story and the line that reruns it.
func finding(t *testing.T, s *settings, f *report.Finding) {
	t.Helper()
	if reason, ok := s.skip[f.ID]; ok {
		t.Logf("accepted: %s %s in %d states (%s)", f.ID, f.Name, f.Times, reason)
		return
	}
	where := save(t, f)
	var more strings.Builder
	for _, line := range [][2]string{{"shrunk", f.Shrunk}, {"blame", f.Blame}} {
		if line[1] != "" {
			fmt.Fprintf(&more, "  %-7s %s\n", line[0], line[1])
		}
	}
	t.Errorf("%s %s: %s\n  story   %s\n  times   %d\n  want (-) got (+)\n%s%s  next    %s%s",
		f.ID, f.Name, f.Text, f.Story, f.Times, indent(cmp.Diff(f.Want, f.Got)), more.String(), next(f.ID), where)
}

func next(id string) string {
	rule, _ := oracle.FindRule(id)
	return rule.Next
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n    ") + "\n"
}

// save writes the finding's repro file, which the next run of the test reruns first.
func save(t *testing.T, f *report.Finding) string {
	t.Helper()
	if f.File == nil {
		return ""
	}
	top, _, _ := strings.Cut(t.Name(), "/")
	dir := filepath.Join("testdata", "unplug", sanitize(top))
	path := filepath.Join(dir, f.File.Name())
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "\n  (not saved: " + err.Error() + ")"
	}
	if err := os.WriteFile(path, []byte(f.File.String()), 0o600); err != nil {
		return "\n  (not saved: " + err.Error() + ")"
	}
	return "\n  repro   " + path + "\n  rerun   go test -run '^" + top + "$/^repro$/^" + f.File.Name() + "$'"
}

// rerunSaved replays the repro files of earlier failures before anything new is looked for.
func rerunSaved(t *testing.T, s *settings) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "unplug", sanitize(t.Name()), "*.unplug"))
	if err != nil || len(files) == 0 {
		return
	}
	t.Run("repro", func(t *testing.T) {
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) { replay(t, s, file) })
		}
	})
}

func replay(t *testing.T, s *settings, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := report.ParseRepro(string(text))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	res, err := explore.Replay(s.cfg.Subject, s.cfg.Contract, p)
	if err != nil {
		t.Logf("%s no longer fits the journal (%v); delete it if that is meant", file, err)
		return
	}
	if res.Expected == nil && len(res.Violations) > 0 {
		v := res.Violations[0]
		t.Errorf("%s no longer breaks %s, but %s: %s\n  story   %s\n  want (-) got (+)\n%s", file, p.Expect, v.Rule, v.Text, res.Story, indent(cmp.Diff(v.Want, v.Got)))
		return
	}
	if res.Expected == nil {
		t.Logf("%s passes now: keep it as a regression test", file)
		return
	}
	f := res.Expected
	t.Errorf("%s %s: %s\n  story   %s\n  want (-) got (+)\n%s  next    %s", f.ID, f.Name, f.Text, f.Story, indent(cmp.Diff(f.Want, f.Got)), next(f.ID))
}

package scenarios

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/unplug-go/unplug/scenarios/report"
)

// baselineEnv makes [Run] write the baseline file instead of failing: UNPLUG_WRITE_BASELINE=1.
const baselineEnv = "UNPLUG_WRITE_BASELINE"

// Baseline accepts the findings that a file lists, for a journal with known weaknesses: only
// others fail the test, and what the file lists and no model found again is logged as stale.
// Run the test once with UNPLUG_WRITE_BASELINE=1 to write the file.
func Baseline(path string) Option {
	return func(s *settings) {
		s.cfg.Wordings = true
		s.baseline = &baseline{path: path}
	}
}

// baseline is the file and what became of its entries over the models.
type baseline struct {
	path  string
	known report.Baseline
	found map[report.BaselineEntry]bool // entries that some model found again
	fresh report.Report                 // all that was found, to be written
	write bool
}

// read reads the file; that it is not there is an error only if it is not about to be written.
func (b *baseline) read(t *testing.T) {
	t.Helper()
	b.found = map[report.BaselineEntry]bool{}
	b.write = os.Getenv(baselineEnv) != ""
	text, err := os.ReadFile(b.path)
	if b.write && errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		t.Fatalf("baseline: %v (write it with %s=1)", err, baselineEnv)
	}
	known, err := report.ParseBaseline(string(text))
	if err != nil {
		t.Fatalf("baseline %s: %v", b.path, err)
	}
	b.known = *known
}

// apply sets the accepted findings of one report apart.
func (b *baseline) apply(t *testing.T, rep *report.Report) {
	t.Helper()
	b.known.Apply(rep)
	stale := map[report.BaselineEntry]bool{}
	for _, e := range rep.Stale {
		stale[e] = true
	}
	for _, e := range b.known.Entries {
		b.found[e] = b.found[e] || !stale[e]
	}
	for i := range rep.Accepted {
		f := &rep.Accepted[i]
		t.Logf("accepted: %s %s in %d states (%s)", f.ID, f.Hash(), f.Times, b.path)
	}
	if b.write {
		b.fresh.Violations = append(b.fresh.Violations, rep.Violations...)
		b.fresh.Accepted = append(b.fresh.Accepted, rep.Accepted...)
		rep.Violations = nil
	}
}

// close tells what is stale, or writes the file anew.
func (b *baseline) close(t *testing.T) {
	t.Helper()
	if b.write {
		fresh := report.NewBaseline(&b.fresh)
		if err := os.WriteFile(b.path, []byte(fresh.String()), 0o600); err != nil {
			t.Fatalf("baseline: %v", err)
		}
		t.Logf("%s holds %d accepted findings now", b.path, len(fresh.Entries))
		return
	}
	for _, e := range b.known.Entries {
		if !b.found[e] {
			t.Logf("stale: %s %s was not found again; take it out of %s (%s)", e.Rule, e.Hash, b.path, e.Comment)
		}
	}
}

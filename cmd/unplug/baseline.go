package main

import (
	"fmt"

	"github.com/unplug-go/unplug/scenarios/report"
)

// readBaseline reads the findings that are accepted; without one none is.
func (a *app) readBaseline(t *tortureFlags) (*report.Baseline, error) {
	if t.baseline == "" {
		return &report.Baseline{}, nil
	}
	text, err := a.readText("baseline", t.baseline)
	if err != nil {
		return nil, fmt.Errorf("%w (make one with --write-baseline)", err)
	}
	b, err := report.ParseBaseline(text)
	if err != nil {
		return nil, fmt.Errorf("baseline %s: %w", t.baseline, err)
	}
	return b, nil
}

// applyBaseline sets the accepted findings apart, and writes a new baseline if that was asked
// for: then everything that was found is accepted.
func (a *app) applyBaseline(known *report.Baseline, rep *report.Report, t *tortureFlags) error {
	known.Apply(rep)
	if t.newBaseline == "" {
		return nil
	}
	fresh := report.NewBaseline(rep)
	if err := write(t.newBaseline, fresh.String()); err != nil {
		return internal(fmt.Errorf("--write-baseline: %w", err))
	}
	rep.Notes = append(rep.Notes, fmt.Sprintf("%s holds %d accepted findings now", t.newBaseline, len(fresh.Entries)))
	rep.Stale = nil
	fresh.Apply(rep)
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/report"
)

// runWeaken drops one sync of the subject at a time and prints which of them the suite misses.
func (a *app) runWeaken(ctx context.Context, subject string, t *tortureFlags) error {
	cfg, err := a.config(subject, t)
	if err != nil {
		return err
	}
	start := a.now()
	p := a.newProgress(fmt.Sprintf("weaken %s · contract %s · seed %d", subject, cfg.Contract.Name, t.seed), start, 0)
	cfg.Progress = p.update
	var w *report.Weakening
	_, err = p.during(func() (*report.Report, error) {
		var err error
		w, err = explore.Weaken(ctx, cfg)
		return nil, err
	})
	interrupted := errors.Is(err, explore.ErrInterrupted)
	switch {
	case errors.Is(err, explore.ErrBroken):
		return &exitError{exitBroken, err}
	case err != nil && !interrupted || w == nil:
		return internal(fmt.Errorf("the harness could not work (this says nothing about the journal): %w", err))
	}
	w.Interrupted, w.Elapsed = interrupted, a.now().Sub(start).Seconds()
	if t.json {
		err = w.WriteJSON(a.stdout)
	} else {
		err = w.WriteText(a.stdout, a.text())
	}
	switch {
	case err != nil:
		return internal(fmt.Errorf("printing the report: %w", err))
	case interrupted:
		return done(exitInterrupted)
	case w.Count(report.Blind) > 0:
		return done(exitBroken)
	case len(w.Syncs) == 0:
		return done(exitInconclusive)
	}
	return nil
}

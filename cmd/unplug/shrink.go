package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/unplug-go/unplug/scenarios/catalog"
	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/report"
)

// shrinkFlags are the flags of shrink.
type shrinkFlags struct {
	out    string
	budget int
	json   bool
}

func (a *app) shrink() *cobra.Command {
	var f shrinkFlags
	cmd := &cobra.Command{
		Use:   "shrink FILE…",
		Short: "Make saved findings as small as they can be",
		Long: `shrink takes a saved finding (an .unplug file) and looks for the smallest one that breaks the
same rule in the same way: fewer steps, fewer and shorter records, fewer faults, fewer crashes,
an earlier cut, a simpler crash state. The result is written beside the file, under the name of
its content. torture shrinks the first finding of each rule by itself; this is for the others,
and for files of an older run.

It says "removing any one passes" only if every finding with one step, record, fault or crash
less was looked through and passes. Interrupted (Ctrl-C), it writes the smallest so far.

It exits 0 when the file was shrunk or is as small as it can be, and 4 when the finding does not
fit the subject any more or the promise is kept now.`,
		Example: `  unplug shrink unplug-out/up201-1a2b3c4d.unplug
  unplug shrink unplug-out/up202-5e6f7a8b.unplug -o testdata/forged-line.unplug
  unplug shrink --budget 200000 unplug-out/*.unplug`,
		Args: func(_ *cobra.Command, args []string) error { return f.check(args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			code := exitClean
			for _, name := range args {
				code = worse(code, a.say(a.shrinkFile(cmd.Context(), name, &f)))
			}
			return done(code)
		},
	}
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "write the result to this file")
	cmd.Flags().IntVar(&f.budget, "budget", explore.DefaultShrink, "crash states that may be judged for one file")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object a file")
	return cmd
}

// check holds what the arguments may be.
func (f *shrinkFlags) check(args []string) error {
	switch {
	case len(args) == 0:
		return errors.New("shrink: no file: want at least one .unplug file that torture saved")
	case len(args) > 1 && f.out != "":
		return fmt.Errorf("shrink: --out takes one file, got %d", len(args))
	case f.budget < 1:
		return fmt.Errorf("--budget %d: want 1 or more", f.budget)
	}
	return nil
}

// say prints an error that ends the work on one file, and gives its exit code.
func (a *app) say(err error) int {
	var e *exitError
	if err != nil && (!errors.As(err, &e) || e.cause != nil) {
		fmt.Fprintf(a.stderr, "unplug: %s\n", oneLine(err.Error()))
	}
	return codeOf(err)
}

// shrunkFile is what shrink --json prints.
type shrunkFile struct {
	Schema  string          `json:"schema"`
	File    string          `json:"file"`
	Out     string          `json:"out"` // the file that was written; the same as File if it is as small as it can be
	Subject string          `json:"subject"`
	From    int             `json:"from"`    // steps before
	To      int             `json:"to"`      // steps after
	Judged  int             `json:"judged"`  // crash states that were judged
	Minimal bool            `json:"minimal"` // removing any one step, record, fault or crash passes
	Stopped bool            `json:"stopped"` // the budget or a signal ended it
	Finding *report.Finding `json:"finding"`
}

// shrinkFile shrinks one file.
func (a *app) shrinkFile(ctx context.Context, name string, f *shrinkFlags) error {
	if ctx.Err() != nil {
		return done(exitInterrupted)
	}
	p, entry, err := a.repro(name)
	if err != nil {
		return err
	}
	bar := a.newProgress("shrink "+name, a.now(), 0)
	var small *report.Repro
	var info explore.Shrunk
	_, err = bar.during(func() (*report.Report, error) {
		var err error
		small, info, err = explore.Shrink(ctx, entry.Subject, entry.Contract, p, explore.ShrinkOptions{
			Budget: f.budget, Workers: 2,
			Progress: func(s explore.Shrunk) {
				bar.update(explore.Progress{Shrinking: p.Expect, States: s.Judged, Steps: s.To})
			},
		})
		return nil, err
	})
	switch {
	case errors.Is(err, explore.ErrPasses):
		return &exitError{exitInconclusive, fmt.Errorf("repro %s: %s: %w", name, p.Expect, err)}
	case err != nil:
		return &exitError{exitInconclusive, fmt.Errorf("repro %s no longer fits %s: %w", name, p.Subject, err)}
	}
	if err := a.writeShrunk(name, f, p, small, info, entry); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return done(exitInterrupted)
	}
	return nil
}

// shrunkPath is where the result goes: nowhere new if nothing could go.
func shrunkPath(name, out string, p, small *report.Repro) string {
	switch {
	case out != "":
		return out
	case small.Name() == p.Name() && name != "-":
		return name
	case name == "-":
		return small.Name()
	default:
		return filepath.Join(filepath.Dir(name), small.Name())
	}
}

// writeShrunk writes the result and says what it is.
func (a *app) writeShrunk(name string, f *shrinkFlags, p, small *report.Repro, info explore.Shrunk, entry catalog.Entry) error {
	path := shrunkPath(name, f.out, p, small)
	if path != name {
		if err := write(path, small.String()); err != nil {
			return fmt.Errorf("shrink: writing %s: %w", path, plain(err))
		}
	}
	now, err := explore.Replay(entry.Subject, entry.Contract, small)
	if err != nil || now.Expected == nil {
		return internal(fmt.Errorf("the shrunk finding in %s does not fail when it is run again: %w", path, err))
	}
	finding := now.Expected
	finding.Repro, finding.Rerun, finding.Shrunk = path, a.self+" replay "+quoteArg(path), info.String()
	if f.json {
		enc := json.NewEncoder(a.stdout)
		enc.SetEscapeHTML(false)
		return internal(enc.Encode(shrunkFile{
			Schema: "unplug.shrink/v1", File: name, Out: path, Subject: p.Subject, From: info.From, To: info.To,
			Judged: info.Judged, Minimal: info.Minimal, Stopped: info.Stopped, Finding: finding,
		}))
	}
	return internal(finding.WriteText(a.stdout, a.text()))
}

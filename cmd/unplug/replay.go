package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/catalog"
	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
)

func (a *app) replay() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "replay FILE…",
		Short: "Rerun findings that were saved",
		Long: `replay performs the steps and the crashes of a saved finding (an .unplug file) and judges again
what comes back. It exits 1 when the promise is broken again, 0 when it is kept now, and 4 when
the file does not fit the subject any more.`,
		Example: `  unplug replay unplug-out/up201-1a2b3c4d.unplug
  unplug replay unplug-out/*.unplug`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("replay: no file: want at least one .unplug file that torture saved")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			code := exitClean
			for _, name := range args {
				code = worse(code, a.replayFile(cmd.Context(), name, asJSON))
			}
			return done(code)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a file")
	return cmd
}

// replayedFile is what replay --json prints.
type replayedFile struct {
	Schema     string             `json:"schema"`
	File       string             `json:"file"`
	Subject    string             `json:"subject"`
	Expect     string             `json:"expect"`
	Again      bool               `json:"again"` // the expected rule was broken again
	Finding    *report.Finding    `json:"finding"`
	Violations []oracle.Violation `json:"violations"` // all that the last state breaks
}

// replayFile reruns one file and gives its exit code.
func (a *app) replayFile(ctx context.Context, name string, asJSON bool) int {
	return a.say(a.tryReplay(ctx, name, asJSON))
}

func (a *app) tryReplay(ctx context.Context, name string, asJSON bool) error {
	if ctx.Err() != nil {
		return done(exitInterrupted)
	}
	p, entry, err := a.repro(name)
	if err != nil {
		return err
	}
	res, err := explore.Replay(entry.Subject, entry.Contract, p)
	if err != nil {
		return &exitError{exitInconclusive, fmt.Errorf("repro %s no longer fits %s: %w", name, p.Subject, err)}
	}
	if f := res.Expected; f != nil {
		f.Repro, f.Rerun = name, a.self+" replay "+quoteArg(name)
	}
	if asJSON {
		err = a.replayJSON(name, p, res)
	} else {
		err = a.replayText(name, p, res)
	}
	if err != nil {
		return internal(err)
	}
	if len(res.Violations) > 0 {
		return done(exitBroken)
	}
	return nil
}

// repro reads a saved finding and the subject that it is about, with the contract of the file.
func (a *app) repro(name string) (*report.Repro, catalog.Entry, error) {
	var entry catalog.Entry
	text, err := a.readText("repro", name)
	if err != nil {
		return nil, entry, err
	}
	p, err := report.ParseRepro(text)
	if err == nil {
		entry, err = catalog.Find(p.Subject, p.Bug)
	}
	if err == nil && p.Contract != "" {
		entry.Contract, err = oracle.ParseContract(p.Contract)
	}
	if err != nil {
		return nil, entry, fmt.Errorf("repro %s: %w", name, err)
	}
	for _, c := range p.Cuts {
		if _, err := crash.ParseModel(c.Model); err != nil {
			return nil, entry, fmt.Errorf("repro %s: %w", name, err)
		}
	}
	return p, entry, nil
}

func (a *app) replayJSON(name string, p *report.Repro, res *explore.Replayed) error {
	out := replayedFile{
		Schema: "unplug.replay/v1", File: name, Subject: p.Subject, Expect: p.Expect,
		Again: res.Expected != nil, Finding: res.Expected, Violations: res.Violations,
	}
	if out.Violations == nil {
		out.Violations = []oracle.Violation{}
	}
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

func (a *app) replayText(name string, p *report.Repro, res *explore.Replayed) error {
	switch {
	case res.Expected != nil:
		return res.Expected.WriteText(a.stdout, a.text())
	case len(res.Violations) == 0:
		_, err := fmt.Fprintf(a.stdout, "OK    %s: %s no longer happens; keep the file as a regression test.\n", name, p.Expect)
		return err
	}
	var rules []string
	for _, v := range res.Violations {
		rules = append(rules, v.Rule+" ("+v.Text+")")
	}
	_, err := fmt.Fprintf(a.stdout, "FAIL  %s: %s no longer happens, but the same state breaks %s.\n", name, p.Expect, strings.Join(rules, " and "))
	return err
}

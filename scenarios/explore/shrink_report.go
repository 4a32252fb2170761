package explore

import (
	"context"
	"errors"
	"fmt"

	"github.com/unplug-go/unplug/scenarios/report"
)

// ShrinkReport shrinks the first finding of each rule of a report, in place: its workload, text,
// story and file become those of the smaller finding, and Shrunk says what is left. cfg is what
// gave the report; its Progress is told what is being shrunk. budget is for each finding; 0 is
// [DefaultShrink]. What cannot be shrunk stays as it is, with a note in the report.
func ShrinkReport(ctx context.Context, cfg Config, rep *report.Report, budget int) {
	done := map[string]bool{}
	for i := range rep.Violations {
		f := &rep.Violations[i]
		if done[f.ID] || f.File == nil || ctx.Err() != nil {
			continue
		}
		done[f.ID] = true
		if err := shrinkFinding(ctx, cfg, f, budget); err != nil {
			rep.Notes = append(rep.Notes, fmt.Sprintf("could not shrink %s: %v", f.ID, err))
		}
	}
}

// shrinkFinding shrinks one finding in place.
func shrinkFinding(ctx context.Context, cfg Config, f *report.Finding, budget int) error {
	o := ShrinkOptions{Budget: budget, Workers: cfg.Workers, Progress: func(s Shrunk) {
		if cfg.Progress != nil {
			cfg.Progress(Progress{Shrinking: f.ID, States: s.Judged, Steps: s.To})
		}
	}}
	o.Progress(Shrunk{To: len(f.File.Program)})
	small, info, err := Shrink(ctx, cfg.Subject, cfg.Contract, f.File, o)
	if err != nil {
		return err
	}
	now, err := Replay(cfg.Subject, cfg.Contract, small)
	switch {
	case err != nil:
		return err
	case now.Expected == nil:
		return errors.New("the smaller finding does not fail when it is run again")
	}
	f.Text, f.Story, f.Want, f.Got = now.Expected.Text, now.Expected.Story, now.Expected.Want, now.Expected.Got
	f.File, f.Shrunk = small, info.String()
	if f.Blame, err = Blame(ctx, cfg.Subject, cfg.Contract, small, budget); err != nil {
		return err
	}
	if f.Blame != "" {
		small.Comment = append(small.Comment, "blame: "+f.Blame)
	}
	return nil
}

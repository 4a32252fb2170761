package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/catalog"
	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
)

// tortureFlags are the flags of torture.
type tortureFlags struct {
	bug, contract, model, cut, scene, plan, out, baseline, newBaseline string
	seed                                                               uint64
	tear, ops, maxStates, damages, levels, procs                       int
	duration                                                           time.Duration
	json, failfast, list, noShrink, weaken                             bool
}

func (a *app) torture() *cobra.Command {
	var t tortureFlags
	cmd := &cobra.Command{
		Use:   "torture SUBJECT",
		Short: "Crash a journal everywhere, recover it, and judge what came back",
		Long: `torture drives a seeded workload, pulls the plug at every moment, builds every disk that each
persistence model allows there, runs the journal's own recovery on it, and compares what came
back with what was promised. Recoveries are crashed in their turn. The same seed and flags
give the same states and verdicts, whatever -p is.

Subjects, models and bugs: unplug torture --list. With --bug the subject is a small line
journal that is right but for that one mistake: that shows what a failure looks like, and
that the suite would see it.

The first finding of each rule is shrunk: to the fewest steps, the shortest records and the
simplest crash that still break the rule. It is saved in the folder --out, and one line says how
to rerun it.`,
		Example: `  unplug torture reference
  unplug torture reference --bug lost-fsync
  unplug torture reference-watermark --model ext4-ooo --tear 512 --seed 7
  unplug torture reference --cut torn,mid-compaction --max-states 5000 --json
  unplug torture reference --duration 5m -p 4
  unplug torture reference --weaken`,
		Args: func(_ *cobra.Command, args []string) error { return t.args(args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			if t.list {
				return a.list(t.json)
			}
			if t.weaken {
				return a.runWeaken(cmd.Context(), args[0], &t)
			}
			return a.runTorture(cmd.Context(), args[0], &t)
		},
		ValidArgsFunction: completeSubjects,
	}
	f := cmd.Flags()
	f.StringVar(&t.bug, "bug", "", "torture the small line journal with this one mistake instead")
	f.StringVar(&t.contract, "contract", "", "hold the subject to this contract: strict, watermark, lines, lenient, append or atomic-replace (default: its own)")
	f.StringVar(&t.model, "model", "default", "persistence models: default, all, or names with commas between")
	f.IntVar(&t.tear, "tear", 0, "tear writes at multiples of 1, 512 or 4096 bytes (default: each model's own)")
	f.IntVar(&t.ops, "ops", explore.DefaultSteps, "steps of the workload")
	f.StringVar(&t.cut, "cut", "", "only cuts of these kinds, with commas between: torn, before-barrier, after-barrier, both-written, mid-compaction")
	f.StringVar(&t.scene, "scene", "", "beside crashes only these scenes, with commas between, or none: "+strings.Join(explore.SceneNames(), ", ")+" (default: all)")
	f.StringVar(&t.plan, "plan", "", "file with a fault plan, a rule a line, that strikes while the workload runs")
	f.Uint64Var(&t.seed, "seed", 1, "seed of the workload and of every sample")
	f.DurationVar(&t.duration, "duration", 0, "go on with the next seed until this much time has passed (stops between rounds)")
	f.IntVar(&t.maxStates, "max-states", explore.DefaultMaxStates, "states per model; above it they are sampled")
	f.IntVar(&t.damages, "damages", explore.EveryDamage, "damages to the closed log at most: every byte and line by every kind if that is enough (else a small log's, and a sample of the whole one's); 0 does none")
	f.IntVar(&t.levels, "levels", 2, "how deep crashes nest: 0 does not crash recoveries, 1 does, 2 crashes those recoveries too")
	f.IntVarP(&t.procs, "parallel", "p", runtime.GOMAXPROCS(0), "workers")
	f.BoolVar(&t.json, "json", false, "print one JSON object (schema "+report.Schema+")")
	f.BoolVar(&t.failfast, "failfast", false, "stop at the first finding")
	f.BoolVar(&t.noShrink, "no-shrink", false, "save findings as they were found")
	f.StringVar(&t.baseline, "baseline", "", "file with findings that are accepted: only others fail the run, and those that are gone are told")
	f.StringVar(&t.newBaseline, "write-baseline", "", "accept what this run finds: write it to this file, for --baseline")
	f.StringVar(&t.out, "out", "unplug-out", "folder for saved findings; made only when there is one")
	f.BoolVar(&t.weaken, "weaken", false, "drop one sync of the subject at a time, and report each that the suite does not miss (schema "+report.WeakenSchema+")")
	f.BoolVar(&t.list, "list", false, "list subjects, models, bugs, contracts and kinds of cut")
	complete(cmd)
	return cmd
}

// args holds that there is one subject.
func (t *tortureFlags) args(args []string) error {
	switch {
	case t.list && len(args) == 0 || !t.list && len(args) == 1:
		return nil
	case t.list:
		return fmt.Errorf("--list takes no subject, got %q", args)
	case len(args) == 0:
		return fmt.Errorf("torture: no subject: want one of %s", strings.Join(subjectNames(), ", "))
	default:
		return fmt.Errorf("torture: %d subjects %q: want one", len(args), args)
	}
}

// config makes what to explore out of the flags.
func (a *app) config(subject string, t *tortureFlags) (cfg explore.Config, err error) {
	entry, err := catalog.Find(subject, t.bug)
	if err != nil {
		return cfg, err
	}
	cfg = explore.Config{
		Subject: entry.Subject, Bug: t.bug, Contract: entry.Contract, Seed: t.seed, Steps: t.ops,
		MaxStates: t.maxStates, Damages: t.damages, Levels: t.levels, Workers: t.procs, FailFast: t.failfast,
	}
	if t.contract != "" {
		if cfg.Contract, err = oracle.ParseContract(t.contract); err != nil {
			return cfg, err
		}
	}
	if cfg.Models, err = models(t.model, cfg.Contract); err != nil {
		return cfg, err
	}
	if cfg.Cuts, err = cutKinds(t.cut); err != nil {
		return cfg, err
	}
	if cfg.Scenes, err = sceneNames(t.scene); err != nil {
		return cfg, err
	}
	if err := t.numbers(&cfg); err != nil {
		return cfg, err
	}
	if t.plan != "" {
		text, err := a.readText("plan", t.plan)
		if err != nil {
			return cfg, err
		}
		if cfg.Plan, err = faultfs.ParsePlan(text); err != nil {
			return cfg, fmt.Errorf("%s: %w", t.plan, err)
		}
		if len(cfg.Plan.Rules) == 0 {
			return cfg, fmt.Errorf("plan %s: has no rule", t.plan)
		}
		if err := explore.CheckPlan(cfg.Plan); err != nil {
			return cfg, fmt.Errorf("plan %s: %w", t.plan, err)
		}
	}
	return cfg, checkOut(t.out)
}

// numbers holds the ranges of the flags that are numbers.
func (t *tortureFlags) numbers(cfg *explore.Config) error {
	for _, n := range []struct {
		flag         string
		value        int
		lowest, most int
	}{
		{"--ops", t.ops, 1, 100_000},
		{"--max-states", t.maxStates, 1, 1_000_000_000},
		{"--damages", t.damages, 0, 1_000_000_000},
		{"--levels", t.levels, 0, 2},
		{"-p", t.procs, 1, 1024},
	} {
		if n.value < n.lowest || n.value > n.most {
			return fmt.Errorf("%s %d: want %d to %d", n.flag, n.value, n.lowest, n.most)
		}
	}
	if t.duration < 0 {
		return fmt.Errorf("--duration %s: want a time like 30s or 5m, or 0 for one round", t.duration)
	}
	switch cfg.Tear = t.tear; t.tear {
	case 0, 1, 512, 4096:
	default:
		return fmt.Errorf("--tear %d: want one of 1, 512, 4096", t.tear)
	}
	if t.levels == 0 {
		cfg.Levels = -1
	}
	if t.damages == 0 {
		cfg.Damages = -1
	}
	return nil
}

// models reads the value of --model.
func models(value string, c oracle.Contract) ([]crash.Model, error) {
	switch value {
	case "default":
		return explore.DefaultModels(c), nil
	case "all":
		return crash.Models(), nil
	}
	var out []crash.Model
	seen := map[crash.Model]bool{}
	for name := range strings.SplitSeq(value, ",") {
		m, err := crash.ParseModel(strings.TrimSpace(name))
		if err != nil {
			return nil, fmt.Errorf("--model: %w, or default, or all", err)
		}
		if !seen[m] {
			out = append(out, m)
		}
		seen[m] = true
	}
	return out, nil
}

// cutKinds reads the value of --cut.
func cutKinds(value string) ([]explore.CutKind, error) {
	if value == "" {
		return nil, nil
	}
	var out []explore.CutKind
	for name := range strings.SplitSeq(value, ",") {
		k, err := explore.ParseCutKind(strings.TrimSpace(name))
		if err != nil {
			return nil, fmt.Errorf("--cut: %w", err)
		}
		out = append(out, k)
	}
	return out, nil
}

// sceneNames reads the value of --scene.
func sceneNames(value string) ([]string, error) {
	switch value {
	case "":
		return nil, nil
	case "none":
		return []string{}, nil
	}
	var out []string
	for name := range strings.SplitSeq(value, ",") {
		out = append(out, strings.TrimSpace(name))
	}
	if err := explore.CheckScenes(out); err != nil {
		return nil, fmt.Errorf("--scene: %w", err)
	}
	return out, nil
}

// runTorture explores, saves what was found and prints the report.
func (a *app) runTorture(ctx context.Context, subject string, t *tortureFlags) error {
	cfg, err := a.config(subject, t)
	if err != nil {
		return err
	}
	known, err := a.readBaseline(t)
	if err != nil {
		return err
	}
	cfg.Wordings = t.baseline != "" || t.newBaseline != ""
	start := a.now()
	p := a.newProgress(fmt.Sprintf("torture %s · contract %s · seed %d", subject, cfg.Contract.Name, t.seed), start, t.duration)
	cfg.Progress = p.update
	if t.duration > 0 {
		cfg.Again = func(int) bool { return ctx.Err() == nil && a.now().Sub(start) < t.duration }
	}
	rep, err := p.during(func() (*report.Report, error) {
		rep, err := explore.Run(ctx, cfg)
		if err == nil && !t.noShrink {
			explore.ShrinkReport(ctx, cfg, rep, 0)
		}
		return rep, err
	})
	interrupted := errors.Is(err, explore.ErrInterrupted)
	if err != nil && !interrupted {
		return internal(fmt.Errorf("the harness could not work (this says nothing about the journal): %w", err))
	}
	rep.Elapsed = a.now().Sub(start).Seconds()
	if rep.Elapsed > 0 {
		rep.Rate = float64(rep.States) / rep.Elapsed
	}
	if interrupted {
		rep.Notes = append(rep.Notes, "INTERRUPTED: this is what was judged until then")
	}
	if err := a.applyBaseline(known, rep, t); err != nil {
		return err
	}
	a.save(rep, t.out)
	if t.json {
		err = rep.WriteJSON(a.stdout)
	} else {
		err = rep.WriteText(a.stdout, a.text())
	}
	if err != nil {
		return internal(fmt.Errorf("printing the report: %w", err))
	}
	return done(verdict(rep, interrupted))
}

// verdict is the exit code of a report.
func verdict(rep *report.Report, interrupted bool) int {
	switch {
	case interrupted:
		return exitInterrupted
	case rep.Failed():
		return exitBroken
	case rep.Inconclusive():
		return exitInconclusive
	default:
		return exitClean
	}
}

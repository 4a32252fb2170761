package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// scene puts a subject to the test in another way than crashing its workload: faults while
// the process lives on, several handles, several readers, several appenders.
type scene struct {
	name string
	// of is what one try is, in words.
	of string
	// run tries, and tells what it found through the stage.
	run func(ctx context.Context, s *stage) error
	// replay performs one try again: args are what [stage.broke] was given.
	replay func(j *judge, p *report.Repro, args []string) (*Replayed, error)
}

// scenes are all scenes, in the order in which they run.
func scenes() []scene {
	return []scene{
		{"faults", "faults", faultScene, replayFault},
		{"handles", "schedules", handleScene, replayHandles},
		{"readers", "readings", readerScene, replayReading},
		{"together", "concurrent states", togetherScene, replayTogether},
		{"contents", "records", contentScene, replayContent},
	}
}

// SceneNames are the names of all scenes.
func SceneNames() []string {
	var names []string
	for _, s := range scenes() {
		names = append(names, s.name)
	}
	return names
}

// CheckScenes refuses names that are not a scene's.
func CheckScenes(names []string) error {
	for _, n := range names {
		if !slices.Contains(SceneNames(), n) {
			return fmt.Errorf("unknown scene %q: want one of %s", n, strings.Join(SceneNames(), ", "))
		}
	}
	return nil
}

// stage is what a scene works with: one round of a run.
type stage struct {
	*run
	name string
	seed uint64
	row  *report.Scene
}

// play runs the scenes that were asked for. A plan of the user's own strikes the workload
// only: the scenes bring their own faults.
func (r *run) play(ctx context.Context, seed uint64) error {
	for _, sc := range scenes() {
		row := r.sceneRow(sc)
		switch {
		case r.stop():
			return nil
		case r.cfg.Probes < 0 || len(r.cfg.Plan.Rules) > 0:
			row.Skipped = "not asked for"
			continue
		case r.cfg.Scenes != nil && !slices.Contains(r.cfg.Scenes, sc.name):
			row.Skipped = "not asked for"
			continue
		}
		if err := sc.run(ctx, &stage{run: r, name: sc.name, seed: seed, row: row}); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// sceneRow is the row of the report for a scene.
func (r *run) sceneRow(sc scene) *report.Scene {
	rows := &r.report.Coverage.Scenes
	for i := range *rows {
		if (*rows)[i].Name == sc.name {
			return &(*rows)[i]
		}
	}
	*rows = append(*rows, report.Scene{Name: sc.name, Of: sc.of})
	return &(*rows)[len(*rows)-1]
}

// skip says why the subject cannot run the scene.
func (s *stage) skip(why string) { s.row.Skipped = why }

// tried counts one try and its findings. p is the workload that it ran, plan the faults while
// it ran, in words, cuts the crashes, and args what the scene's replay needs to do it again.
func (s *stage) tried(violations []oracle.Violation, story string, rp report.Repro, args ...string) {
	s.row.Tried++
	if len(violations) > 0 {
		s.row.Bad++
	}
	for _, v := range violations {
		file := rp
		file.Subject, file.Bug, file.Contract = s.cfg.Subject.Name, s.cfg.Bug, s.cfg.Contract.Name
		file.Expect, file.Comment = v.Rule, []string{v.Text, story}
		file.Probe = append([]string{s.name}, args...)
		s.finds.add(found{violation: violation{v, ""}, scene: s.name}, func(x found) *report.Finding {
			f := s.describe(x)
			f.Story, f.File = story, &file
			return f
		})
	}
}

// replayScene performs a repro with a probe.
func (j *judge) replayScene(p *report.Repro) (*Replayed, error) {
	for _, sc := range scenes() {
		if sc.name == p.Probe[0] {
			return sc.replay(j, p, p.Probe[1:])
		}
	}
	return nil, fmt.Errorf("probe %q: this version has no such scene; it has %s", p.Probe[0], strings.Join(SceneNames(), ", "))
}

// shortProgram is a workload for scenes that run it many times: a few appends, a batch, a
// sync, a compaction and a reopen.
func (s *stage) shortProgram() workload.Program {
	if s.cfg.Program != nil {
		return s.cfg.Program
	}
	return workload.Random(s.seed, min(s.cfg.Steps, sceneSteps))
}

// sceneSteps is how long a scene's workload is.
const sceneSteps = 10

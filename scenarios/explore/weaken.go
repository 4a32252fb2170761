package explore

import (
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"sort"
	"strings"
	"sync"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// Weakened runs of the suite have small budgets first: most lost syncs show at once. What they
// do not notice is tried again with the budgets that were asked for.
const (
	weakStates = 1_500
	weakLives  = 600
	weakDeep   = 40
)

// ErrBroken is why a subject cannot be weakened: it breaks a promise as it is.
var ErrBroken = errors.New("weaken a subject only when torture passes: it is broken as it is")

// Weaken drops one sync of the subject at a time, by the place in its code (and the file or
// folder) that it is called from, and sees whether the suite notices. The error is
// [ErrInterrupted] with a partial result when ctx ended, or the harness's own; a subject that
// fails without any weakening is an error too.
func Weaken(ctx context.Context, cfg Config) (*report.Weakening, error) {
	cfg.fill()
	cfg.Scenes, cfg.Probes, cfg.Damages, cfg.Again = []string{}, -1, -1, nil
	full := cfg
	cfg.MaxStates, cfg.Lives, cfg.Deep = min(cfg.MaxStates, weakStates), min(cfg.Lives, weakLives), min(cfg.Deep, weakDeep)

	book := &syncBook{file: cfg.Subject.File(), sites: map[string]*site{}}
	cfg.syncs = book
	base, err := Run(ctx, cfg)
	if err != nil {
		return nil, err
	}
	out := &report.Weakening{
		Schema: report.WeakenSchema, Subject: cfg.Subject.Name, Bug: cfg.Bug, Contract: cfg.Contract.Name, Seed: cfg.Seed, Ops: cfg.Steps,
	}
	if base.Failed() {
		f := base.Violations[0]
		return nil, fmt.Errorf("%w: %s, with every sync in its place (%s)", ErrBroken, f.ID, f.Text)
	}
	for _, s := range book.sorted() {
		row := report.WeakSync{Call: s.call, Path: s.path, Place: s.place, Times: s.times}
		if err := s.weaken(ctx, cfg, full, &row); err != nil {
			return out, err
		}
		out.Syncs = append(out.Syncs, row)
		if cfg.Progress != nil {
			cfg.Progress(Progress{Done: len(out.Syncs), Of: len(book.sites), States: out.States(), Model: "weaken"})
		}
	}
	return out, nil
}

// weaken runs the suite without one sync.
func (s *site) weaken(ctx context.Context, small, full Config, row *report.WeakSync) error {
	for _, cfg := range []Config{small, full} {
		cfg.syncs = &syncBook{file: cfg.Subject.File(), drop: s.key}
		cfg.FailFast, cfg.Progress = true, nil
		rep, err := Run(ctx, cfg)
		if err != nil {
			return err
		}
		row.States += rep.States
		if rep.Failed() {
			f := rep.Violations[0]
			row.Verdict, row.Rule, row.Model, row.Text, row.Story = report.Noticed, f.ID, f.Model, f.Text, f.Story
			return nil
		}
		if why := s.redundant(); why != "" {
			row.Verdict, row.Text = report.Redundant, why
			return nil // a full run could not tell more than why it is so
		}
	}
	row.Verdict, row.Text = report.Blind, s.needed
	return nil
}

// site is one place in the subject that syncs one file or folder.
type site struct {
	key, call, path, place string
	times                  int
	nothing                int    // times that nothing was unsynced there
	again                  int    // times that another sync covered the same before anything was promised
	needed                 string // the first time that was neither
}

// redundant says why nobody needs the sync, as far as the recorded lives show; "" if somebody does.
func (s *site) redundant() string {
	var why []string
	if s.nothing > 0 {
		why = append(why, fmt.Sprintf("nothing was unsynced there (%d of %d times)", s.nothing, s.times))
	}
	if s.again > 0 {
		why = append(why, fmt.Sprintf("what it covered was synced again before anything was promised (%d of %d times)", s.again, s.times))
	}
	if s.needed != "" {
		return ""
	}
	return strings.Join(why, "; ")
}

// syncBook sees every sync of the runs that it is given to: it keeps what each place in the
// subject's code covered, or drops the syncs of one place.
type syncBook struct {
	file string // the subject's path: its segments count as one file
	drop string // key of the site to drop; empty: keep book

	mu    sync.Mutex
	sites map[string]*site
}

// syncAt is a sync of one run.
type syncAt struct {
	key, call, path, place string
	op                     int
}

// syncTape is what a book saw of one run.
type syncTape struct {
	book *syncBook
	log  *trace.Log
	seen []syncAt
}

// tape makes the option that lets the book see a run.
func (b *syncBook) tape() (*syncTape, []faultfs.Option) {
	if b == nil {
		return nil, nil
	}
	t := &syncTape{book: b, log: &trace.Log{}}
	return t, []faultfs.Option{faultfs.WithLog(t.log), faultfs.WithSkip(t.skip)}
}

// skip is asked at each sync.
func (t *syncTape) skip(call faultfs.Call, name string) bool {
	place := callers()
	shown := name
	if path.Dir(name) == path.Dir(t.book.file) && isSegment(path.Base(t.book.file), path.Base(name)) {
		shown = t.book.file
	} else if call == faultfs.CallSync {
		shown = path.Dir(name) + "/…" // files beside the log: kept tails, copies on their way to a rename
	}
	key := string(call) + " " + shown + " " + place
	if t.book.drop != "" {
		return key == t.book.drop
	}
	t.seen = append(t.seen, syncAt{key, string(call), shown, place, t.log.Len()})
	return false
}

// callers are the frames of the subject that lead to a sync, innermost first.
func callers() string {
	var pcs [48]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	var out []string
	for {
		f, more := frames.Next()
		switch {
		case strings.Contains(f.Function, "/scenarios/workload.") || strings.Contains(f.Function, "/scenarios/explore.(*judge)") || !more:
			return strings.Join(out, " < ")
		case strings.Contains(f.Function, "/unplug/faultfs.") || strings.HasPrefix(f.Function, "github.com/spf13/afero.") || strings.Contains(f.Function, "/scenarios/explore."):
		default:
			out = append(out, fmt.Sprintf("%s/%s:%d", path.Base(path.Dir(f.File)), path.Base(f.File), f.Line))
		}
	}
}

// close keeps book of a run: ops is the life that it is part of, the run's own ops from first
// on.
func (t *syncTape) close(ops []trace.Op, first int) {
	if t == nil || t.book.drop != "" {
		return
	}
	covered := coverage(ops)
	t.book.mu.Lock()
	defer t.book.mu.Unlock()
	for _, at := range t.seen {
		n := first + at.op
		if n >= len(ops) || !ops[n].IsSync() {
			continue // it failed, or the run ended in it
		}
		s := t.book.sites[at.key]
		if s == nil {
			s = &site{key: at.key, call: at.call, path: at.path, place: at.place}
			t.book.sites[at.key] = s
		}
		s.count(ops, covered, n)
	}
}

// count sorts one sync by what it was good for.
func (s *site) count(ops []trace.Op, covered []int, n int) {
	s.times++
	var mine []int
	for i := range n {
		if covered[i] == n {
			mine = append(mine, i)
		}
	}
	if len(mine) == 0 {
		s.nothing++
		return
	}
	without := append([]trace.Op(nil), ops...)
	without[n] = trace.Op{Kind: trace.Note}
	later := coverage(without)
	due := promised(ops, n)
	for _, i := range mine {
		if later[i] > due {
			if s.needed == "" {
				s.needed = fmt.Sprintf("%s was promised (%s) and nothing else had synced it", ops[i], ops[min(due, len(ops)-1)])
			}
			return
		}
	}
	s.again++
}

// promised is the first note behind a sync that promises what came before it: an
// acknowledgement, or an open that returned.
func promised(ops []trace.Op, n int) int {
	for i := n + 1; i < len(ops); i++ {
		m, ok := workload.ParseMark(ops[i].Text)
		if ops[i].Kind == trace.Note && ok && (m.Event == workload.Acked || m.What == "open" && m.Event == workload.Returned) {
			return i
		}
	}
	return len(ops)
}

// sorted are the sites, by place.
func (b *syncBook) sorted() []*site {
	out := make([]*site, 0, len(b.sites))
	for _, s := range b.sites {
		out = append(out, s)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].key < out[j].key })
	return out
}

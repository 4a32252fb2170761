package explore

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// faultFind is one thing that is wrong behind a fault.
type faultFind struct {
	violation oracle.Violation
	story     string
	cuts      []report.Cut
}

// faultVerdict is the judgement of one run.
type faultVerdict struct {
	finds  []faultFind
	end    faultEnd
	lied   bool // a sync had lied: what is lost is counted, and is no violation
	lost   bool
	hung   bool
	life   *life
	broken error // the harness failed
}

// faultEnd is how a journal took its fault.
type faultEnd uint8

const (
	faultUnnoticed faultEnd = iota // no call failed
	faultRefused                   // an open failed
	faultPoisoned                  // nothing more was acknowledged in the session
	faultHealed                    // it went on
	faultEnds
)

// inOrder are the cases that were found to be in order, so that equal ones of other runs are not
// judged again.
type inOrder struct {
	seed maphash.Seed
	keys sync.Map
}

// crossKey tells cases of different lives apart.
type crossKey struct {
	image, live image.Hash
	promise     uint64
	trace       uint64 // of the last one, whose recovery is crashed too
	depth       int
	kill        bool
	frozen      bool
}

func (known *inOrder) key(c *caseOf, live *image.Image, deep bool) crossKey {
	k := crossKey{image: c.state.Image.Hash(), live: live.Hash(), depth: c.life.depth, kill: c.promise.Domain == oracle.Kill, frozen: c.life.frozen < c.cut.At}
	var h maphash.Hash
	h.SetSeed(known.seed)
	for _, call := range c.promise.Calls {
		_, _ = h.Write(call.Record)
		for _, flag := range []bool{call.Failed, call.Synced, call.Unsure, call.Acked, call.Kept} {
			maphash.WriteComparable(&h, flag)
		}
	}
	k.promise = h.Sum64()
	if !deep {
		return k
	}
	h.Reset()
	for _, op := range c.life.hist.Ops {
		maphash.WriteComparable(&h, [...]int64{int64(op.Kind), int64(op.Ino), op.Off, int64(len(op.Data)), op.Size, int64(len(op.Result)), int64(len(op.Err))})
	}
	k.trace = h.Sum64()
	return k
}

// consider judges one run: how it ended, what its trace shows, what its opens left, and what
// crashes behind the fault leave.
func (j *judge) consider(ctx context.Context, f *faultRun, known *inOrder) faultVerdict {
	var v faultVerdict
	tale := f.tale()
	v.life = f.life
	add := func(x oracle.Violation, end int) {
		v.finds = append(v.finds, faultFind{violation: x, story: tale + " · " + strings.Join(tell(f.ops[:end]), " · ")})
	}
	if f.end != nil {
		v.hung = f.end.Class == oracle.Hung
		add(oracle.Violation{Rule: "UP206", Text: "the workload " + f.end.Class.String() + " behind a fault", Want: []string{"an error, or success"}, Got: []string{f.end.Err}}, len(f.ops))
		return v
	}
	v.end = f.sort()
	v.lied = f.life.lied != never
	if x := j.mistook(f); x != nil {
		add(*x, len(f.ops))
	}
	if x, at := j.trusted(f); x != nil && !v.lied && j.contract.Durable(oracle.Power) {
		add(*x, at+1)
	}
	if x, at := f.touched(); x != nil {
		add(*x, at)
	}
	v.broken = j.consequences(ctx, f, known, &v, tale)
	return v
}

// tale is how a story begins.
func (f *faultRun) tale() string {
	if len(f.plan.Rules) == 0 {
		return "no fault"
	}
	if f.on.from != nil {
		return "the recovery from a power cut · FAULT (" + planWords(f.plan) + ")"
	}
	return "FAULT (" + planWords(f.plan) + ")"
}

// mistook holds that a read which hands out fewer bytes than were asked for, which is no error,
// is not taken for damage.
func (j *judge) mistook(f *faultRun) *oracle.Violation {
	if !f.used || !onlyShort(f.plan) {
		return nil
	}
	for _, failed := range f.failures {
		if j.subject.IsCorrupt(failed.Err) {
			return &oracle.Violation{
				Rule: "UP205", Text: "a read that handed out fewer bytes than were asked for was taken for damage",
				Want: []string{"it reads on"}, Got: failureWords(f.failures),
			}
		}
	}
	return nil
}

// sort says how the journal took the fault: by the first call that failed behind it.
func (f *faultRun) sort() faultEnd {
	end := faultUnnoticed
	for _, op := range f.ops[max(f.struck, 0):] {
		m, ok := workload.ParseMark(op.Text)
		if op.Kind != trace.Note || !ok {
			continue
		}
		switch {
		case end == faultUnnoticed && m.Event == workload.Failed && m.What == "open":
			return faultRefused
		case end == faultUnnoticed && m.Event == workload.Failed:
			end = faultPoisoned
		case end == faultPoisoned && m.Event == workload.Acked:
			return faultHealed
		case end == faultPoisoned && m.What == "close":
			return end
		}
	}
	return end
}

// touched holds UP208: an open that is hit before it has changed anything, and fails, changes
// nothing behind the fault either. What an open does that has begun to make or repair the
// journal's files is judged by its consequences. A fault that stays may have been passed over
// where it struck first, as an error of closing what was read may be.
func (f *faultRun) touched() (*oracle.Violation, int) {
	if len(f.plan.Rules) != 1 || f.plan.Rules[0].Nth.On || f.plan.Rules[0].Call == faultfs.CallClose {
		return nil, -1
	}
	img, before := f.life.hist.Base.Clone(), image.Hash{}
	called := -1
	for n, op := range f.ops {
		if m, ok := workload.ParseMark(op.Text); op.Kind == trace.Note && ok && m.What == "open" {
			if m.Event == workload.Called {
				called, before = n, img.Hash()
			}
			if m.Event == workload.Failed && called <= f.struck && f.struck < n && len(changes(f.ops[called:f.struck])) == 0 && img.Hash() != before {
				return &oracle.Violation{
					Rule: "UP208", Text: "an open failed on a fault that hit it before it had written anything, and changed the files all the same",
					Want: []string{"the same bytes and names"}, Got: changes(f.ops[called:n]),
				}, n + 1
			}
		}
		if op.Changes() && img.Apply(op) != nil {
			return nil, -1
		}
	}
	return nil, -1
}

// cuts are the places at which a run is crashed: behind each acknowledgement and each failed
// open that came after the fault, and at the end.
func (f *faultRun) cuts() []crash.Cut {
	var out []crash.Cut
	for n := max(f.struck, 0); n < len(f.ops)-1; n++ {
		m, ok := workload.ParseMark(f.ops[n].Text)
		acked := ok && m.Event == workload.Acked && !strings.HasSuffix(f.ops[n+1].Text, " acked")
		if f.ops[n].Kind == trace.Note && (acked || ok && m.What == "open" && m.Event == workload.Failed) {
			out = append(out, crash.Cut{At: n + 1})
		}
	}
	return append(out, crash.Cut{At: len(f.ops)})
}

// consequences crashes a run: by a kill, and by a power cut that leaves what was synced and
// nothing else, failed syncs being what the file system made of them.
func (j *judge) consequences(ctx context.Context, f *faultRun, known *inOrder, v *faultVerdict, tale string) error {
	cuts := f.cuts()
	for _, m := range []crash.Model{crash.Kill, crash.Synced} {
		w, err := newWalk(f.life, m, crash.Options{}, j.subject.File(), cuts, len(cuts)*nestedPerCut)
		if err != nil {
			return err
		}
		now := newLive(f.life.hist)
		for c, err := range w.cases(ctx, 0) {
			if err != nil {
				return fmt.Errorf("replaying the trace: %w", err)
			}
			live, err := now.upTo(crash.Cut{At: c.cut.At})
			if err != nil {
				return err
			}
			last := m == crash.Kill && c.cut.At == len(f.ops)
			k := known.key(c, live, last)
			if _, fine := known.keys.Load(k); fine && f.life.lied >= c.cut.At {
				continue
			}
			c.cut.Choice = c.state.Choice()
			if j.crashed(ctx, f, c, v, tale, last) && f.life.lied >= c.cut.At {
				known.keys.Store(k, true)
			}
		}
	}
	return nil
}

// crashed judges one crash state, and with again the power cut behind its recovery: a kill keeps
// what was not synced. It reports whether everything was in order.
func (j *judge) crashed(ctx context.Context, f *faultRun, c *caseOf, v *faultVerdict, tale string, again bool) bool {
	res := j.run(c)
	v.lost = v.lost || res.verdict.Lied && res.verdict.Lost
	cuts := append(slices.Clip(c.life.chain), c.cut)
	if len(res.verdict.Violations) == 0 && again && res.second != nil && !res.verdict.Lied && j.contract.Durable(oracle.Power) {
		l := res.second
		w, err := newWalk(l, crash.Synced, crash.Options{}, j.subject.File(), []crash.Cut{{At: len(l.hist.Ops)}}, nestedPerCut)
		if err != nil {
			panic(err) // synced takes every history and has no options to be wrong
		}
		for nested, err := range w.cases(ctx, 0) {
			if err != nil {
				panic(err) // the trace was replayed before
			}
			nested.cut.Choice = nested.state.Choice()
			c, res, cuts = nested, j.run(nested), append(cuts, nested.cut)
		}
	}
	for _, x := range res.verdict.Violations {
		f.blame(&x, cuts[f.life.depth].At)
		v.finds = append(v.finds, faultFind{x, tale + " · " + story(c, x.Then), cuts})
	}
	return len(res.verdict.Violations) == 0
}

// blame gives a broken promise to UP209 when an acknowledgement had been given behind a failed
// write or sync of the same session: it is that which should not have happened.
func (f *faultRun) blame(v *oracle.Violation, at int) {
	switch v.Rule {
	case "UP201", "UP202", "UP205", "UP206":
	default:
		return
	}
	failed := -1
	for n, op := range f.ops[:at] {
		m, ok := workload.ParseMark(op.Text)
		switch {
		case op.Kind == trace.Note && ok && m.What == "open" && m.Event == workload.Called:
			failed = -1
		case op.Kind == trace.Note && ok && m.Event == workload.Acked && failed >= 0:
			v.Text = fmt.Sprintf("%s (%s: %s was acknowledged in the session in which op %d failed: %s)", v.Text, v.Rule, strings.TrimSuffix(op.Text, " acked"), failed, f.ops[failed])
			v.Rule = "UP209"
			return
		case op.IsSync() && op.Err != "" || op.Kind == trace.Write && (op.Err != "" || len(op.Data) < op.Len):
			failed = n
		}
	}
}

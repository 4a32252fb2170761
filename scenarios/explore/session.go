package explore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/target"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// Session is a journal in use, step by step, whose plug can be pulled at any time and which goes
// on from what a crash left: the moves of a state machine. It is for one goroutine.
type Session struct {
	judge  *judge
	mem    *faultfs.Mem
	fsys   *faultfs.FS
	driver *workload.Driver
	calls  []oracle.Call // every record that was appended, by number
	group  int           // compactions so far

	base    *image.Image // the disk before pending
	pending []trace.Op   // of a life that was killed: not yet synced
	prior   []entry      // W at the beginning of this life
	parent  *caseOf      // the crash that this life recovered from
	tail    target.Tail
	took    map[string]int64
	// Refused counts crash states that were refused where the contract accepts it: the session
	// then began anew.
	Refused int
	// Crashes counts crash states that were judged.
	Crashes int
}

// NewSession opens a subject on an empty disk.
func NewSession(s target.Subject, c oracle.Contract) (*Session, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	x := &Session{judge: &judge{subject: s, contract: c, patience: watchdog}}
	return x, x.begin()
}

// begin starts anew on an empty disk.
func (x *Session) begin() error {
	x.base, x.pending, x.prior, x.parent, x.tail, x.took = image.New(), nil, nil, nil, target.Tail{}, nil
	return x.open(x.base)
}

// open begins a life on an image.
func (x *Session) open(img *image.Image) error {
	x.mem = faultfs.NewMem(img.Clone())
	x.fsys = faultfs.New(x.mem, faultfs.WithMarker(x.judge.subject.Marker))
	x.driver = &workload.Driver{
		Subject: x.judge.subject, AckOnAppend: x.judge.contract.AckOn == oracle.AckAppend, First: len(x.calls),
	}
	return x.safely(func() error { return x.driver.Start(x.fsys) })
}

// safely turns a panic of the subject into an error.
func (x *Session) safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the subject panicked: %v", p)
		}
	}()
	return f()
}

// Do performs a step. An error is the subject's: it has no reason for one.
func (x *Session) Do(s workload.Step) error {
	if s.Kind == workload.Compact || s.Kind == workload.Cancel {
		x.group++
	}
	x.calls = append(x.calls, x.judge.callsOf(s, 0, x.group)...)
	return x.safely(func() error { return x.driver.Do(s) })
}

// Crash pulls the plug: at the end of what was done, or, if back is set, at any earlier moment
// of this life. It judges one of the states that the model allows there, drawn from rng, and
// goes on from it. The violations are what the state broke; the session is at its end then.
func (x *Session) Crash(m crash.Model, back bool, rng *rand.Rand) (broken []oracle.Violation, story string, err error) {
	l := x.life()
	cut := crash.Cut{At: len(l.hist.Ops)}
	if all := places(l.hist.Ops, l.first); back && len(all) > 0 {
		cut = all[rng.IntN(len(all))].cut
	}
	c, err := x.state(l, m, cut, rng)
	if err != nil {
		return nil, "", err
	}
	x.Crashes++
	res := x.judge.run(c)
	if len(res.verdict.Violations) > 0 {
		return res.verdict.Violations, then(c, res.verdict.Violations), nil
	}
	if res.verdict.Refused {
		x.Refused++
		return nil, "", x.begin()
	}
	return nil, "", x.goOn(c)
}

// life is what was done since the last crash, as a history that can be cut.
func (x *Session) life() *life {
	ops := x.fsys.Log().Ops()
	hist := &crash.History{Base: x.base, Ops: append(slices.Clip(x.pending), ops...)}
	l := newLife(hist, len(x.pending), slices.Clone(x.prior), func(n int) oracle.Call { return x.calls[n] })
	l.file, l.parent, l.tail, l.accepted = x.judge.subject.File(), x.parent, x.tail, x.took
	if x.parent == nil {
		l.findSynced()
		return l
	}
	l.depth = x.parent.life.depth + 1
	l.chain = append(slices.Clip(x.parent.life.chain), x.parent.cut)
	return l
}

// state draws one crash state.
func (x *Session) state(l *life, m crash.Model, cut crash.Cut, rng *rand.Rand) (*caseOf, error) {
	space, err := crash.NewSpace(m, l.hist, cut, crash.Options{})
	if err != nil {
		return nil, err
	}
	n := 1 + rng.IntN(24)
	var st crash.State
	for s := range space.Sample(rng, n) {
		st = s
		if n--; n == 0 {
			break
		}
	}
	now, err := newLive(l.hist).upTo(cut)
	if err != nil {
		return nil, err
	}
	domain := oracle.Power
	if m == crash.Kill {
		domain = oracle.Kill
	}
	return &caseOf{
		life: l, state: st, cut: report.Cut{Model: string(m), At: cut.At, Inside: cut.Inside, Choice: st.Choice()},
		promise: l.promise(cut, domain, m == crash.Synced),
		witness: newWitness(l, x.judge.subject.File(), now, l.hist.Ops[:min(cut.At+1, len(l.hist.Ops))]),
	}, nil
}

// goOn opens the journal on a state that was judged, as the next life.
func (x *Session) goOn(c *caseOf) error {
	x.judge.letGo(x.driver) // a dead process's handles: its file system is not looked at any more
	o := x.judge.recover(faultfs.New(faultfs.NewMem(c.state.Image.Clone()), faultfs.WithOpLimit(opBudget)))
	if o.Class != oracle.OK && o.Class != oracle.NotFound {
		return errors.New("recovery gave another answer the second time: " + o.Err)
	}
	pending := c.state.Pending()
	x.base, x.pending = pending.Base, pending.Ops
	x.prior = inherit(o.Recovered.Records, c.promise.Calls)
	x.parent, x.tail, x.took = c, o.Recovered.Tail, nil
	if x.tail.Path == "" {
		x.tail.Path = x.judge.subject.File()
	}
	if o.Class == oracle.OK && x.tail.Length == 0 {
		x.took = sizes(c.state.Image, x.judge.subject.File())
	}
	return x.open(c.state.Image)
}

// Damage closes the journal, does one damage to the log that the contract says it notices (any
// damage, if none of a few is one), judges the answer, undoes it and reopens.
func (x *Session) Damage(rng *rand.Rand) (broken []oracle.Violation, story string, err error) {
	if err := x.safely(x.driver.Close); err != nil {
		return nil, "", fmt.Errorf("close: %w", err)
	}
	if s := newDamagedLog(x.judge, nil, x.mem.Image().Clone()); s != nil && len(s.slots) > 0 {
		for range 8 {
			slot := s.slots[rng.IntN(len(s.slots))]
			d := slot.kind.at(slot.file, rng.IntN(slot.count))
			g := s.try(slot.file, d)
			if len(g.violations) > 0 {
				return g.violations, damageStory(d.String(), slot.file.name), nil
			}
			if g.vouched {
				break
			}
		}
	}
	return nil, "", x.safely(func() error { return x.driver.Do(workload.Step{Kind: workload.Reopen}) })
}

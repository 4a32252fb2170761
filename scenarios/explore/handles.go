package explore

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/target"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// handleScene gives somebody else a turn at every call of a journal's life, from its open to its
// close: a second writer, an outsider who renames, cuts or removes the file, a reader, or a kill
// with a new owner behind it. Each turn is a whole script, done while the journal waits inside
// its call, so that a schedule is two words (the script and the call) and the same each time.
func handleScene(ctx context.Context, s *stage) error {
	p := handleProgram()
	quiet := s.judge.meet(p, nil, -1)
	if quiet.bad != nil {
		s.tried([]oracle.Violation{*quiet.bad}, "two appends, a sync and a third, with nobody else there", report.Repro{Program: p}, "nobody", "0")
		return nil
	}
	quiet.consequence("", "with nobody else there")
	if slices.ContainsFunc(quiet.violations, func(v oracle.Violation) bool { return v.Rule == "UP201" || v.Rule == "UP211" }) { // each schedule would tell of it again
		quiet.violations = slices.DeleteFunc(quiet.violations, func(v oracle.Violation) bool { return s.finds.has(v.Rule) })
		s.tried(quiet.violations, "two appends, a sync and a third, and then a crash, with nobody else there", report.Repro{Program: p}, "nobody", "0")
		s.row.Note = "the workload breaks a promise with nobody else there, so that nobody else had a turn"
		return nil
	}
	played := scripts()
	if s.cfg.Contract.Writers == oracle.WritersTrusted {
		played = slices.DeleteFunc(played, func(sc script) bool { return sc.meddles })
	}
	step := 1 + len(played)*(quiet.calls+1)/s.cfg.Probes // every call, or every step-th if that is too much
	for _, sc := range played {
		for k := 0; k <= quiet.calls; k += step {
			if ctx.Err() != nil || s.stop() {
				return ctx.Err()
			}
			m := s.judge.meet(p, &sc, k)
			if m.happened {
				s.tried(m.violations, m.story(), report.Repro{Program: p}, sc.name, strconv.Itoa(k))
			}
			if m.late {
				return nil // each further schedule would take as long to say the same
			}
		}
	}
	s.row.Note = fmt.Sprintf("%d scripts, a turn at each of %d calls", len(played), quiet.calls+1)
	if step > 1 {
		s.row.Note = fmt.Sprintf("%d scripts, a turn at every %dth of %d calls", len(played), step, quiet.calls+1)
	}
	if s.cfg.Contract.Writers == oracle.WritersTrusted {
		s.row.Note += "; nobody else wrote: the contract trusts the callers (Contract.Writers)"
	}
	return nil
}

// replayHandles performs one schedule again.
func replayHandles(j *judge, p *report.Repro, args []string) (*Replayed, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("probe handles: want a script and the number of a call, got %q", args)
	}
	k, err := strconv.Atoi(args[1])
	if err != nil || k < 0 {
		return nil, fmt.Errorf("probe handles: %q is no number of a call", args[1])
	}
	if args[0] == "nobody" {
		m := j.meet(p.Program, nil, -1)
		if m.bad != nil {
			return replayed(p, []oracle.Violation{*m.bad}, "with nobody else there"), nil
		}
		m.consequence("", "with nobody else there")
		return replayed(p, m.violations, "with nobody else there"), nil
	}
	for _, sc := range scripts() {
		if sc.name == args[0] {
			m := j.meet(p.Program, &sc, k)
			if !m.happened {
				return nil, fmt.Errorf("probe handles: script %q cannot be played at call %d", sc.name, k)
			}
			return replayed(p, m.violations, m.story()), nil
		}
	}
	return nil, fmt.Errorf("probe handles: no script %q in this version", args[0])
}

// handleProgram is what the first process does.
func handleProgram() workload.Program {
	var p workload.Program
	for n := range 3 {
		p = append(p, workload.Step{Kind: workload.Append, Records: [][]byte{
			fmt.Appendf(nil, `{"type":"message","role":"user","content":"a%d from the first process"}`, n),
		}})
		if n == 1 {
			p = append(p, workload.Step{Kind: workload.Sync})
		}
	}
	return append(p, workload.Step{Kind: workload.Sync})
}

// otherFirst is the number of the first record that the second process appends.
const otherFirst = 500_000

func secondRecord() []byte {
	return []byte(`{"type":"message","role":"user","content":"b0 from the second process"}`)
}

// encounter is one schedule and what came of it.
type encounter struct {
	judge *judge
	mem   *faultfs.Mem
	log   *trace.Log
	first *turns
	own   workload.Driver // of the first process
	other workload.Driver // of the second

	script     *script
	call       int // at which the other has a turn
	calls      int // that the first process made in all
	happened   bool
	late       bool     // it did not end
	at         int      // ops before the turn
	end        int      // ops behind it
	open       bool     // the first process had the journal open at the turn
	admitted   bool     // the second opened the journal
	refusal    []string // what it was told otherwise
	failures   []workload.CallError
	bad        *oracle.Violation
	violations []oracle.Violation
}

// meet plays a script at a call of the first process, and judges what came of it; a nil script
// plays nothing.
func (j *judge) meet(p workload.Program, sc *script, call int) *encounter {
	e := &encounter{judge: j, log: &trace.Log{}, script: sc, call: call, mem: faultfs.NewMem(image.New())}
	if !within(j.patience, func() { e.play(p) }) {
		late := &encounter{judge: j, log: &trace.Log{}, script: sc, call: call, happened: true, late: true} // the other is still being written to
		late.wrong("a schedule did not end", fmt.Sprintf("no answer in %d s", j.patience))
		return late
	}
	return e
}

// play performs the schedule.
func (e *encounter) play(p workload.Program) {
	j, sc := e.judge, e.script
	e.first = &turns{FS: e.layer(), turn: e.turn}
	ack := j.contract.AckOn == oracle.AckAppend
	e.own = workload.Driver{Subject: j.subject, AckOnAppend: ack}
	e.other = workload.Driver{Subject: j.subject, AckOnAppend: ack, First: otherFirst}
	failures, bad := j.drive(&e.own, e.first, p)
	e.failures = failures
	var closed error
	if bad == nil {
		closed = j.closeSafely(&e.own)
	}
	e.calls = e.first.calls
	if sc != nil && e.call == e.calls && bad == nil { // behind the last call
		e.first.next()
	}
	if sc != nil && sc.after != nil && e.happened {
		sc.after(e)
	}
	j.letGo(&e.other)
	switch {
	case bad != nil:
		e.wrong("the first process "+bad.Class.String(), bad.Err)
	case sc == nil && (len(e.failures) > 0 || closed != nil):
		e.wrong("a call failed with nobody else there", append(failureWords(e.failures), errorWords(closed)...)...)
	case e.happened && e.bad == nil:
		sc.judge(e)
	}
}

// wrong is what ends a schedule before it can be judged.
func (e *encounter) wrong(text string, got ...string) {
	e.bad = &oracle.Violation{Rule: "UP212", Text: text, Want: []string{"it goes on, or returns an error"}, Got: got}
	e.violations = []oracle.Violation{*e.bad}
	e.happened = e.happened || e.script != nil
}

func errorWords(err error) []string {
	if err == nil {
		return nil
	}
	return []string{err.Error()}
}

// layer is the file system as one more process sees it.
func (e *encounter) layer() *faultfs.FS {
	return faultfs.New(e.mem, faultfs.WithLog(e.log), faultfs.WithOpLimit(opBudget), faultfs.WithMarker(e.judge.subject.Marker))
}

// turn plays the script, once.
func (e *encounter) turn(call int) {
	if e.script == nil || e.happened || call != e.call {
		return
	}
	e.at, e.open = e.log.Len(), e.own.Journal() != nil
	e.happened = e.script.play(e)
	e.end = e.log.Len()
}

// closeSafely closes a driver's journal; a panic comes back as an error.
func (j *judge) closeSafely(d *workload.Driver) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("close panicked: %v", p)
		}
	}()
	return d.Close()
}

// life is the whole of what both processes did. Their calls overlap, so only real time orders
// them.
func (e *encounter) life() *life {
	ops := e.log.Ops()
	calls := e.judge.lookup(handleProgram())
	l := newLife(&crash.History{Base: image.New(), Ops: ops}, 0, nil, func(n int) oracle.Call {
		c := oracle.Call{Record: e.judge.encode(secondRecord())}
		if n < otherFirst {
			c = calls(n)
		}
		c.Together = 1
		return c
	})
	l.file, l.late = e.judge.subject.File(), e.judge.contract.AckOn == oracle.AckSync
	for i := range l.w {
		l.w[i].kept = never // an open that returned may be the other process's: it knows no buffer but its own
	}
	if e.first.Killed() {
		l.release(e.at) // what it had in a buffer died with it
	}
	return l
}

// consequence judges what both left behind: killed, and with what was synced and nothing else.
// Without a rule each violation keeps its own.
func (e *encounter) consequence(rule, what string) {
	l := e.life()
	end := crash.Cut{At: len(l.hist.Ops)}
	for _, m := range []crash.Model{crash.Kill, crash.Synced} {
		if m == crash.Synced && !e.judge.contract.Durable(oracle.Power) {
			continue
		}
		space, err := crash.NewSpace(m, l.hist, end, crash.Options{})
		if err != nil {
			panic(err) // both models take every history
		}
		for st := range space.All() {
			c := l.caseAt(e.judge, st, m, end)
			res := e.judge.run(c)
			for _, v := range res.verdict.Violations {
				v.Text = what + ": " + v.Text
				if rule != "" {
					v.Rule = rule
				}
				e.violations = append(e.violations, v)
			}
			if len(e.violations) > 0 {
				return
			}
			break
		}
	}
}

// caseAt is a state at a cut of a life whose calls overlap.
func (l *life) caseAt(j *judge, st crash.State, m crash.Model, cut crash.Cut) *caseOf {
	now, err := newLive(l.hist).upTo(cut)
	if err != nil {
		panic(err) // the trace was recorded on such an image
	}
	domain := oracle.Power
	if m == crash.Kill {
		domain = oracle.Kill
	}
	return &caseOf{
		life: l, state: st, cut: report.Cut{Model: string(m), At: cut.At, Inside: cut.Inside},
		promise: l.promise(cut, domain, false),
		witness: newWitness(l, j.subject.File(), now, l.hist.Ops[:min(cut.At+1, len(l.hist.Ops))]),
	}
}

// story is the schedule in words.
func (e *encounter) story() string {
	ops := e.log.Ops()
	before := "before its first call"
	if e.at > 0 {
		before = "behind " + ops[e.at-1].String()
	}
	return fmt.Sprintf("the first process, %s (call %d): %s", before, e.call, e.script.what)
}

// acked are the records that the first process called behind op n and acknowledged.
func (e *encounter) acked(n int) [][]byte {
	l := e.life()
	var out [][]byte
	for i := range l.w {
		if w := &l.w[i]; w.called >= n && w.acked != never {
			out = append(out, w.call.Record)
		}
	}
	return out
}

// read recovers what is on the disk now, as one more process.
func (e *encounter) read() (oracle.Outcome, *faultfs.FS) {
	fsys := faultfs.New(e.mem, faultfs.WithOpLimit(opBudget))
	return e.judge.recover(fsys), fsys
}

// missing is the first of records that an outcome does not have.
func missing(records [][]byte, r target.Recovered) []byte {
	there := map[string]bool{}
	for _, b := range r.Records {
		there[string(b)] = true
	}
	for _, b := range records {
		if !there[string(b)] {
			return b
		}
	}
	return nil
}

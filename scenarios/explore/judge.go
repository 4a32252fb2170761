package explore

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/target"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// opBudget is how many file operations one recovery, or one append, may take before the
// harness says that it does not return.
const opBudget = 200_000

// judge runs the subject's recovery on crash states and asks the oracle.
type judge struct {
	subject  target.Subject
	contract oracle.Contract
	patience int       // seconds that one call may take
	syncs    *syncBook // sees every sync of the workload and of what goes on behind a crash; nil: nobody does
}

// caseOf is one crash state to be judged, with all that was promised there.
type caseOf struct {
	life    *life
	state   crash.State
	cut     report.Cut
	promise oracle.Promise
	witness *witness
	beat    atomic.Int64 // counts the cases nested in it: the watchdog's sign of life
}

// result is the judgement of a case.
type result struct {
	verdict oracle.Verdict
	second  *life // the recovery and one append, to be cut in its turn; nil if it failed
}

// extra is the number of the record that a life appends after a crash at the given depth.
const extra = 1_000_000

// run judges one state: recover, compare; open, append, sync, crash, recover, compare.
func (j *judge) run(c *caseOf) (res result) {
	mem := faultfs.NewMem(c.state.Image.Clone())
	before := c.state.Image.Hash()
	read := faultfs.New(mem, faultfs.WithOpLimit(opBudget))
	first := j.recover(read)
	evidence := c.witness.look(c.state.Image, first.Recovered.Tail)
	res.verdict = oracle.Check(j.contract, c.promise, evidence, first)
	if n := read.Log().Len(); n > 0 {
		res.verdict.Add("UP208", "a read-only recovery wrote, or took the lock", []string{"no operation"}, []string{read.Log().Ops()[0].String()})
	}
	if l := c.life; l.cutItsTail(c.cut) {
		if v := j.tailKept(l.parent.state.Image, c.state.Image, l.tail); v != nil {
			res.verdict.Violations = append(res.verdict.Violations, *v)
		}
	}
	if c.life.lied < c.cut.At {
		res.verdict.Lied, res.verdict.Lost = true, len(res.verdict.Violations) > 0
		res.verdict.Violations = nil
		return res
	}
	if len(res.verdict.Violations) > 0 || c.promise.Domain == oracle.Kill && c.life.frozen < c.cut.At {
		return res // a killed process finds a file system that went down as it left it: nobody writes there
	}
	j.goOn(c, &res, mem, before, first)
	for i := range res.verdict.Violations {
		v := &res.verdict.Violations[i]
		v.Then = "open · append #" + number(extra+c.life.depth) + v.Then
	}
	return res
}

// goOn opens the state for writing and appends one record.
func (j *judge) goOn(c *caseOf, res *result, mem *faultfs.Mem, before image.Hash, first oracle.Outcome) {
	v := &res.verdict
	pending := c.state.Pending()
	tape, watched := j.syncs.tape()
	write := faultfs.New(mem, append(watched, faultfs.WithOpLimit(opBudget))...)
	plain := extraRecord(len(c.life.chain), first.Recovered.Tail.Length)
	record := j.encode(plain)
	driver := workload.Driver{Subject: j.subject, AckOnAppend: j.contract.AckOn == oracle.AckAppend, First: extra + len(c.life.chain)}
	step := workload.Step{Kind: workload.Append, Records: [][]byte{plain}}
	steps := workload.Program{step}
	if j.contract.AckOn == oracle.AckSync {
		steps = append(steps, workload.Step{Kind: workload.Sync})
	}
	failures, bad := j.drive(&driver, write, steps)
	defer j.letGo(&driver)
	switch {
	case bad != nil:
		v.Add("UP206", "going on after recovery "+bad.Class.String(), []string{"open, append and sync succeed"}, []string{bad.Err})
		return
	case driver.Journal() == nil && first.Class == oracle.Corrupt:
		if mem.Image().Hash() != before {
			v.Add("UP208", "an open that failed changed the files", []string{"the same bytes and names"}, changes(write.Log().Ops()))
		}
		return
	case driver.Journal() == nil:
		v.Add("UP205", "recovery reads the state, but an open for writing fails", []string{"it opens"}, failureWords(failures))
		return
	case first.Class == oracle.Corrupt:
		v.Add("UP208", "an open for writing accepts what a read-only recovery refuses as damaged", []string{first.Err}, []string{"it opened"})
		return
	case len(failures) > 0:
		v.Add("UP206", "an append after recovery failed", []string{"it succeeds"}, failureWords(failures))
		return
	}
	if kept := j.tailKept(c.state.Image, mem.Image(), first.Recovered.Tail); kept != nil {
		v.Violations = append(v.Violations, *kept)
		return
	}
	second := j.secondLife(c, pending, write.Log().Ops(), first, func(int) oracle.Call { return oracle.Call{Record: record} })
	tape.close(second.hist.Ops, second.first)
	j.again(c, v, second, mem.Image(), first, record)
	if len(v.Violations) == 0 {
		res.second = second
	}
}

// again pulls the plug once more behind the acknowledgement: a kill, and, if it was a power
// cut that came before, a power cut that leaves what was synced and nothing else. (A power
// cut behind a kill is a nested crash, so that model kill keeps its meaning: the page cache
// survives.)
func (j *judge) again(c *caseOf, v *oracle.Verdict, second *life, now *image.Image, first oracle.Outcome, record []byte) {
	images := []*image.Image{now}
	then := []string{" acknowledged · CUT (kill: everything that happened is there)", " acknowledged · CUT (synced: what was synced and nothing else)"}
	if c.promise.Domain == oracle.Power && j.contract.Durable(oracle.Power) {
		space, err := crash.NewSpace(crash.Synced, second.hist, crash.Cut{At: len(second.hist.Ops)}, crash.Options{})
		if err != nil {
			panic(err) // synced takes every history and has no options to be wrong
		}
		for st := range space.All() {
			if st.Image.Hash() != now.Hash() {
				images = append(images, st.Image)
			}
		}
	}
	for i, img := range images {
		o := j.recover(faultfs.New(faultfs.NewMem(img.Clone()), faultfs.WithOpLimit(opBudget)))
		if found := oracle.CheckAgain(first.Recovered.Records, record, o); len(found) > 0 {
			found[0].Then = then[i]
			v.Violations = append(v.Violations, found...)
			return
		}
	}
}

// secondLife is the recovery and the appends that followed a crash, as a history that can
// be cut. A kill leaves the writes of the life before pending.
func (j *judge) secondLife(c *caseOf, pending *crash.History, ops []trace.Op, first oracle.Outcome, lookup writeLookup) *life {
	hist := &crash.History{Base: pending.Base, Ops: ops}
	if len(pending.Ops) > 0 {
		hist.Ops = append(slices.Clip(pending.Ops), ops...)
	}
	prior := inherit(first.Recovered.Records, c.promise.Calls)
	l := newLife(hist, len(pending.Ops), prior, lookup)
	l.chain = append(slices.Clip(c.life.chain), c.cut)
	l.parent = c
	if l.tail = first.Recovered.Tail; l.tail.Path == "" {
		l.tail.Path = j.subject.File()
	}
	if first.Class == oracle.OK && first.Recovered.Tail.Length == 0 {
		l.accepted = sizes(c.state.Image, j.subject.File())
	}
	l.depth = c.life.depth + 1
	l.kill = c.promise.Domain == oracle.Kill
	l.model = c.life.model
	if !l.kill {
		l.model = c.cut.Model
	}
	return l
}

// drive performs steps; a panic or an exhausted budget of the subject comes back as an outcome.
func (j *judge) drive(d *workload.Driver, fsys workload.FS, steps workload.Program) (failures []workload.CallError, bad *oracle.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			bad = panicked(p)
		}
	}()
	failures = d.Run(fsys, steps)
	for _, f := range failures {
		if errors.Is(f.Err, faultfs.ErrOpLimit) {
			return failures, &oracle.Outcome{Class: oracle.Hung, Err: f.Error()}
		}
	}
	return failures, nil
}

// letGo closes what the driver left open; what the subject says then is of no interest.
func (j *judge) letGo(d *workload.Driver) {
	defer func() { _ = recover() }()
	_ = d.Close()
}

// recover calls the subject's Recover and sorts how it ended.
func (j *judge) recover(fsys *faultfs.FS) (o oracle.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = *panicked(p)
		}
	}()
	recovered, err := j.subject.Recover(fsys, j.subject.File())
	if err == nil {
		return oracle.Outcome{Recovered: recovered}
	}
	return oracle.Outcome{Class: j.sort(err), Err: err.Error()}
}

// sort says how a call ended that returned an error.
func (j *judge) sort(err error) oracle.Class {
	switch {
	case errors.Is(err, faultfs.ErrOpLimit):
		return oracle.Hung
	case j.subject.IsCorrupt(err):
		return oracle.Corrupt
	case errors.Is(err, fs.ErrNotExist):
		return oracle.NotFound
	default:
		return oracle.Failed
	}
}

func (j *judge) encode(record []byte) []byte {
	if j.subject.Encode != nil {
		return j.subject.Encode(record)
	}
	return record
}

// extraRecord is what a life appends behind a crash. It is a little shorter than the tail
// that was left, so that it reaches into the same sectors and still ends inside the old
// size: a repair that is not synced before it then shows.
func extraRecord(depth int, tail int64) []byte {
	pad := strings.Repeat("after the cut ", 1+int(min(max(tail-160, 0), 3000))/14)
	return fmt.Appendf(nil, `{"type":"message","role":"user","content":"x%d %s"}`, depth, pad)
}

func panicked(p any) *oracle.Outcome {
	return &oracle.Outcome{Class: oracle.Panicked, Err: fmt.Sprint(p)}
}

func failureWords(failures []workload.CallError) []string {
	out := make([]string, len(failures))
	for i, f := range failures {
		out[i] = f.Error()
	}
	return out
}

func changes(ops []trace.Op) []string {
	var out []string
	for _, op := range ops {
		if op.Changes() {
			out = append(out, op.String())
		}
	}
	return out
}

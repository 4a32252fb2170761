package explore

import (
	"fmt"
	"os"
	"path"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// script is what somebody else does in their turn.
type script struct {
	name string
	what string // in words
	// meddles: it writes while the first process has the journal open, which is nothing that a
	// contract which trusts its callers speaks of.
	meddles bool
	// play does it, and reports whether there was anything to do.
	play func(e *encounter) bool
	// after is done when the first process has closed; nil is nothing.
	after func(e *encounter)
	// judge tells what was broken.
	judge func(e *encounter)
}

// scripts are all scripts.
func scripts() []script {
	return append([]script{
		{name: "second", what: "a second process opens, appends and closes", meddles: true, play: secondWrites, judge: judgeSecond},
		{name: "hold", what: "a second process opens, and appends when the first has closed", meddles: true, play: secondOpens, after: secondGoesOn, judge: judgeSecond},
		{name: "reader", what: "another process reads the journal", play: readNow, judge: func(*encounter) {}},
		{name: "killed", what: "the first process is killed, and another opens and appends", play: killAndOpen, judge: judgeKilled},
	}, outsiders()...)
}

func secondWrites(e *encounter) bool {
	if !secondOpens(e) || !e.admitted {
		return true
	}
	secondGoesOn(e)
	return true
}

func secondOpens(e *encounter) bool {
	failures, bad := e.judge.drive(&e.other, e.layer(), nil)
	if bad != nil {
		e.wrong("a second open "+bad.Class.String(), bad.Err)
		return true
	}
	e.admitted = e.other.Journal() != nil
	e.refusal = failureWords(failures)
	return true
}

// secondGoesOn appends one record with the second process, and closes it.
func secondGoesOn(e *encounter) {
	if e.other.Journal() == nil {
		return
	}
	steps := workload.Program{{Kind: workload.Append, Records: [][]byte{secondRecord()}}, {Kind: workload.Sync}}
	for _, s := range steps {
		if err := e.judge.doSafely(&e.other, s); err != nil {
			break // it may fail as it likes; what it acknowledged counts
		}
	}
	_ = e.judge.closeSafely(&e.other)
}

// doSafely performs a step; a panic comes back as an error.
func (j *judge) doSafely(d *workload.Driver, s workload.Step) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s panicked: %v", s.Kind, p)
		}
	}()
	return d.Do(s)
}

// judgeSecond holds one writer at a time, or that several do each other no harm.
func judgeSecond(e *encounter) {
	one := e.judge.contract.Writers == oracle.WritersOne
	add := func(text, want string, got ...string) {
		e.violations = append(e.violations, oracle.Violation{Rule: "UP212", Text: text, Want: []string{want}, Got: got})
	}
	switch {
	case one && e.admitted && e.open:
		add("a second opener for writing was admitted while the first has the journal open", "an error from open", "it opened")
		return
	case one && e.admitted && e.script.after != nil && e.firstOpened():
		add("the first process opened the journal while a second one, which had opened it meanwhile, holds it", "an error from one of them", "both are open")
		return
	case !e.admitted:
		if wrote := changes(e.log.Ops()[e.at:e.end]); len(wrote) > 0 {
			add("a second opener was refused, and had written", "no operation", wrote...)
			return
		}
		if len(e.failures) > 0 {
			add("a second opener was refused, and the first process failed all the same", "it goes on", failureWords(e.failures)...)
			return
		}
	}
	e.consequence("UP212", "behind "+e.script.what)
}

// firstOpened reports whether the first process's open returned behind the turn.
func (e *encounter) firstOpened() bool {
	for _, op := range e.log.Ops()[e.end:] {
		if m, ok := workload.ParseMark(op.Text); op.Kind == trace.Note && ok && m.What == "open" {
			return m.Event == workload.Returned
		}
	}
	return false
}

// readNow is a reader while the writer is in the middle of a call: what was acknowledged is
// there, and a line that is not whole yet is no damage.
func readNow(e *encounter) bool {
	l := e.life()
	end := crash.Cut{At: len(l.hist.Ops)}
	o, fsys := e.read()
	img := e.mem.Image()
	w := newWitness(l, e.judge.subject.File(), img, l.hist.Ops)
	v := oracle.Check(e.judge.contract, l.promise(end, oracle.Kill, false), w.look(img, o.Recovered.Tail), o)
	e.violations = append(e.violations, v.Violations...)
	if ops := fsys.Log().Ops(); len(ops) > 0 {
		e.violations = append(e.violations, oracle.Violation{
			Rule: "UP208", Text: "a reader wrote, or took the lock, while another process has the journal open",
			Want: []string{"no operation"}, Got: []string{ops[0].String()},
		})
	}
	return true
}

// killAndOpen kills the first process in the middle of its call.
func killAndOpen(e *encounter) bool {
	e.first.Kill()
	return secondWrites(e)
}

func judgeKilled(e *encounter) {
	if !e.admitted {
		e.violations = append(e.violations, oracle.Violation{
			Rule: "UP212", Text: "the owner was killed, and nobody can open the journal any more",
			Want: []string{"it opens: a lock goes with the process that holds it"}, Got: e.refusal,
		})
		return
	}
	e.consequence("UP212", "behind a killed owner")
}

// outsiders are programs that do not know the journal.
func outsiders() []script {
	aside := func(name string) string { return name + ".1" }
	empty := func(fsys afero.Fs, name string) error {
		f, err := fsys.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		return f.Close()
	}
	cut := func(share int64) func(fsys afero.Fs, name string, size int64) error {
		return func(fsys afero.Fs, name string, size int64) error {
			f, err := fsys.OpenFile(name, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			if err := f.Truncate(size * share / 2); err != nil {
				return err
			}
			return f.Close()
		}
	}
	var out []script
	for _, o := range []struct {
		name, what string
		do         func(fsys afero.Fs, name string, size int64) error
	}{
		{"rename", "an outsider renames the file away", func(fsys afero.Fs, name string, _ int64) error { return fsys.Rename(name, aside(name)) }},
		{"rotate", "an outsider renames the file away and puts an empty one in its place", func(fsys afero.Fs, name string, _ int64) error {
			if err := fsys.Rename(name, aside(name)); err != nil {
				return err
			}
			return empty(fsys, name)
		}},
		{"truncate", "an outsider cuts the file to nothing", cut(0)},
		{"halve", "an outsider cuts the file to half", cut(1)},
		{"remove", "an outsider removes the file", func(fsys afero.Fs, name string, _ int64) error { return fsys.Remove(name) }},
		{"recreate", "an outsider removes the file and puts an empty one in its place", func(fsys afero.Fs, name string, _ int64) error {
			if err := fsys.Remove(name); err != nil {
				return err
			}
			return empty(fsys, name)
		}},
	} {
		out = append(out, script{name: o.name, what: o.what, meddles: true, judge: judgeOutsider, play: func(e *encounter) bool {
			name := e.judge.subject.File()
			info, err := e.mem.Stat(name)
			if err != nil || info.IsDir() || info.Size() == 0 {
				return false // nothing is there to be meddled with
			}
			if err := o.do(e.layer(), name, info.Size()); err != nil {
				panic(fmt.Sprintf("the harness cannot meddle with %s: %v", path.Base(name), err))
			}
			return true
		}})
	}
	return out
}

// judgeOutsider holds that what the first process acknowledged behind the meddling is there for
// whoever opens the journal next. What the outsider destroyed is not its fault.
func judgeOutsider(e *encounter) {
	later := e.acked(e.end)
	if len(later) == 0 {
		return
	}
	o, _ := e.read()
	lost := missing(later, o.Recovered)
	if o.Class != oracle.OK {
		lost = later[0]
	}
	if lost == nil {
		return
	}
	got := oracle.Words(o.Recovered.Records)
	if o.Class != oracle.OK {
		got = []string{o.Class.String() + ": " + o.Err}
	}
	e.violations = append(e.violations, oracle.Violation{
		Rule: "UP212", Text: "the file changed under the open journal, and a record was acknowledged that nobody will find",
		Want: []string{"an error, or the record: " + oracle.Word(lost)}, Got: got,
	})
}

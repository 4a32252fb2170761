package explore

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sort"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// damage puts one fault at a time into the bytes of a cleanly closed log, where the
// contract says that it notices, and grades what recovery says: UP203. Nothing of it is a
// crash: these bytes were synced.
func (r *run) damage(ctx context.Context, seed uint64) error {
	if r.cfg.Damages <= 0 || r.cfg.Contract.Detect == oracle.DetectNothing || len(r.cfg.Plan.Rules) > 0 || r.stop() {
		return nil
	}
	img := r.closedLog()
	if img == nil {
		return nil
	}
	rng := rand.New(rand.NewPCG(seed, 0xda3a9e))
	whole := r.judge.recover(faultfs.New(faultfs.NewMem(img.Clone())))
	for range r.cfg.Damages {
		file, d, ok := r.draw(rng, img)
		if !ok || ctx.Err() != nil {
			break
		}
		r.grade(r.judge.damaged(img, whole, file, d), file, d)
	}
	return ctx.Err()
}

// closedLog is the disk after the workload and a clean close; nil, with a finding, if the
// subject fails at that.
func (r *run) closedLog() *image.Image {
	img, err := closed(r.judge, r.program)
	if err == nil {
		return img
	}
	r.noCrash(notClosed(err), "close")
	return nil
}

// draw picks a damage that the contract covers: any byte in front of the last line, or one
// that breaks the form of a line there.
func (r *run) draw(rng *rand.Rand, img *image.Image) (string, faultfs.Damage, bool) {
	files := logFiles(img, r.cfg.Subject.File())
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	for range 64 {
		if len(names) == 0 {
			break
		}
		name := names[rng.IntN(len(names))]
		data := img.Bytes(files[name])
		vouched := int64(bytes.LastIndexByte(bytes.TrimSuffix(data, []byte("\n")), '\n') + 1)
		if vouched < 2 {
			continue
		}
		d := drawDamage(rng, data[:vouched], r.cfg.Contract.Detect)
		if _, err := d.Apply(data); err == nil {
			return name, d, true
		}
	}
	return "", faultfs.Damage{}, false
}

func drawDamage(rng *rand.Rand, vouched []byte, detect oracle.Detect) faultfs.Damage {
	n, lines := int64(len(vouched)), int64(bytes.Count(vouched, []byte("\n")))
	kinds := []faultfs.DamageKind{faultfs.Nul, faultfs.Delete}
	if detect == oracle.DetectBytes {
		kinds = faultfs.DamageKinds()
	}
	d := faultfs.Damage{Kind: kinds[rng.IntN(len(kinds))]}
	switch d.Kind {
	case faultfs.Flip:
		d.Off, d.Bit = rng.Int64N(n), uint8(rng.IntN(8))
	case faultfs.Nul, faultfs.Delete:
		d.Off = rng.Int64N(n)
		d.Len = 1 + rng.Int64N(min(n-d.Off, 16))
		if d.Kind == faultfs.Delete && detect == oracle.DetectStructure { // the newline, so that two lines are glued
			d.Off, d.Len = int64(bytes.IndexByte(vouched[d.Off:], '\n'))+d.Off, 1
		}
	case faultfs.Duplicate, faultfs.DropLine:
		d.Off = 1 + rng.Int64N(lines)
	case faultfs.Swap, faultfs.Repeat:
		d.Off, d.Len = 1+rng.Int64N(lines), 1+rng.Int64N(lines)
	case faultfs.BadUTF8:
		d.Off = rng.Int64N(n)
	case faultfs.Truncate: // what a crash may leave says nothing of damage
		d.Kind, d.Off = faultfs.BadUTF8, rng.Int64N(n)
	case faultfs.Splice:
		d.Off, d.Len, d.Text = rng.Int64N(n), rng.Int64N(2), `\ud800`
	case faultfs.BOM, faultfs.CRLF, faultfs.Again:
	}
	return d
}

// answer is what a subject makes of a damaged log.
type answer struct {
	read       oracle.Outcome
	violations []oracle.Violation
}

// damaged recovers a closed log with one damage in it, and, when that is refused, opens it for
// writing too: that must be refused as well, and change nothing.
func (j *judge) damaged(img *image.Image, whole oracle.Outcome, file string, d faultfs.Damage) answer {
	bad := img.Clone()
	ino, ok := bad.Lookup(file)
	if !ok {
		return answer{read: oracle.Outcome{Class: oracle.NotFound, Err: file + " is not there"}}
	}
	data, err := d.Apply(bad.Bytes(ino))
	if err != nil {
		return answer{read: oracle.Outcome{Class: oracle.Failed, Err: err.Error()}}
	}
	bad.Truncate(ino, 0)
	bad.WriteAt(ino, data, 0)
	var a answer
	if !within(j.patience, func() { a = j.answer(bad, whole) }) {
		v := oracle.Violation{Rule: "UP203", Text: "damage was not answered", Want: []string{"a corruption error"}, Got: []string{"no answer in 30 s"}}
		return answer{oracle.Outcome{Class: oracle.Hung}, []oracle.Violation{v}}
	}
	return a
}

func (j *judge) answer(bad *image.Image, whole oracle.Outcome) (a answer) {
	fsys := faultfs.New(faultfs.NewMem(bad.Clone()), faultfs.WithOpLimit(opBudget))
	a.read = j.recover(fsys)
	if v := gradeOf(whole, a.read); v != nil {
		a.violations = append(a.violations, *v)
	}
	if ops := fsys.Log().Ops(); len(ops) > 0 {
		a.violations = append(a.violations, oracle.Violation{
			Rule: "UP208", Text: "a read-only recovery of a damaged log wrote, or took the lock",
			Want: []string{"no operation"}, Got: []string{ops[0].String()},
		})
	}
	if a.read.Class != oracle.Corrupt {
		return a
	}
	mem := faultfs.NewMem(bad.Clone())
	writing := faultfs.New(mem, faultfs.WithOpLimit(opBudget))
	d := workload.Driver{Subject: j.subject}
	_, end := j.drive(&d, writing, nil)
	opened, hash := d.Journal() != nil, mem.Image().Hash()
	j.letGo(&d)
	switch {
	case end != nil || opened:
		a.violations = append(a.violations, oracle.Violation{
			Rule: "UP208", Text: "an open for writing does not refuse a log that a read-only recovery refuses as damaged",
			Want: []string{a.read.Err}, Got: []string{"it opened"},
		})
	case hash != bad.Hash():
		a.violations = append(a.violations, oracle.Violation{
			Rule: "UP208", Text: "an open of a damaged log failed, and changed the files",
			Want: []string{"the same bytes and names"}, Got: changes(writing.Log().Ops()),
		})
	}
	return a
}

// grade counts one answer and adds its findings.
func (r *run) grade(a answer, file string, d faultfs.Damage) {
	g := &r.report.Coverage.Damage
	g.Tried++
	switch {
	case a.read.Class == oracle.Corrupt:
		g.Refused++
	case a.read.Class != oracle.OK:
		g.Other++
	case a.read.Recovered.Tail.Length > 0:
		g.Tail++
	case len(a.violations) == 0:
		g.Exact++
	default:
		g.Silent++
	}
	for _, v := range a.violations {
		p := &report.Repro{
			Subject: r.cfg.Subject.Name, Bug: r.cfg.Bug, Contract: r.cfg.Contract.Name, Expect: v.Rule,
			Program: r.program, Damage: d.String(), File: file, Comment: []string{v.Text},
		}
		r.finds.add(found{violation: violation{v, ""}}, func(x found) *report.Finding {
			f := r.describe(x)
			f.Story = damageStory(d.String(), file)
			f.File = p
			return f
		})
	}
}

func damageStory(d, file string) string {
	return fmt.Sprintf("the workload · close · everything synced · DAMAGE (%s in %s)", d, file)
}

// gradeOf is UP203: damage that the contract notices is refused. Damage that changes
// nothing of what is returned does no harm.
func gradeOf(whole, o oracle.Outcome) *oracle.Violation {
	v := &oracle.Violation{Rule: "UP203", Want: []string{"a corruption error"}}
	switch {
	case o.Class == oracle.Corrupt:
		return nil
	case o.Class != oracle.OK:
		v.Text, v.Got = "damage was answered with another error than corruption", []string{o.Class.String() + ": " + o.Err}
		return v
	case oracle.Repeats(whole.Recovered.Records, o.Recovered.Records) && o.Recovered.Tail.Length > 0:
		return nil // everything is there, and what was added behind it is reported
	case oracle.Repeats(whole.Recovered.Records, o.Recovered.Records):
		v.Text = "a damaged log was read as if nothing had happened"
	case o.Recovered.Tail.Length > 0:
		v.Text = "damage to synced bytes was reported as a partial tail"
	default:
		v.Text = "damage to synced bytes changed what recovery returns, without a word"
	}
	v.Got = oracle.Words(o.Recovered.Records)
	return v
}

// replayDamage performs a repro of UP203.
func (j *judge) replayDamage(p *report.Repro) (*Replayed, error) {
	rule, err := faultfs.ParseRule("after sync * 1 -> " + p.Damage) // a damage is spelt as in a plan
	if err != nil {
		return nil, fmt.Errorf("damage %q: %w", p.Damage, err)
	}
	img, err := closed(j, p.Program)
	if err != nil {
		return nil, err
	}
	whole := j.recover(faultfs.New(faultfs.NewMem(img.Clone())))
	a := j.damaged(img, whole, p.File, rule.Fault.Damage)
	return replayed(p, a.violations, damageStory(p.Damage, p.File)), nil
}

package explore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sort"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
)

// damage puts one fault at a time into the bytes of a cleanly closed log, where the
// contract says that it notices, and grades what recovery says: UP203. Nothing of it is a
// crash: these bytes were synced.
func (r *run) damage(seed uint64) {
	if r.cfg.Damages <= 0 || r.cfg.Contract.Detect == oracle.DetectNothing || len(r.cfg.Plan.Rules) > 0 || r.stop() {
		return
	}
	img, err := closed(r.judge, r.program)
	if err != nil {
		r.finds.add(found{violation{oracle.Violation{
			Rule: "UP206", Text: "closing after the workload failed, with no crash and no fault",
			Want: []string{"it closes"}, Got: []string{err.Error()},
		}, ""}, nil}, r.describe)
		return
	}
	rng := rand.New(rand.NewPCG(seed, 0xda3a9e))
	whole := r.judge.recover(faultfs.New(faultfs.NewMem(img.Clone())))
	for range r.cfg.Damages {
		file, d, ok := r.draw(rng, img)
		if !ok {
			return
		}
		o, changed := r.judge.damaged(img, file, d)
		r.grade(whole, o, changed, file, d)
	}
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
	kinds := []faultfs.DamageKind{faultfs.Nul, faultfs.Duplicate, faultfs.Swap, faultfs.Delete}
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
	case faultfs.Duplicate:
		d.Off = 1 + rng.Int64N(lines)
	case faultfs.Swap:
		d.Off, d.Len = 1+rng.Int64N(lines), 1+rng.Int64N(lines)
	case faultfs.BadUTF8:
		d.Off = rng.Int64N(n)
	case faultfs.BOM, faultfs.CRLF:
	}
	return d
}

// damaged recovers a closed log with one damage in it. It also says whether the recovery
// changed anything.
func (j *judge) damaged(img *image.Image, file string, d faultfs.Damage) (o oracle.Outcome, changed bool) {
	bad := img.Clone()
	ino, ok := bad.Lookup(file)
	if !ok {
		return oracle.Outcome{Class: oracle.NotFound, Err: file + " is not there"}, false
	}
	data, err := d.Apply(bad.Bytes(ino))
	if err != nil {
		return oracle.Outcome{Class: oracle.Failed, Err: err.Error()}, false
	}
	bad.Truncate(ino, 0)
	bad.WriteAt(ino, data, 0)
	fsys := faultfs.New(faultfs.NewMem(bad), faultfs.WithOpLimit(opBudget))
	o = j.recover(fsys)
	return o, fsys.Log().Len() > 0
}

// grade counts one answer, and finds UP203 where it is not a refusal.
func (r *run) grade(whole, o oracle.Outcome, changed bool, file string, d faultfs.Damage) {
	g := &r.report.Coverage.Damage
	g.Tried++
	v := gradeOf(whole, o)
	switch {
	case o.Class == oracle.Corrupt:
		g.Refused++
	case v == nil:
		g.Exact++
	case o.Recovered.Tail.Length > 0:
		g.Tail++
	default:
		g.Silent++
	}
	if changed && v == nil {
		v = &oracle.Violation{Rule: "UP208", Text: "a read-only recovery of a damaged log wrote", Want: []string{"no operation"}, Got: []string{"some"}}
	}
	if v == nil {
		return
	}
	p := &report.Repro{
		Subject: r.cfg.Subject.Name, Bug: r.cfg.Bug, Contract: r.cfg.Contract.Name, Expect: v.Rule,
		Program: r.program, Damage: d.String(), File: file, Comment: []string{v.Text},
	}
	r.finds.add(found{violation{*v, ""}, nil}, func(x found) *report.Finding {
		f := r.describe(x)
		f.Story = fmt.Sprintf("the workload · close · everything synced · DAMAGE (%s in %s)", d, file)
		f.File = p
		return f
	})
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
	o, changed := j.damaged(img, p.File, rule.Fault.Damage)
	var found []oracle.Violation
	if v := gradeOf(whole, o); v != nil {
		found = append(found, *v)
	}
	if changed {
		found = append(found, oracle.Violation{Rule: "UP208", Text: "a read-only recovery of a damaged log wrote"})
	}
	return replayed(p, found, "the workload · close · DAMAGE ("+p.Damage+" in "+p.File+")"), nil
}

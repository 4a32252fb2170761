package explore

import (
	"slices"
	"sort"
	"strings"

	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// findings collects broken promises: one finding for each rule, model and scene, that with the
// fewest crashes and then the first in the order of enumeration, and how many states broke
// the rule.
type findings struct {
	list  []*report.Finding
	by    map[[4]string]int // rule, model, scene, and the wording if that counts
	times int
	words bool // each wording of a rule is a finding of its own
}

func newFindings(words bool) *findings { return &findings{by: map[[4]string]int{}, words: words} }

func (f *findings) any() bool { return len(f.list) > 0 }

// has reports whether a rule was broken.
func (f *findings) has(rule string) bool {
	return slices.ContainsFunc(f.list, func(x *report.Finding) bool { return x.ID == rule })
}

// add counts a violation; describe is called when it is the one to tell.
func (f *findings) add(x found, describe func(found) *report.Finding) {
	f.times++
	k := [4]string{x.Rule, x.model, x.scene}
	if f.words {
		k[3] = strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1 // which record it was does not count
			}
			return r
		}, x.Text)
	}
	i, known := f.by[k]
	if !known {
		f.by[k] = len(f.list)
		f.list = append(f.list, describe(x))
		return
	}
	old := f.list[i]
	if old.File != nil && x.c != nil && x.c.life.depth+1 < len(old.File.Cuts) {
		times := old.Times
		f.list[i] = describe(x)
		f.list[i].Times = times
	}
	f.list[i].Times++
}

// sorted are the findings: those of crashes before those of scenes, fewest crashes first, then what recovery itself shows before what
// shows later, then by rule.
func (f *findings) sorted() []report.Finding {
	out := make([]report.Finding, 0, len(f.list))
	for _, x := range f.list {
		out = append(out, *x)
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := out[i], out[j]
		if x, y := a.Scene != "", b.Scene != ""; x != y {
			return y // what a crash of the workload shows needs no further fault to be told
		}
		if da, db := depth(a), depth(b); da != db {
			return da < db
		}
		if a.Later != b.Later {
			return b.Later
		}
		return a.ID < b.ID
	})
	return out
}

func depth(f report.Finding) int {
	if f.File == nil {
		return 0
	}
	return len(f.File.Cuts)
}

// describe makes the finding that a person reads out of a violation.
func (r *run) describe(x found) *report.Finding {
	rule, _ := oracle.FindRule(x.Rule)
	f := &report.Finding{ID: x.Rule, Name: rule.Name, Model: x.model, Scene: x.scene, Text: x.Text, Want: x.Want, Got: x.Got, Times: 1, Later: x.Then != ""}
	if x.c == nil {
		f.Story = storyless
		return f
	}
	f.Story = story(x.c, x.Then)
	f.File = r.repro(x)
	return f
}

// repro is the file that reruns a violation: only the steps that the first crash can see.
func (r *run) repro(x found) *report.Repro {
	cuts := append(slices.Clip(x.c.life.chain), x.c.cut)
	cuts[len(cuts)-1].Choice = x.c.state.Choice()
	p := &report.Repro{
		Subject: r.cfg.Subject.Name, Bug: r.cfg.Bug, Contract: r.cfg.Contract.Name, Expect: x.Rule,
		Program: r.until(cuts[0]), Cuts: cuts, Comment: []string{x.Text, story(x.c, x.Then)},
	}
	for _, rule := range r.cfg.Plan.Rules {
		p.Plan = append(p.Plan, rule.String())
	}
	return p
}

// until drops the steps that come after a cut: a program's trace begins with the trace of
// every program that it begins with.
func (r *run) until(cut report.Cut) workload.Program {
	need := cut.At
	if cut.Inside {
		need++
	}
	n := sort.Search(len(r.program), func(n int) bool {
		l, _, _ := drive(r.judge, r.program[:n], r.cfg.Plan)
		return l != nil && len(l.hist.Ops) >= need
	})
	return r.program[:n]
}

package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/unplug-go/unplug/scenarios/oracle"
)

// DefaultWidth is the width in columns that text is laid out for when nothing else is said.
const DefaultWidth = 96

// Text is how to lay out a report for a person. The zero value is [DefaultWidth] without colour.
type Text struct {
	Width int  // columns; below 60 it is taken as 60
	Color bool // ANSI colours
	Quiet bool // findings and the verdict only
}

// WriteText writes the report for a person: a table of the models, what was reached, the
// findings with their stories, and the verdict in the last line. The error is the writer's.
func (r *Report) WriteText(w io.Writer, t Text) error {
	p := newPrinter(w, t)
	if !t.Quiet {
		p.header(r)
		p.table(r)
		p.reached(r)
	}
	p.refused(r)
	p.findings(r.Violations)
	p.baseline(r)
	for i := range r.Vacuity {
		p.finding(&r.Vacuity[i], "INCONCLUSIVE")
	}
	if !t.Quiet {
		for _, n := range r.Notes {
			p.field("note", n)
		}
	}
	p.verdict(r)
	return p.err
}

// WriteText writes one finding for a person, as a report does. The error is the writer's.
func (f *Finding) WriteText(w io.Writer, t Text) error {
	p := newPrinter(w, t)
	p.finding(f, "FAIL")
	return p.err
}

// baseline tells what was found and accepted, and what was accepted and not found.
func (p *printer) baseline(r *Report) {
	for i := range r.Accepted {
		f := &r.Accepted[i]
		p.tagged(yellow, "ACCEPTED", fmt.Sprintf("%s %s · %s", f.ID, f.Hash(), f.Story))
	}
	for _, e := range r.Stale {
		p.tagged(yellow, "STALE", fmt.Sprintf("%s %s was not found again: take it out of the baseline · %s", e.Rule, e.Hash, e.Comment))
	}
	if len(r.Accepted)+len(r.Stale) > 0 {
		p.line("")
	}
}

// findings tells the first finding of each rule in full, and of the other models under
// which the same rule broke only how often, and the line that reruns it.
func (p *printer) findings(all []Finding) {
	told := map[string]bool{}
	for i := range all {
		f := &all[i]
		if told[f.ID] {
			continue
		}
		told[f.ID] = true
		var also []*Finding
		for j := i + 1; j < len(all); j++ {
			if all[j].ID == f.ID {
				also = append(also, &all[j])
			}
		}
		p.finding(f, "FAIL", also...)
	}
}

// header says what was tortured.
func (p *printer) header(r *Report) {
	parts := []string{"torture " + r.Subject}
	if r.Bug != "" {
		parts = append(parts, "bug "+r.Bug)
	}
	parts = append(parts, "contract "+r.Contract)
	if r.Rounds > 1 {
		parts = append(parts, fmt.Sprintf("%d rounds, seeds %d to %d", r.Rounds, r.Seed, r.Seed+uint64(r.Rounds)-1))
	} else {
		parts = append(parts, fmt.Sprintf("seed %d", r.Seed))
	}
	for _, l := range wrap(strings.Join(append(parts, plural(r.Ops, "step")), " · "), p.width) {
		p.line("%s", p.paint(bold, l))
	}
	p.line("")
}

// table has a row for each model.
func (p *printer) table(r *Report) {
	const row = "  %-12s %5s %9s %9s %9s %7s %7s %5s %s"
	p.line(row, "model", "tear", "states", "of", "unique", "tails", "refused", "bad", "walked")
	for _, m := range r.Models {
		walked := "sampled"
		if m.Exhaustive {
			walked = "all"
		}
		line := fmt.Sprintf(row, m.Model, group(m.Tear), group(m.States), huge(m.Of), group(m.Unique),
			group(m.Tails), group(m.Refused), group(m.Violations), walked)
		if m.Violations > 0 {
			line = p.paint(red, line)
		}
		p.line("%s", line)
		if m.Lost+m.Detected > 0 {
			p.line("  %-12s %s lost, %s detected or whole; seen only from outside", "", group(m.Lost), group(m.Detected))
		}
	}
	p.line("")
}

// reached says what the run covered beside the table.
func (p *printer) reached(r *Report) {
	for _, n := range r.Coverage.Nested {
		how := "a seeded sample of them"
		if n.All {
			how = "every one"
		}
		bad := ""
		if n.Bad > 0 {
			bad = fmt.Sprintf(", %s bad", group(n.Bad))
		}
		p.field("nested", fmt.Sprintf("level %d: %s of %s recoveries crashed in their turn, %s · %s states, %s unique%s",
			n.Level, group(n.Lives), group(n.Of), how, group(n.States), group(n.Unique), bad))
	}
	p.damage(&r.Coverage.Damage)
	for i := range r.Coverage.Scenes {
		p.field(r.Coverage.Scenes[i].Name, scene(&r.Coverage.Scenes[i]))
	}
	p.field("coverage", coverage(&r.Coverage))
	if r.Survived != "" {
		p.field("survives", r.Survived+" (the weakest model without a violation)")
	}
	p.line("")
}

// scene is the line about one scene.
func scene(s *Scene) string {
	if s.Skipped != "" {
		return "not run: " + s.Skipped
	}
	line := fmt.Sprintf("%s %s tried, %s bad", group(s.Tried), s.Of, group(s.Bad))
	if s.Note != "" {
		line += "; " + s.Note
	}
	return line
}

// coverage is the line about cuts.
func coverage(c *Coverage) string {
	parts := []string{fmt.Sprintf("%s of %s cuts", group(c.Reached), group(c.Cuts))}
	for _, k := range kindsOf(c) {
		parts = append(parts, fmt.Sprintf("%s %s", k, group(c.Kinds[k])))
	}
	switch {
	case len(c.Never) > 0:
		parts = append(parts, "NEVER REACHED: "+strings.Join(c.Never, ", "))
	case c.Complete:
		parts = append(parts, "complete")
	}
	return strings.Join(parts, " · ")
}

// refused is loud about legal states that do not open.
func (p *printer) refused(r *Report) {
	n := r.Refused()
	if n == 0 {
		return
	}
	p.tagged(yellow, "REFUSED", fmt.Sprintf("%s legal crash states do not open: contract %s accepts that, and they are not counted as passed; contract watermark opens them (torture reference-watermark).",
		group(n), r.Contract))
	p.line("")
}

// finding is one broken promise, or one reason why the run proves nothing; also are findings
// of the same rule.
func (p *printer) finding(f *Finding, tag string, also ...*Finding) {
	head := fmt.Sprintf("%s %s %s", tag, f.ID, f.Name)
	color := red
	if tag != "FAIL" {
		color = yellow
	}
	right := where(f)
	switch gap := p.width - columns(head) - columns(right); {
	case right == "":
		p.line("%s", p.paint(color, head))
	case gap > 2:
		p.line("%s%s%s", p.paint(color, head), strings.Repeat(" ", gap), right)
	default:
		p.line("%s", p.paint(color, head))
		p.field("model", right)
	}
	p.field("what", f.Text)
	if f.Story != "" {
		p.field("story", f.Story)
	}
	if len(f.Want)+len(f.Got) > 0 {
		same := common(f.Want, f.Got)
		p.items("want", f.Want, same)
		p.items("got", f.Got, same)
	}
	if f.Shrunk != "" {
		p.field("shrunk", f.Shrunk)
	}
	if f.Blame != "" {
		p.field("blame", f.Blame)
	}
	if f.Repro != "" {
		p.field("repro", f.Repro)
	}
	if f.Rerun != "" {
		p.whole("rerun", f.Rerun)
	}
	for _, o := range also {
		p.whole("also", strings.TrimSuffix(where(o)+" · "+o.Rerun, " · "))
	}
	if rule, ok := oracle.FindRule(f.ID); ok {
		p.field("next", rule.Next)
	}
	p.line("")
}

// where is the model of a finding, and how many states broke the rule there.
func where(f *Finding) string {
	var parts []string
	for _, word := range []string{f.Model, f.Scene} {
		if word != "" {
			parts = append(parts, word)
		}
	}
	if f.Times > 1 {
		parts = append(parts, group(f.Times)+" states")
	}
	return strings.Join(parts, " · ")
}

// verdict is the last line.
func (p *printer) verdict(r *Report) {
	text := fmt.Sprintf("%s states, %s unique", group(r.States), group(r.Unique))
	if r.Rounds > 1 {
		text += fmt.Sprintf("; %d rounds from seed %d", r.Rounds, r.Seed)
	}
	if n := r.Refused(); n > 0 {
		text += fmt.Sprintf("; %s refused", group(n))
	}
	if r.Elapsed > 0 {
		text += fmt.Sprintf("; %s, %s states/s", seconds(r.Elapsed), group(int(r.Rate)))
	}
	if n := len(r.Accepted); n > 0 {
		text += "; " + plural(n, "accepted finding")
	}
	if n := len(r.Stale); n > 0 {
		text += fmt.Sprintf("; %d stale in the baseline", n)
	}
	switch {
	case r.Interrupted && !r.Failed():
		p.tagged(yellow, "INTERRUPTED", "nothing broken so far: "+text)
	case r.Failed():
		p.tagged(red, "FAIL", fmt.Sprintf("contract %s broken (%s): %s", r.Contract, rules(r.Violations), text))
	case r.Inconclusive():
		p.tagged(yellow, "INCONCLUSIVE", fmt.Sprintf("proves nothing (%s): %s", rules(r.Vacuity), text))
	case len(r.Accepted) > 0:
		p.tagged(green, "OK", fmt.Sprintf("nothing new: contract %s is broken only as the baseline accepts: %s", r.Contract, text))
	default:
		p.tagged(green, "OK", fmt.Sprintf("contract %s kept: %s", r.Contract, text))
	}
}

// rules are the IDs that findings are about, in their order.
func rules(findings []Finding) string {
	var ids []string
	for _, f := range findings {
		if !slices.Contains(ids, f.ID) {
			ids = append(ids, f.ID)
		}
	}
	return strings.Join(ids, ", ")
}

package main

import (
	"fmt"
	"strings"

	"github.com/unplug-go/unplug/scenarios/report"
)

// inspectText prints what is known of a log.
func (a *app) inspectText(x *examined, f *examineFlags) error {
	p := a.text().Page(a.stdout)
	var size int64
	lines := 0
	for _, s := range x.Files {
		size += s.Bytes
		lines += s.Lines
	}
	p.Heading(fmt.Sprintf("%s · %s bytes · %s · contract %s", x.File, count(size), plural(lines, "line"), x.Contract))
	if !a.quiet {
		x.summary(p)
	}
	if f.lines {
		x.list(p)
	}
	x.findings(p)
	x.verdict(p)
	return p.Err()
}

// summary says what the log holds.
func (x *examined) summary(p *report.Page) {
	if len(x.Files) > 1 {
		var parts []string
		for _, s := range x.Files {
			parts = append(parts, fmt.Sprintf("%s: %s", s.Path, plural(s.Lines, "line")))
		}
		p.Field("files", strings.Join(parts, " · "))
	}
	switch {
	case x.Events > 0:
		p.Field("events", count(int64(x.Events))+": "+x.kinds())
		p.Field("checked", fmt.Sprintf("%s by a checksum of their own, %s have none", count(int64(x.Events-x.Unchecked)), count(int64(x.Unchecked))))
	case x.code == exitClean || x.Verdict == "tail":
		p.Field("events", "none")
	}
	if t := x.Trusted; t.Bytes > 0 {
		text := fmt.Sprintf("lines 1 to %s, bytes 0 to %s of %s", count(int64(t.Lines)), count(t.Bytes), t.Path)
		if t.Path != x.Files[0].Path {
			text += ", and all of the files before it"
		}
		p.Field("trusted", text)
	} else {
		p.Field("trusted", "nothing: not one line is whole")
		if x.Verdict == "clean" {
			p.Field("", "(the file is empty, as a crash right after its creation leaves it)")
		}
	}
	p.Line("")
}

// list shows where each event is, and not what it says.
func (x *examined) list(p *report.Page) {
	p.Line("%14s %9s %9s  %s", "offset", "length", "sequence", "type")
	for _, e := range x.listed {
		unchecked := ""
		if !e.checked {
			unchecked = "  (no checksum)"
		}
		p.Line("%14s %9s %9s  %s%s", count(e.offset), count(int64(e.length)), count(e.sequence), e.kind, unchecked)
	}
	p.Line("")
}

// findings says what is wrong, and where.
func (x *examined) findings(p *report.Page) {
	if len(x.Findings) == 0 {
		return
	}
	p.Line("%10s %14s  %s", "line", "offset", "finding")
	for _, f := range x.Findings {
		p.Line("%10s %14s  %s %s", count(int64(f.Line)), count(f.Offset), f.ID, f.Name)
		p.Field("what", f.Text)
		if f.Content != "" {
			p.Field("content", f.Content)
		}
		if rule, ok := findRule(f.ID); ok {
			p.Field("next", rule.Next)
		}
	}
	p.Line("")
}

// verdict is the last line.
func (x *examined) verdict(p *report.Page) {
	next := ""
	if len(x.Findings) > 0 {
		next = "Next: unplug explain " + x.Findings[0].ID
	}
	switch x.Verdict {
	case "clean":
		p.Verdict(report.Good, "CLEAN", strings.TrimSpace(plural(x.Events, "event")+". "+next))
	case "tail":
		p.Verdict(report.Odd, "PARTIAL TAIL", next)
	case "unsupported":
		p.Verdict(report.Odd, "UNSUPPORTED", next)
	default:
		p.Verdict(report.Bad, "DAMAGED", next)
	}
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return count(int64(n)) + " " + noun
}

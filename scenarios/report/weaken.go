package report

import (
	"encoding/json"
	"fmt"
	"io"
)

// WeakenSchema names the JSON form of [Weakening].
const WeakenSchema = "unplug.weaken/v1"

// What became of a run without one sync.
const (
	// Noticed: the suite found a broken promise.
	Noticed = "noticed"
	// Redundant: it did not, and the recorded runs show why nobody needs the sync.
	Redundant = "redundant"
	// Blind: it did not, and something that was promised rested on the sync.
	Blind = "blind"
)

// Weakening is the suite's check of itself: the subject without one of its syncs, for each.
type Weakening struct {
	Schema      string     `json:"schema"`
	Subject     string     `json:"subject"`
	Bug         string     `json:"bug,omitempty"`
	Contract    string     `json:"contract"`
	Seed        uint64     `json:"seed"`
	Ops         int        `json:"ops"`
	Syncs       []WeakSync `json:"syncs"`
	Interrupted bool       `json:"interrupted,omitempty"`
	Elapsed     float64    `json:"elapsed_seconds"`
}

// WeakSync is one sync that was dropped, wherever the subject calls it from that place.
type WeakSync struct {
	Call    string `json:"call"`            // sync or syncdir
	Path    string `json:"path"`            // the file or folder; segments count as one file
	Place   string `json:"place"`           // in the subject's code, innermost caller first
	Times   int    `json:"times"`           // how often the recorded runs called it
	Verdict string `json:"verdict"`         // noticed, redundant or blind
	Rule    string `json:"rule,omitempty"`  // noticed: the rule that broke first
	Model   string `json:"model,omitempty"` // … and the model
	Text    string `json:"text"`            // what broke, or why it is redundant, or what rested on it
	Story   string `json:"story,omitempty"`
	States  int    `json:"states"` // that were judged without it
}

// States is how many states were judged in all.
func (w *Weakening) States() int {
	n := 0
	for i := range w.Syncs {
		n += w.Syncs[i].States
	}
	return n
}

// Count is how many syncs have a verdict.
func (w *Weakening) Count(verdict string) int {
	n := 0
	for i := range w.Syncs {
		if w.Syncs[i].Verdict == verdict {
			n++
		}
	}
	return n
}

// WriteJSON writes one object on one line. The error is the writer's.
func (w *Weakening) WriteJSON(out io.Writer) error {
	c := *w
	if c.Syncs == nil {
		c.Syncs = []WeakSync{}
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return enc.Encode(&c)
}

// WriteText writes a table for a person, blind syncs first, and the verdict in the last line.
// The error is the writer's.
func (w *Weakening) WriteText(out io.Writer, t Text) error {
	p := newPrinter(out, t)
	p.line("%s", p.paint(bold, fmt.Sprintf("weaken %s · contract %s · seed %d · %s · one sync dropped at a time", w.Subject, w.Contract, w.Seed, plural(w.Ops, "step"))))
	p.line("")
	for _, v := range []struct{ verdict, tag, color string }{{Blind, "BLIND", red}, {Redundant, "redundant", yellow}, {Noticed, "noticed", green}} {
		for i := range w.Syncs {
			if s := &w.Syncs[i]; s.Verdict == v.verdict && (!t.Quiet || v.verdict == Blind) {
				p.weak(s, v.tag, v.color)
			}
		}
	}
	p.weakVerdict(w)
	return p.err
}

// weak is one sync.
func (p *printer) weak(s *WeakSync, tag, color string) {
	p.tagged(color, tag, fmt.Sprintf("%s %s", s.Call, s.Path))
	p.field("at", s.Place)
	why := s.Text
	if s.Rule != "" {
		why = fmt.Sprintf("%s under %s: %s", s.Rule, s.Model, s.Text)
	}
	p.field("why", why)
}

// weakVerdict is the last line.
func (p *printer) weakVerdict(w *Weakening) {
	p.line("")
	text := fmt.Sprintf("%s dropped: %d noticed, %d redundant, %d blind; %s states", plural(len(w.Syncs), "sync"),
		w.Count(Noticed), w.Count(Redundant), w.Count(Blind), group(w.States()))
	if w.Elapsed > 0 {
		text += "; " + seconds(w.Elapsed)
	}
	switch {
	case w.Interrupted:
		p.tagged(yellow, "INTERRUPTED", text)
	case w.Count(Blind) > 0:
		p.tagged(red, "BLIND", text)
	case len(w.Syncs) == 0:
		p.tagged(yellow, "INCONCLUSIVE", "the subject never synced")
	default:
		p.tagged(green, "OK", text)
	}
}

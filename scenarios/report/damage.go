package report

import (
	"fmt"
	"strings"
)

// Damage grades recoveries of cleanly closed logs with damaged bytes.
type Damage struct {
	// Grades of damage that the contract says is noticed.
	Grades
	// Excused are grades of damage that the contract does not vouch for: in the last line, of a kind
	// that the format cannot show, or what a crash may have left as well.
	Excused Grades       `json:"excused"`
	Unique  int          `json:"unique"` // told apart by bytes
	Kinds   []DamageKind `json:"kinds"`
	Logs    []DamagedLog `json:"logs"`
}

// DamageKind grades one kind of damage.
type DamageKind struct {
	Kind string `json:"kind"`
	Of   int    `json:"of"` // places for it, in all logs
	Grades
	Excused Grades `json:"excused"`
}

// DamagedLog is a log and how much of what can be done to it was done.
type DamagedLog struct {
	Log   string `json:"log"`   // "whole", that of the workload, or "small", that of its shortest steps
	Bytes int    `json:"bytes"` // of the largest, if there was more than one round
	Tried int    `json:"tried"`
	Of    int    `json:"of"` // places for damage: each byte and each line, by each kind
}

// Grades counts what was answered to damage.
type Grades struct {
	Tried   int `json:"tried"`
	Refused int `json:"refused"`      // a corruption error
	Tail    int `json:"tail"`         // a tail was reported, and what is before it returned
	Exact   int `json:"exact"`        // everything was returned all the same
	Over    int `json:"over_refused"` // a corruption error for what a crash may have left, too
	Silent  int `json:"silent"`       // fewer or other records, without a word
	Other   int `json:"other"`        // another error, a panic, no answer
	Bad     int `json:"violations"`   // of all these, answers that break a promise
}

// Add adds what another count has.
func (g *Grades) Add(o Grades) {
	g.Tried += o.Tried
	g.Refused += o.Refused
	g.Tail += o.Tail
	g.Exact += o.Exact
	g.Over += o.Over
	g.Silent += o.Silent
	g.Other += o.Other
	g.Bad += o.Bad
}

// words are the counts with their words: those that are not nothing, or are always told.
func (g *Grades) words(always bool) []string {
	var out []string
	for i, n := range []int{g.Refused, g.Tail, g.Exact, g.Silent, g.Over, g.Other} {
		if n > 0 || always && i < 4 {
			out = append(out, group(n)+[]string{" refused", " reported as a tail", " returned whole", " silent", " over-refused", " answered otherwise"}[i])
		}
	}
	return out
}

// Complete reports whether everything was done to a log that can be done to it.
func (l *DamagedLog) Complete() bool { return l.Tried == l.Of }

// damage says what became of damaged logs.
func (p *printer) damage(d *Damage) {
	if d.Tried+d.Excused.Tried == 0 {
		return
	}
	var parts []string
	if d.Tried > 0 {
		parts = append(parts, fmt.Sprintf("%s tried: %s", group(d.Tried), strings.Join(d.words(true), ", ")))
	}
	if d.Excused.Tried > 0 {
		parts = append(parts, fmt.Sprintf("%s that the contract does not vouch for: %s", group(d.Excused.Tried), strings.Join(d.Excused.words(false), ", ")))
	}
	for i := range d.Logs {
		parts = append(parts, damagedLog(&d.Logs[i]))
	}
	p.field("damage", strings.Join(parts, " · "))
	kinds := make([]string, 0, len(d.Kinds))
	for i := range d.Kinds {
		kinds = append(kinds, d.Kinds[i].String())
	}
	if len(kinds) > 0 {
		p.field("by kind", strings.Join(kinds, " · "))
	}
}

// damagedLog says how much was done to a log.
func damagedLog(l *DamagedLog) string {
	what := map[string]string{"small": "a small log"}[l.Log]
	if what == "" {
		what = "the log"
	}
	if l.Complete() {
		return fmt.Sprintf("%s of %s bytes: every byte and line, by every kind", what, group(l.Bytes))
	}
	return fmt.Sprintf("%s of %s bytes: a seeded sample, %s of %s", what, group(l.Bytes), group(l.Tried), group(l.Of))
}

// String is the kind with its grades: where the contract excuses it in brackets.
func (k *DamageKind) String() string {
	var parts []string
	if k.Tried > 0 {
		parts = append(parts, strings.Join(k.words(false), ", "))
	}
	if k.Excused.Tried > 0 {
		parts = append(parts, "("+strings.Join(k.Excused.words(false), ", ")+")")
	}
	return k.Kind + " " + strings.Join(parts, " ")
}

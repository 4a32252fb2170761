package report

import (
	"fmt"
	"io"

	"github.com/unplug-go/unplug/scenarios/oracle"
)

// Tone is how good the news of a verdict is.
type Tone uint8

// The tones.
const (
	Good Tone = iota
	Odd
	Bad
)

// Page lays out what other parts of a program tell a person, in the looks of a report.
type Page struct{ p *printer }

// Page begins a page on w.
func (t Text) Page(w io.Writer) *Page { return &Page{newPrinter(w, t)} }

// Err is the writer's first error; nothing is written after it.
func (p *Page) Err() error { return p.p.err }

// Heading is a line that stands out.
func (p *Page) Heading(text string) { p.p.line("%s", p.p.paint(bold, printable(text))) }

// Line is a line as it is.
func (p *Page) Line(format string, args ...any) {
	p.p.line("%s", printable(fmt.Sprintf(format, args...)))
}

// Field is a name and a text that goes on below itself.
func (p *Page) Field(name, text string) { p.p.field(name, text) }

// Verdict is a word that stands out, and a text that goes on below itself.
func (p *Page) Verdict(tone Tone, word, text string) {
	p.p.tagged([...]string{Good: green, Odd: yellow, Bad: red}[tone], word, printable(text))
}

// Rule explains a rule.
func (p *Page) Rule(r oracle.Rule) {
	p.Heading(r.ID + " " + r.Name)
	p.Field("holds", r.What)
	p.Field("risk", r.Risk)
	p.Field("next", r.Next)
}

package faultfs

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ParseError says where a plan is wrong and what would be right.
type ParseError struct {
	Line   int    // from 1
	Column int    // of Word, in bytes, from 1; behind the end of the line if a word is missing
	Word   string // empty if a word is missing
	Want   string // what is wrong, or what may stand there
}

// Error gives place, word and what may stand there.
func (e *ParseError) Error() string {
	if e.Word == "" {
		return fmt.Sprintf("plan line %d, column %d: the line ends early: %s", e.Line, e.Column, e.Want)
	}
	return fmt.Sprintf("plan line %d, column %d: %q: %s", e.Line, e.Column, e.Word, e.Want)
}

// ParsePlan reads a plan, a rule a line; the package comment has the grammar. Errors are of
// type [*ParseError].
func ParsePlan(text string) (Plan, error) {
	var plan Plan
	for i, line := range strings.Split(text, "\n") {
		p := parser{line: i + 1, end: len(line) + 1}
		p.split(line)
		if len(p.tokens) == 0 && p.err == nil {
			continue
		}
		rule := p.rule()
		if p.err != nil {
			return Plan{}, p.err
		}
		plan.Rules = append(plan.Rules, rule)
	}
	return plan, nil
}

// ParseRule reads one rule.
func ParseRule(text string) (Rule, error) {
	plan, err := ParsePlan(text)
	if err == nil && len(plan.Rules) != 1 {
		err = &ParseError{Line: 1, Column: 1, Want: fmt.Sprintf("want one rule, not %d", len(plan.Rules))}
	}
	if err != nil {
		return Rule{}, err
	}
	return plan.Rules[0], nil
}

type token struct {
	text string
	col  int
}

// parser reads one line. Its first error stays; later calls give zero values.
type parser struct {
	line, end int
	tokens    []token
	last      token
	err       error
}

// split cuts a line into words; a word may be quoted as in Go.
func (p *parser) split(line string) {
	for i := 0; i < len(line); {
		if strings.IndexByte(" \t\r", line[i]) >= 0 {
			i++
			continue
		}
		if line[i] == '#' {
			return
		}
		if line[i] == '"' {
			quoted, err := strconv.QuotedPrefix(line[i:])
			if err != nil {
				p.last = token{line[i:], i + 1}
				p.wrong("the quoted word does not end, or has an escape that Go does not know")
				return
			}
			word, _ := strconv.Unquote(quoted)
			p.tokens = append(p.tokens, token{word, i + 1})
			i += len(quoted)
			continue
		}
		n := strings.IndexAny(line[i:], " \t\r")
		if n < 0 {
			n = len(line) - i
		}
		p.tokens = append(p.tokens, token{line[i : i+n], i + 1})
		i += n
	}
}

func (p *parser) wrong(want string) {
	if p.err == nil {
		p.err = &ParseError{Line: p.line, Column: p.last.col, Word: p.last.text, Want: want}
	}
}

// next takes a word; want is what is said if there is none.
func (p *parser) next(want string) string {
	if p.err != nil {
		return ""
	}
	if len(p.tokens) == 0 {
		p.last = token{"", p.end}
		p.wrong(want)
		return ""
	}
	p.last, p.tokens = p.tokens[0], p.tokens[1:]
	return p.last.text
}

// more reports whether the line goes on.
func (p *parser) more() bool { return p.err == nil && len(p.tokens) > 0 }

// oneOf takes a word of a list.
func oneOf[S ~string](p *parser, what string, list []S) S {
	want := "want " + what + ": one of " + words(list)
	w := S(p.next(want))
	if !slices.Contains(list, w) {
		p.wrong(want)
		return ""
	}
	return w
}

func words[S ~string](list []S) string {
	all := make([]string, len(list))
	for i, s := range list {
		all[i] = string(s)
	}
	return strings.Join(all, ", ")
}

func (p *parser) rule() Rule {
	r := Rule{When: oneOf(p, "when", Whens()), Call: oneOf(p, "a call", Calls())}
	r.Match = p.next("want a path, or the text of a note; * for any")
	if _, err := path.Match(r.Match, ""); err != nil {
		p.wrong("this is no glob: a [ is not closed, or nothing follows a \\")
	}
	r.Nth = p.nth()
	if w := p.next("want ->"); w != "->" {
		p.wrong("want ->")
	}
	at := token{"", p.end}
	if p.more() {
		at = p.tokens[0]
	}
	r.Fault = p.fault(r.Call)
	if p.more() {
		p.next("")
		p.wrong("the rule has ended before this word")
	}
	if err := r.Check(); err != nil && p.err == nil {
		p.last = at
		p.wrong(err.Error())
	}
	return r
}

func (p *parser) nth() Nth {
	const want = "want which of the calls: 3 for the third, 3+ for the third and all later ones, * for all"
	w := p.next(want)
	if w == "*" {
		return Nth{1, true}
	}
	digits, on := strings.CutSuffix(w, "+")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 {
		p.wrong(want)
	}
	return Nth{n, on}
}

func (p *parser) fault(call Call) Fault {
	f := Fault{Kind: oneOf(p, "a fault", FaultKinds())}
	switch f.Kind {
	case Cut:
		f.N = p.number("a number of bytes that reach the file")
		f.Mode = p.mode(Silent, Unseen)
	case Short:
		f.N = p.number("a number of bytes")
		if call == CallWrite {
			f.Mode = p.mode(Silent)
		}
	case Kill, SigKill, ENOSPC, Full:
		if p.more() {
			f.N = p.number("a number, or nothing")
		}
	case Slow:
		const want = "want a time as 50ms or 2s"
		d, err := time.ParseDuration(p.next(want))
		if err != nil || d <= 0 {
			p.wrong(want)
		}
		f.Delay = d
	default:
		if kind := damageKind(f.Kind); kind != "" {
			f.Damage = p.damage(kind)
			f.In = p.in()
		}
	}
	return f
}

func (p *parser) number(what string) int64 {
	want := "want " + what
	n, err := strconv.ParseInt(p.next(want), 10, 64)
	if err != nil {
		p.wrong(want)
	}
	return n
}

func (p *parser) mode(allowed ...Mode) Mode {
	if !p.more() {
		return Told
	}
	return oneOf(p, "how the program is told", allowed)
}

func (p *parser) damage(kind DamageKind) Damage {
	d := Damage{Kind: kind}
	switch kind {
	case Flip:
		const want = "want a byte offset and a bit from 0 to 7, as 120.3"
		byteOff, bit, _ := strings.Cut(p.next(want), ".")
		off, err := strconv.ParseInt(byteOff, 10, 64)
		n, bitErr := strconv.ParseUint(bit, 10, 8)
		if err != nil || bitErr != nil || n > 7 {
			p.wrong(want)
		}
		d.Off, d.Bit = off, uint8(n)
	case Nul, Delete:
		d.Off, d.Len = p.number("a byte offset and a length"), p.number("a length in bytes")
	case Splice:
		d.Off, d.Len = p.number("a byte offset, a length and a text"), p.number("a length in bytes, 0 to put in only")
		d.Text = p.next("want the text that is put in, in quotes")
	case Swap, Repeat:
		d.Off, d.Len = p.number("two line numbers, from 1"), p.number("a second line number, from 1")
	case Duplicate, DropLine:
		d.Off = p.number("a line number, from 1")
	case BadUTF8, Truncate:
		d.Off = p.number("a byte offset")
	case BOM, CRLF, Again:
	}
	return d
}

// in reads "in FILE", if it is there.
func (p *parser) in() string {
	if !p.more() {
		return ""
	}
	if p.next("") != "in" {
		p.wrong("want the end of the rule, or: in FILE")
	}
	return p.next("want the path of the file that is damaged")
}

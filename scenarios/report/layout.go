package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The colours that text uses.
const (
	bold   = "1"
	red    = "1;31"
	green  = "1;32"
	yellow = "1;33"
)

// itemsMax is how many records of a list a finding shows.
const itemsMax = 4

// indent is where the text of a field begins.
const indent = "           "

// printer writes lines until the writer fails, and keeps its error.
type printer struct {
	w     io.Writer
	width int
	color bool
	err   error
}

func newPrinter(w io.Writer, t Text) *printer {
	if t.Width == 0 {
		t.Width = DefaultWidth
	}
	return &printer{w: w, width: max(t.Width, 60), color: t.Color}
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *printer) paint(color, s string) string {
	if !p.color {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// field is a name and a text that goes on below itself.
func (p *printer) field(name, text string) {
	for i, l := range wrap(printable(text), p.width-len(indent)) {
		if i > 0 {
			name = ""
		}
		p.line("  %-8s %s", name, l)
	}
}

// whole is a field that is copied, so it stays on one line.
func (p *printer) whole(name, text string) { p.line("  %-8s %s", name, printable(text)) }

// tagged is a coloured word and a text that goes on below itself.
func (p *printer) tagged(color, tag, text string) {
	for i, l := range wrap(text, p.width-len(tag)-2) {
		if i == 0 {
			p.line("%s  %s", p.paint(color, tag), l)
		} else {
			p.line("%s%s", strings.Repeat(" ", len(tag)+2), l)
		}
	}
}

// items is a list of which the first same are equal to those of the other list.
func (p *printer) items(name string, list []string, same int) {
	if same > 0 {
		p.line("  %-8s (the first %s agree)", name, group(same))
		name, list = "", list[same:]
	}
	if len(list) == 0 {
		p.line("  %-8s %s", name, "nothing")
	}
	for i, s := range list {
		if i == itemsMax {
			p.line("  %-8s … and %d more", name, len(list)-itemsMax)
			return
		}
		p.line("  %-8s %s", name, clip(printable(s), p.width-len(indent)))
		name = ""
	}
}

// wrap breaks text at spaces into lines of at most width columns; a longer word has a line
// of its own.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case columns(line)+1+columns(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

// columns is how wide s is, near enough: letters that take two columns count as two.
func columns(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) || r >= 0x1f300 && r < 0x1fb00):
			n += 2
		default:
			n++
		}
	}
	return n
}

// clip cuts s to width columns.
func clip(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	runes := []rune(s)
	for len(runes) > 0 && columns(string(runes))+1 > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

// printable spells what would move a terminal's cursor or change its state.
func printable(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, unprintable) < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case unprintable(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
		s = s[n:]
	}
	return b.String()
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// common is how many items two lists begin with alike.
func common(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// kindsOf are the kinds of cut in the order of a record's life, others behind them by name.
func kindsOf(c *Coverage) []string {
	order := []string{"torn", "before-barrier", "after-barrier", "both-written", "mid-compaction"}
	var out, rest []string
	for _, k := range order {
		if c.Kinds[k] > 0 {
			out = append(out, k)
		}
	}
	for k, n := range c.Kinds {
		if n > 0 && !slices.Contains(order, k) {
			rest = append(rest, k)
		}
	}
	slices.Sort(rest)
	return append(out, rest...)
}

// group writes 12408 as 12,408.
func group(n int) string { return grouped(strconv.Itoa(n)) }

func grouped(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// huge writes a count that may be of any size in at most 9 columns.
func huge(digits string) string {
	if len(digits) <= 7 {
		return grouped(digits)
	}
	return fmt.Sprintf("≈%s.%se%d", digits[:1], digits[1:2], len(digits)-1)
}

// plural is a count with its noun.
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return group(n) + " " + noun
}

// seconds is a duration as people say it.
func seconds(s float64) string {
	if s < 60 {
		return fmt.Sprintf("%.1f s", s)
	}
	return fmt.Sprintf("%d min %02d s", int(s)/60, int(s)%60)
}

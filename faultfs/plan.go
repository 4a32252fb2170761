package faultfs

import (
	"strconv"
	"strings"
)

// Plan is a list of rules, in order.
type Plan struct{ Rules []Rule }

// String is the plan as [ParsePlan] reads it, a rule a line.
func (p Plan) String() string {
	var b strings.Builder
	for _, r := range p.Rules {
		b.WriteString(r.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// Rule is one fault and the calls that it hits.
type Rule struct {
	When When
	Call Call
	// Match is a glob for the call's path, or for a note's text. A path glob without a slash is
	// held against the last element, one with a slash against the whole absolute path. "*" stands
	// for any run of characters but slashes, "**" for any run, "?" for one, "[a-z]" for one of a class;
	// in a note's text "*" stands for slashes too. A rename or link matches with either name.
	Match string
	Nth   Nth
	Fault Fault
}

// String is the rule as [ParsePlan] reads it.
func (r Rule) String() string {
	return string(r.When) + " " + string(r.Call) + " " + quote(r.Match) + " " + r.Nth.String() + " -> " + r.Fault.String()
}

// Nth chooses among the calls that a rule matches: number From, counted from 1, and all later
// ones if On is set. The zero value is the first.
type Nth struct {
	From int
	On   bool
}

// String is "3", "3+", or "*" for all.
func (n Nth) String() string {
	from := max(n.From, 1)
	switch {
	case n.On && from == 1:
		return "*"
	case n.On:
		return strconv.Itoa(from) + "+"
	default:
		return strconv.Itoa(from)
	}
}

func (n Nth) hits(count int) bool {
	from := max(n.From, 1)
	return count == from || n.On && count > from
}

package report

import (
	"io"

	"github.com/unplug-go/unplug/scenarios/oracle"
)

// WriteRule explains a rule to a person. The error is the writer's.
func (t Text) WriteRule(w io.Writer, r oracle.Rule) error {
	p := newPrinter(w, t)
	p.line("%s", p.paint(bold, r.ID+" "+r.Name))
	p.field("holds", r.What)
	p.field("risk", r.Risk)
	p.field("next", r.Next)
	return p.err
}

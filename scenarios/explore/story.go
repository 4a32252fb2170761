package explore

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// storyMax is how many of the last things that happened a story tells.
const storyMax = 7

// story is what happened, in one line: the last calls and syncs before each cut, what the
// cut left, and what was done behind the last one before the violation showed.
func story(c *caseOf, then string) string {
	parts := crashes(c, "CUT")
	if then != "" {
		parts = append(parts, then)
	}
	return strings.Join(parts, " · ")
}

// crashes tells the lives up to a cut.
func crashes(c *caseOf, name string) []string {
	var parts []string
	l := c.life
	if l.parent != nil {
		parts = crashes(l.parent, fmt.Sprintf("CUT %d, %s", l.depth, l.parent.cut.Model))
	}
	parts = append(parts, tell(l.hist.Ops[l.first:min(c.cut.At, len(l.hist.Ops))])...)
	where := ""
	if c.cut.Inside && c.cut.At < len(l.hist.Ops) {
		where = "inside " + l.hist.Ops[c.cut.At].String() + ": "
	}
	return append(parts, name+" ("+where+c.state.Why()+")")
}

// tell gives the last things that happened, runs of acknowledged appends in one.
func tell(ops []trace.Op) []string {
	var out []string
	first, last := -1, -1
	flush := func() {
		switch {
		case first < 0:
			return
		case first == last:
			out = append(out, fmt.Sprintf("append #%s acknowledged", number(first)))
		default:
			out = append(out, fmt.Sprintf("append #%s … #%s acknowledged", number(first), number(last)))
		}
		first = -1
	}
	open := map[int]bool{}
	for _, op := range ops {
		if op.Kind != trace.Note {
			if op.IsSync() && (op.Err != "" || op.Result != trace.SyncOK) {
				flush()
				out = append(out, op.String())
			}
			continue
		}
		m, ok := workload.ParseMark(op.Text)
		if !ok {
			continue
		}
		switch {
		case m.What == "append" && m.Event == workload.Acked:
			delete(open, m.N)
			if first < 0 {
				first = m.N
			}
			last = m.N
		case m.What == "append" && m.Event == workload.Called:
			open[m.N] = true
		case m.What == "append":
		case m.Event == workload.Called:
			flush()
			out = append(out, m.What)
		case m.What == "marker" || m.Event == workload.Failed:
			flush()
			out = append(out, m.String())
		}
	}
	flush()
	for _, op := range ops {
		if m, ok := workload.ParseMark(op.Text); ok && m.What == "append" && m.Event == workload.Called && open[m.N] {
			out = append(out, fmt.Sprintf("append #%s called", number(m.N)))
		}
	}
	if len(out) > storyMax {
		out = append([]string{"…"}, out[len(out)-storyMax:]...)
	}
	return out
}

// number names a record: those that the harness appends after a crash are x0, x1, ….
func number(n int) string {
	if n >= extra {
		return fmt.Sprintf("x%d", n-extra)
	}
	return fmt.Sprint(n)
}

// finish fills in what is known only at the end.
func (r *run) finish() {
	rep := r.report
	rep.Rounds = r.round
	rep.Violations = r.finds.sorted()
	for i := range rep.Models {
		m := &rep.Models[i]
		m.Of = m.Total.String()
		m.Exhaustive = m.Exhaustive && m.Total.Cmp(big.NewInt(int64(m.States))) == 0
	}
	if r.cfg.NoCrash {
		return
	}
	r.weakest()
	r.never()
	if rep.States == 0 && len(rep.Violations) == 0 {
		r.vacuous("UP403", "no crash state was judged")
	} else if r.records == 0 && len(rep.Violations) == 0 {
		r.vacuous("UP404", "no state gave a record back")
	}
	c := &rep.Coverage
	c.Complete = c.Reached == c.Cuts && len(c.Never) == 0 && len(rep.Vacuity) == 0
}

// weakest names the model that promises least and that the subject survived, with every
// milder one that was run.
func (r *run) weakest() {
	if r.report.Interrupted {
		return
	}
	rows := map[string]report.Model{}
	for _, m := range r.report.Models {
		rows[m.Model] = m
	}
	for _, m := range []string{"prefix", "contiguous", "own-page", "ext4-ordered", "ext4-ooo", "writeback", "posix-worst"} {
		switch row, ok := rows[m]; {
		case r.broken[m]:
			return
		case ok && row.Exhaustive:
			r.report.Survived = m
		case ok && row.States > 0:
			r.report.Survived = m + ", as far as sampled"
		}
	}
}

// never names the kinds of cut that were not reached.
func (r *run) never() {
	c := &r.report.Coverage
	for _, k := range CutKinds() {
		if c.Kinds[string(k)] == 0 {
			c.Never = append(c.Never, string(k))
		}
	}
	if r.cfg.Damages > 0 && r.cfg.Contract.Detect != oracle.DetectNothing && len(r.cfg.Plan.Rules) == 0 && c.Damage.Tried == 0 {
		c.Never = append(c.Never, "damage")
	}
}

// vacuous notes why the run proves nothing.
func (r *run) vacuous(id, text string) {
	for _, v := range r.report.Vacuity {
		if v.ID == id && v.Text == text {
			return
		}
	}
	f := r.describe(found{violation: violation{oracle.Violation{Rule: id, Text: text}, ""}})
	f.Story = ""
	r.report.Vacuity = append(r.report.Vacuity, *f)
}

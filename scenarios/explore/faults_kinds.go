package explore

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// faultKind is one way in which calls fail. Its rule is put on every call that it matches, once
// and then for good; with holds all the while.
type faultKind struct {
	rule string
	with string
	// next is a further rule for the first call of its kind behind the one that rule hits.
	next string
}

// faultKinds are the faults of the sweep. Numbers of bytes are chosen so that a write is cut in
// its first bytes, in its middle, and just in front of its newline.
func faultKinds() []faultKind {
	kinds := []faultKind{
		// A short write behind which the cut back fails too, or its sync.
		{rule: "on write ** 1 -> enospc 17", with: "on truncate ** * -> eio"},
		{rule: "on write ** 1 -> short 17", next: "on sync ** 1 -> fail-clean"},
		{rule: "on write ** 1 -> short 40", next: "on sync ** 1 -> eio"},
	}
	for _, rule := range []string{
		"on write ** 1 -> eio",
		"on write ** 1 -> enospc",
		"on write ** 1 -> enospc 1",
		"on write ** 1 -> enospc 60",
		"on write ** 1 -> enospc -1",
		"on write ** 1 -> full",
		"on write ** 1 -> short 7",
		"on write ** 1 -> short -1",
		"on write ** 1 -> short 40 silent",
		"on write ** 1 -> short -1 silent",
		"inside write ** 1 -> cut 20",
		"inside write ** 1 -> cut 90 silent",

		"on sync ** 1 -> eio", // nothing was done, and nothing was dropped either
		"on sync ** 1 -> fail-clean",
		"on sync ** 1 -> fail-ro",
		"on sync ** 1 -> fail-shutdown",
		"on sync ** 1 -> fail-false",
		"on sync ** 1 -> fail-late",
		"on syncdir ** 1 -> eio",
		"on syncdir ** 1 -> fail-ro",
		"on syncdir ** 1 -> fail-shutdown",
		"on syncdir ** 1 -> fail-false",
		"on syncdir ** 1 -> fail-late",

		"on truncate ** 1 -> eio",
		"on rename ** 1 -> eio",
		"on rename ** 1 -> enospc",
		"on remove ** 1 -> eio",
		"on link ** 1 -> eio",
		"on chmod ** 1 -> eio",
		"on create ** 1 -> eio",
		"on create ** 1 -> eacces",
		"on create ** 1 -> enospc",
		"on mkdir ** 1 -> eio",
		"on mkdir ** 1 -> enospc",
		"on open ** 1 -> eio",
		"on open ** 1 -> eacces",
		"on lock ** 1 -> ewouldblock",
		"on lock ** 1 -> eio",
		"on read ** 1 -> eio",
		"on read ** 1 -> short 1",
		"on readdir ** 1 -> eio",
		"on stat ** 1 -> eio",
		"on close ** 1 -> eio",
	} {
		kinds = append(kinds, faultKind{rule: rule})
	}
	return kinds
}

// mustRule is a rule of the table as a value.
func mustRule(text string) faultfs.Rule {
	rule, err := faultfs.ParseRule(text)
	if err != nil {
		panic(err) // the table's own words
	}
	return rule
}

// sweep are the plans that put every kind of fault on every call of a program.
type sweep struct {
	tries []faultTry
	kinds map[string]bool // that met a call
	calls int             // that there were to hit
}

// faultTry is one run to be made.
type faultTry struct {
	on   *ground
	plan faultfs.Plan
}

// add sizes up a program: one run that nothing touches tells which calls there are.
func (s *sweep) add(j *judge, g *ground) {
	kinds := faultKinds()
	rules := make([]faultfs.Rule, len(kinds))
	for i, k := range kinds {
		rules[i] = mustRule(k.rule)
	}
	var ops []trace.Op
	counts := faultfs.CallsOf(rules, func(plan faultfs.Plan) *faultfs.FS {
		fsys := faultfs.New(faultfs.NewMem(g.base), faultfs.WithPlan(plan), faultfs.WithOpLimit(opBudget))
		within(j.patience, func() {
			_, _ = j.goThrough(fsys, g)
			ops = fsys.Log().Ops()
		})
		return fsys
	})
	calls := map[faultfs.Call]int{}
	for i, k := range kinds {
		if counts[i] > 0 {
			s.kinds[k.rule+k.with+k.next] = true
		}
		calls[rules[i].Call] = counts[i]
		for n := 1; n <= counts[i]; n++ {
			for _, on := range []bool{false, true} {
				rules[i].Nth = faultfs.Nth{From: n, On: on}
				s.tries = append(s.tries, faultTry{g, faultfs.Plan{Rules: append([]faultfs.Rule{rules[i]}, k.others(ops, rules[i])...)}})
			}
		}
	}
	for _, n := range calls {
		s.calls += n
	}
}

// others are the further rules of a kind, when its own hits the nth of its calls.
func (k faultKind) others(ops []trace.Op, own faultfs.Rule) []faultfs.Rule {
	switch {
	case k.with != "":
		return []faultfs.Rule{mustRule(k.with)}
	case k.next == "":
		return nil
	}
	next, before := mustRule(k.next), 0
	left := own.Nth.From
	for _, op := range ops {
		if faultfs.Call(op.Kind.String()) == own.Call {
			if left--; left == 0 {
				break
			}
		}
		if faultfs.Call(op.Kind.String()) == next.Call {
			before++
		}
	}
	next.Nth = faultfs.Nth{From: before + 1, On: own.Nth.On}
	return []faultfs.Rule{next}
}

// draw leaves at most n tries of a sweep, in their order: the same for the same seed.
func (s *sweep) draw(seed uint64, n int) {
	if len(s.tries) <= n {
		return
	}
	rng := rand.New(rand.NewPCG(seed, 0xfa017))
	chosen := rng.Perm(len(s.tries))[:n]
	slices.Sort(chosen)
	tries := make([]faultTry, n)
	for i, at := range chosen {
		tries[i] = s.tries[at]
	}
	s.tries = tries
}

// onlyShort reports whether reads that come in pieces are all that a plan does.
func onlyShort(plan faultfs.Plan) bool {
	for _, rule := range plan.Rules {
		if rule.Call != faultfs.CallRead || rule.Fault.Kind != faultfs.Short {
			return false
		}
	}
	return true
}

// planWords is a plan in one line.
func planWords(plan faultfs.Plan) string {
	return strings.Join(planLines(plan), ", ")
}

// planLines are the rules of a plan as a repro holds them.
func planLines(plan faultfs.Plan) []string {
	lines := make([]string, len(plan.Rules))
	for i, rule := range plan.Rules {
		lines[i] = rule.String()
	}
	return lines
}

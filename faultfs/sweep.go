package faultfs

import "math"

// Sweep lets rule act on the first call that it matches, then on the second, and so on, each
// time once and then once more on that and all later ones, until a run goes by untouched: the
// fault has then been everywhere. The rule's own Nth does not count. run performs the program
// on a fresh layer with the given plan, judges it, and returns the layer, or nil to end the
// sweep. Sweep gives the number of calls at which the fault was.
func Sweep(rule Rule, run func(Plan) *FS) int {
	for n := 1; ; n++ {
		for _, on := range []bool{false, true} {
			rule.Nth = Nth{From: n, On: on}
			f := run(Plan{Rules: []Rule{rule}})
			if f == nil || len(f.Unused()) > 0 {
				return n - 1
			}
		}
	}
}

// CallsOf counts, for each rule, the calls of one untouched run that it matches: how far [Sweep]
// would go, without the runs. A run in which a rule acts on its nth call is the untouched one up
// to there, so the nth call is reached exactly if n is not above that number. The rules' own Nth
// do not count. run performs the program on a fresh layer with the given plan and returns the
// layer; if that is nil, so is the answer.
func CallsOf(rules []Rule, run func(Plan) *FS) []int {
	plan := Plan{Rules: make([]Rule, len(rules))}
	for i, r := range rules {
		r.Nth = Nth{From: math.MaxInt}
		plan.Rules[i] = r
	}
	f := run(plan)
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	counts := make([]int, len(f.rules))
	for i := range f.rules {
		counts[i] = f.rules[i].count
	}
	return counts
}

// Struck is the length that the log had when the first fault changed the outcome of a call: its
// own op, if it has one, is of that number. It is -1 as long as none did.
func (f *FS) Struck() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.struck - 1
}

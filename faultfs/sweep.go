package faultfs

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

package faultfs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/faultfs"
)

func TestPlanPrintsAsItParses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := faultfs.Plan{Rules: rapid.SliceOfN(rapid.Custom(drawRule), 0, 5).Draw(t, "rules")}
		text := plan.String()
		again, err := faultfs.ParsePlan(text)
		require.NoError(t, err, "%s", text)
		require.Equal(t, text, again.String())
		require.Len(t, again.Rules, len(plan.Rules))
		for i, rule := range plan.Rules {
			require.Equal(t, rule, again.Rules[i], "%s", rule)
		}
	})
}

// Every kind of fault at every side of every call that it can befall, and every call and side
// has a fault: nothing in the tables is out of reach of a plan.
func TestEveryFaultSideAndCallHasARule(t *testing.T) {
	kinds, whens, calls := map[faultfs.FaultKind]bool{}, map[faultfs.When]bool{}, map[faultfs.Call]bool{}
	for _, s := range spots() {
		rule := sample(s.kind, s.when, s.call)
		again, err := faultfs.ParseRule(rule.String())
		require.NoError(t, err)
		require.Equal(t, rule, again)
		kinds[s.kind], whens[s.when], calls[s.call] = true, true, true
	}
	for _, k := range faultfs.FaultKinds() {
		assert.True(t, kinds[k], "no rule can have the fault %s", k)
	}
	for _, w := range faultfs.Whens() {
		assert.True(t, whens[w], "no rule can act %s a call", w)
	}
	for _, c := range faultfs.Calls() {
		assert.True(t, calls[c], "no rule can wait for %s", c)
	}
}

func TestParsePlanSkipsCommentsAndBlanks(t *testing.T) {
	plan, err := faultfs.ParsePlan("# the third sync\n\n  after\tsync *.jsonl 3 -> kill # dies\r\nbefore note \"append 7 called\" 1+ -> kill\n")
	require.NoError(t, err)
	require.Equal(t, "after sync *.jsonl 3 -> kill\nbefore note \"append 7 called\" * -> kill\n", plan.String())
}

func TestParsePlanErrorsSayWhereAndWhatIsAllowed(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"durng write * 1 -> eio", `line 1, column 1: "durng": want when: one of before, inside, after, on`},
		{"\non writing * 1 -> eio", `line 2, column 4: "writing": want a call: one of create, mkdir, write, truncate`},
		{"on write", "line 1, column 9: the line ends early: want a path"},
		{"on write [a 1 -> eio", `column 10: "[a": this is no glob`},
		{"on write * 0 -> eio", `column 12: "0": want which of the calls: 3 for the third`},
		{"on write * x+ -> eio", `column 12: "x+": want which of the calls`},
		{"on write * 1 eio", `column 14: "eio": want ->`},
		{"on write * 1 ->", "column 16: the line ends early: want a fault: one of kill, sigkill, cut, short, eio"},
		{"on write * 1 -> boom", `column 17: "boom": want a fault: one of kill`},
		{"on write * 1 -> eio now", `column 21: "now": the rule has ended before this word`},
		{"on write * 1 -> cut 3", `column 17: "cut": cut acts inside a call, not on it`},
		{"on rename * 1 -> short 3", `column 18: "short": short cannot befall rename, want one of eio, erofs, eacces, ewouldblock, enospc, slow`},
		{"inside write * 1 -> cut", "column 24: the line ends early: want a number of bytes"},
		{"inside write * 1 -> cut 3 loud", `column 27: "loud": want how the program is told: one of silent, unseen`},
		{"inside write * 1 -> cut 3k", `column 25: "3k": want a number of bytes`},
		{"on read * 1 -> short 3 silent", `column 24: "silent": the rule has ended`},
		{"on read * 1 -> short 0", `"short": a read that is not at the end hands out 1 byte at least`},
		{"after sync * 1 -> kill 3", `"kill": only inside a write`},
		{"inside note * 1 -> kill", `"kill": kill acts before or after a call, not inside it`},
		{"on mkdir * 1 -> enospc 3", `"enospc": only of a write`},
		{"on write * 1 -> full -1", `"full": want a number of blocks`},
		{"on write * 1 -> slow 3", `column 22: "3": want a time as 50ms`},
		{"on write * 1 -> fail-clean", "fail-clean cannot befall write, want one of short, eio"},
		{"after write * 1 -> flip 3", `column 25: "3": want a byte offset and a bit`},
		{"after write * 1 -> flip 3.8", `column 25: "3.8": want a byte offset and a bit`},
		{"after write * 1 -> bom of /a", `column 24: "of": want the end of the rule, or: in FILE`},
		{"after write * 1 -> bom in", "column 26: the line ends early: want the path of the file"},
		{"after note * 1 -> bom", `"bom": a note has no file: add the one to damage`},
		{`on write "a 1 -> eio`, `column 10: "\"a 1 -> eio": the quoted word does not end`},
	} {
		_, err := faultfs.ParsePlan(c.text)
		var at *faultfs.ParseError
		if assert.ErrorAs(t, err, &at, c.text) {
			assert.ErrorContains(t, err, c.want, c.text)
		}
	}
}

func TestParsePlanNeverPanicsAndKeepsItsWord(t *testing.T) {
	word := rapid.SampledFrom(strings.Fields("on inside after before write note sync read any * 1 2+ 0 -> kill cut short flip 3 3.1 -1 nul in silent slow 1s bom \"a \"b\" # fail-ro"))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(word, 0, 9).Draw(t, "words"), " ")
		plan, err := faultfs.ParsePlan(text)
		if err != nil {
			require.ErrorAs(t, err, new(*faultfs.ParseError))
			return
		}
		again, err := faultfs.ParsePlan(plan.String())
		require.NoError(t, err, "%q printed as %q", text, plan)
		require.Equal(t, plan, again)
	})
}

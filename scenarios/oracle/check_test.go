package oracle_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/target"
)

// calls builds W from a word a record: the letter is the record, what follows its standing
// ("a!" acknowledged and synced, "b=" synced, "c?" failed, "d^" kept, "e" only called).
func calls(words ...string) []oracle.Call {
	var out []oracle.Call
	for _, w := range words {
		c := oracle.Call{Record: []byte(w[:1])}
		for _, flag := range w[1:] {
			switch flag {
			case '!':
				c.Acked, c.Synced = true, true
			case '=':
				c.Synced = true
			case '?':
				c.Failed = true
			case '^':
				c.Kept = true
			}
		}
		out = append(out, c)
	}
	return out
}

func recovered(letters string) oracle.Outcome {
	var o oracle.Outcome
	for _, l := range letters {
		o.Recovered.Records = append(o.Recovered.Records, []byte(string(l)))
	}
	return o
}

func withTail(o oracle.Outcome, length int64) oracle.Outcome {
	o.Recovered.Tail = target.Tail{Offset: 4, Length: length, Kind: "unterminated"}
	return o
}

func TestCheck(t *testing.T) {
	clean := oracle.Evidence{Size: 10, Clean: true}
	torn := oracle.Evidence{Size: 10, Boundary: true}
	refused := oracle.Outcome{Class: oracle.Corrupt, Err: "line 3"}
	for _, c := range []struct {
		name, reason string
		contract     oracle.Contract
		calls        []oracle.Call
		exact        bool
		domain       oracle.Domain
		evidence     oracle.Evidence
		outcome      oracle.Outcome
		want         string // the rule, "" for none, "refused"
	}{
		{name: "all there", reason: "R = A", calls: calls("a!", "b!"), evidence: clean, outcome: recovered("ab")},
		{name: "unacknowledged survives", reason: "A ⊆ R ⊆ W", calls: calls("a!", "b"), evidence: clean, outcome: recovered("ab")},
		{name: "unacknowledged lost", reason: "only A must survive", calls: calls("a!", "b"), evidence: clean, outcome: recovered("a")},
		{name: "acknowledged lost", reason: "A ⊄ R", calls: calls("a!", "b!"), evidence: clean, outcome: recovered("a"), want: "UP201"},
		{name: "acknowledged lost, kill-only contract", reason: "the contract promises nothing for power", contract: oracle.Contract{LosesOnPower: true}, calls: calls("a!", "b!"), evidence: clean, outcome: recovered("a")},
		{name: "the same under a kill", reason: "the contract promises it for a kill", contract: oracle.Contract{LosesOnPower: true}, domain: oracle.Kill, calls: calls("a!", "b!"), evidence: clean, outcome: recovered("a"), want: "UP201"},
		{name: "exactly S", reason: "synced: R = S", exact: true, calls: calls("a!", "b=", "c"), evidence: clean, outcome: recovered("ab")},
		{name: "more than S", reason: "unsynced bytes were dropped, so c cannot be there", exact: true, calls: calls("a!", "b=", "c"), evidence: clean, outcome: recovered("abc"), want: "UP201"},
		{name: "less than S", reason: "b is covered by a sync", exact: true, calls: calls("a!", "b=", "c"), evidence: clean, outcome: recovered("a"), want: "UP201"},
		{name: "failed call present", reason: "optional", calls: calls("a!", "b?", "c!"), evidence: clean, outcome: recovered("abc")},
		{name: "failed call absent", reason: "optional", calls: calls("a!", "b?", "c!"), evidence: clean, outcome: recovered("ac")},
		{name: "a hole", reason: "b was not optional", calls: calls("a!", "b", "c"), evidence: clean, outcome: recovered("ac"), want: "UP202"},
		{name: "twice", reason: "no duplicates", calls: calls("a!", "b"), evidence: clean, outcome: recovered("aa"), want: "UP202"},
		{name: "invented", reason: "z was never appended", calls: calls("a!"), evidence: clean, outcome: recovered("az"), want: "UP202"},
		{name: "out of order", reason: "a before b", calls: calls("a", "b"), evidence: clean, outcome: recovered("ba"), want: "UP202"},
		{name: "kept lost", reason: "an open for writing had returned b", calls: calls("a!", "b^"), evidence: clean, outcome: recovered("a"), want: "UP207"},
		{name: "not found, nothing promised", reason: "counts as R empty", calls: calls("a"), evidence: clean, outcome: oracle.Outcome{Class: oracle.NotFound}},
		{name: "not found, with A", reason: "the name is lost", calls: calls("a!"), evidence: clean, outcome: oracle.Outcome{Class: oracle.NotFound}, want: "UP211"},
		{name: "refused, accepted", reason: "strict accepts a terminated bad line", contract: oracle.Strict(), calls: calls("a!"), evidence: oracle.Evidence{Terminated: true}, outcome: refused, want: "refused"},
		{name: "refused, a plain torn tail", reason: "no newline behind the damage", contract: oracle.Strict(), calls: calls("a!"), evidence: torn, outcome: refused, want: "UP205"},
		{name: "refused, watermark", reason: "watermark opens everything", contract: oracle.Watermark(), calls: calls("a!"), evidence: oracle.Evidence{Terminated: true}, outcome: refused, want: "UP205"},
		{name: "panic", reason: "a legal state opens", calls: calls("a!"), evidence: clean, outcome: oracle.Outcome{Class: oracle.Panicked, Err: "index"}, want: "UP205"},
		{name: "honest tail", reason: "reaches the end, begins at a boundary", calls: calls("a!"), evidence: torn, outcome: withTail(recovered("a"), 6)},
		{name: "no tail on a torn file", reason: "bytes follow the last line", calls: calls("a!"), evidence: torn, outcome: recovered("a"), want: "UP204"},
		{name: "silent tail accepted", reason: "the contract says so", contract: oracle.Contract{SilentTail: true}, calls: calls("a!"), evidence: torn, outcome: recovered("a")},
		{name: "tail on a clean file", reason: "nothing follows", calls: calls("a!"), evidence: clean, outcome: withTail(recovered("a"), 6), want: "UP204"},
		{name: "tail too short", reason: "does not reach the end", calls: calls("a!"), evidence: torn, outcome: withTail(recovered("a"), 5), want: "UP204"},
		{name: "tail inside a line", reason: "begins at no boundary", calls: calls("a!"), evidence: oracle.Evidence{Size: 10}, outcome: withTail(recovered("a"), 6), want: "UP204"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := oracle.Check(c.contract, oracle.Promise{Calls: c.calls, Exact: c.exact, Domain: c.domain}, c.evidence, c.outcome)
			switch c.want {
			case "":
				assert.Empty(t, v.Violations, c.reason)
			case "refused":
				assert.Empty(t, v.Violations, c.reason)
				assert.True(t, v.Refused, c.reason)
			default:
				require.Len(t, v.Violations, 1, c.reason)
				assert.Equal(t, c.want, v.Violations[0].Rule, c.reason)
				assert.NotEmpty(t, v.Violations[0].Text)
			}
		})
	}
}

// compaction is W of: one message, a compaction, one message behind it.
func compaction() []oracle.Call {
	w := calls("a!", "C!", "W!", "T!", "b")
	for i, marker := range []string{"compacted", "world_state", "turn_context"} {
		w[1+i].Marker, w[1+i].Group = marker, 1
	}
	w[1].Replaces = [][]byte{[]byte("s")}
	return w
}

func TestCheckCompaction(t *testing.T) {
	clean := oracle.Evidence{Size: 10, Clean: true}
	view := func(history, world, turn string) *target.View {
		v := &target.View{}
		for _, l := range history {
			v.History = append(v.History, []byte(string(l)))
		}
		if world != "" {
			v.WorldState = []byte(world)
		}
		if turn != "" {
			v.TurnContext = []byte(turn)
		}
		return v
	}
	for _, c := range []struct {
		name, records string
		view          *target.View
		want          string
	}{
		{"before", "a", view("a", "", ""), ""},
		{"behind the commit point", "aC", view("s", "", ""), ""},
		{"one baseline", "aCW", view("s", "W", ""), ""},
		{"whole", "aCWTb", view("sb", "W", "T"), ""},
		{"a baseline out of nothing", "aC", view("s", "W", ""), "UP210"},
		{"the old history behind the commit point", "aC", view("a", "", ""), "UP210"},
		{"the world state in front of its marker", "aW", nil, "UP210"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := compaction()
			for i := range w {
				w[i].Acked = false
			}
			o := recovered(c.records)
			o.Recovered.View = c.view
			v := oracle.Check(oracle.Strict(), oracle.Promise{Calls: w}, clean, o)
			if c.want == "" {
				assert.Empty(t, v.Violations)
				return
			}
			require.Len(t, v.Violations, 1)
			assert.Equal(t, c.want, v.Violations[0].Rule)
		})
	}
}

func TestCheckAgain(t *testing.T) {
	before := recovered("ab").Recovered.Records
	for _, c := range []struct {
		name string
		o    oracle.Outcome
		want string
	}{
		{"there", recovered("abx"), ""},
		{"the new record lost", recovered("ab"), "UP206"},
		{"another in its place", recovered("aby"), "UP206"},
		{"an old one lost", recovered("ax"), "UP207"},
		{"one too many", recovered("abxx"), "UP202"},
		{"refused", oracle.Outcome{Class: oracle.Corrupt}, "UP206"},
		{"a tail behind it", withTail(recovered("abx"), 6), "UP204"},
		{"the name lost", oracle.Outcome{Class: oracle.NotFound}, "UP211"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := oracle.CheckAgain(before, []byte("x"), c.o)
			if c.want == "" {
				assert.Empty(t, found)
				return
			}
			require.NotEmpty(t, found)
			assert.Equal(t, c.want, found[0].Rule)
		})
	}
}

// Whatever is between A and W, as a prefix, passes; whatever is not a prefix of W, or
// shorter than A, does not.
func TestCheckPrefixes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 8).Draw(t, "appended")
		acked := rapid.IntRange(0, n).Draw(t, "acknowledged")
		back := rapid.IntRange(0, n).Draw(t, "recovered")
		var p oracle.Promise
		var o oracle.Outcome
		for i := range n {
			r := []byte{byte('a' + i)}
			p.Calls = append(p.Calls, oracle.Call{Record: r, Acked: i < acked})
			if i < back {
				o.Recovered.Records = append(o.Recovered.Records, r)
			}
		}
		v := oracle.Check(oracle.Strict(), p, oracle.Evidence{Clean: true}, o)
		if got, want := len(v.Violations) == 0, back >= acked; got != want {
			t.Fatalf("%d appended, %d acknowledged, %d recovered: %v", n, acked, back, v.Violations)
		}
		if back < 2 {
			return
		}
		i := rapid.IntRange(0, back-2).Draw(t, "swap")
		o.Recovered.Records[i], o.Recovered.Records[i+1] = o.Recovered.Records[i+1], o.Recovered.Records[i]
		if v := oracle.Check(oracle.Strict(), p, oracle.Evidence{Clean: true}, o); len(v.Violations) == 0 {
			t.Fatalf("records %d and %d swapped, and nothing was found", i, i+1)
		}
	})
}

func TestNamedContractsDoNotContradictThemselves(t *testing.T) {
	for _, c := range oracle.Contracts() {
		require.NoError(t, c.Check(), c.Name)
	}
}

// A lenient journal may lose a line from the middle, if nobody was promised it.
func TestLenientSkipsWhatWasNotPromised(t *testing.T) {
	call := func(r string, acked bool) oracle.Call { return oracle.Call{Record: []byte(r), Acked: acked} }
	p := oracle.Promise{Calls: []oracle.Call{call("a", true), call("b", false), call("c", true)}}
	o := oracle.Outcome{Recovered: target.Recovered{Records: [][]byte{[]byte("a"), []byte("c")}}}
	assert.Empty(t, oracle.Check(oracle.Lenient(), p, oracle.Evidence{}, o).Violations)
	assert.NotEmpty(t, oracle.Check(oracle.Lines(), p, oracle.Evidence{}, o).Violations)
	o.Recovered.Records = o.Recovered.Records[:1]
	v := oracle.Check(oracle.Lenient(), p, oracle.Evidence{}, o).Violations
	require.Len(t, v, 1)
	assert.Equal(t, "UP201", v[0].Rule)
}

// A file that is replaced as a whole has no tail, and an old one in its place is no tail.
func TestAtomicReplaceHasNoTail(t *testing.T) {
	o := oracle.Outcome{Recovered: target.Recovered{Tail: target.Tail{Offset: 3, Length: 4}}}
	e := oracle.Evidence{Size: 7}
	v := oracle.Check(oracle.AtomicReplace(), oracle.Promise{}, e, o).Violations
	require.Len(t, v, 1)
	assert.Equal(t, "UP204", v[0].Rule)
	o.Recovered.Tail = target.Tail{}
	assert.Empty(t, oracle.Check(oracle.AtomicReplace(), oracle.Promise{}, e, o).Violations)
}

func TestContradictionsAreNamed(t *testing.T) {
	for word, c := range map[string]oracle.Contract{
		"no name":    {Detect: 99},
		"Refuse":     {Binary: true, Refuse: oracle.RefuseTerminated},
		"Detect":     {Binary: true, Detect: oracle.DetectStructure},
		"SilentTail": {SilentTail: true, Detect: oracle.DetectBytes},
		"SkipsBad":   {SkipsBad: true, Detect: oracle.DetectStructure},
		"NoTail":     {NoTail: true, SilentTail: true},
	} {
		require.ErrorContains(t, c.Check(), word)
	}
}

func TestRulesAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range oracle.Rules() {
		assert.False(t, seen[r.ID], r.ID)
		seen[r.ID] = true
		assert.NotEmpty(t, r.Name, r.ID)
		assert.NotEmpty(t, r.What, r.ID)
		assert.NotEmpty(t, r.Risk, r.ID)
		assert.NotEmpty(t, r.Next, r.ID)
		vacuity := r.ID >= "UP401" && r.ID <= "UP405" // the rest of UP4xx are about the subject's surroundings
		assert.Equal(t, vacuity, r.Vacuity, r.ID)
	}
}

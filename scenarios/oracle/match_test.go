package oracle

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// slowMatch is the definition: R stands in an order that the calls allow, and no record that
// must stand in front of one of R is missing. It gives the first record that breaks this.
func slowMatch(calls []Call, records [][]byte) int {
	before := func(a, b int) bool { // call a must stand in front of call b
		if a > b {
			return false
		}
		return calls[a].Together == 0 || calls[a].Together != calls[b].Together || calls[a].To < calls[b].From
	}
	var there []int
	for i, r := range records {
		at := -1
		for n := range calls {
			if bytes.Equal(calls[n].Record, r) {
				at = n
			}
		}
		if at < 0 {
			return i
		}
		in := map[int]bool{}
		for _, u := range there {
			in[u] = true
			if u == at || before(at, u) {
				return i
			}
		}
		for d := range calls {
			if !in[d] && !calls[d].Failed && d != at && before(d, at) {
				return i
			}
		}
		there = append(there, at)
	}
	return -1
}

// drawCalls are calls of which some were made at the same time.
func drawCalls(t *rapid.T) []Call {
	var calls []Call
	now := 0
	for group := range rapid.IntRange(1, 5).Draw(t, "groups") {
		n := 1
		together := 0
		if rapid.Bool().Draw(t, "together") {
			n, together = rapid.IntRange(1, 4).Draw(t, "calls"), group+1
		}
		start := now
		for range n {
			from := start
			if n > 1 {
				from = rapid.IntRange(start, now).Draw(t, "from")
			}
			start = from
			to := from + rapid.IntRange(1, 4).Draw(t, "length")
			if rapid.IntRange(0, 5).Draw(t, "open") == 0 {
				to = math.MaxInt
			}
			calls = append(calls, Call{
				Record: fmt.Appendf(nil, "r%d", len(calls)), Together: together, From: from, To: to,
				Failed: rapid.IntRange(0, 4).Draw(t, "failed") == 0,
			})
			now = max(now, from+3)
		}
	}
	return calls
}

// The fast matching finds the same first bad record as the definition, for calls one after
// another and at the same time.
func TestMatchIsLinearisation(t *testing.T) {
	loose, good := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		calls := drawCalls(t)
		var records [][]byte
		order := make([]int, len(calls))
		for i := range order {
			order[i] = i
		}
		if rapid.Bool().Draw(t, "shuffled") {
			order = rapid.Permutation(order).Draw(t, "order")
		}
		for _, n := range order[:rapid.IntRange(0, len(order)).Draw(t, "length")] {
			if rapid.IntRange(0, 9).Draw(t, "left out") > 0 {
				records = append(records, calls[n].Record)
			}
		}
		m := match(calls, records)
		if m.loose && m.bad < 0 {
			loose++
		}
		if m.bad < 0 {
			good++
		}
		assert.Equal(t, slowMatch(calls, records), m.bad, "W %+v R %q", calls, records)
	})
	require.Positive(t, loose)
	require.Positive(t, good)
}

func TestTogetherIsHeldToRealTime(t *testing.T) {
	c := func(r string, from, to int) Call {
		return Call{Record: []byte(r), Together: 1, From: from, To: to, Acked: true}
	}
	calls := []Call{c("a", 0, 3), c("b", 1, 9), c("c", 4, 8)}
	for _, tc := range []struct {
		r   []string
		bad int
	}{
		{[]string{"a", "b", "c"}, -1},
		{[]string{"b", "a", "c"}, -1},
		{[]string{"a", "c", "b"}, -1},
		{[]string{"b", "c"}, 1},      // a had returned before c was called
		{[]string{"c", "a", "b"}, 0}, // the same
		{[]string{"a", "a"}, 1},
	} {
		var records [][]byte
		for _, r := range tc.r {
			records = append(records, []byte(r))
		}
		assert.Equal(t, tc.bad, match(calls, records).bad, tc.r)
	}
	v := Check(Contract{}, Promise{Calls: calls, Domain: Kill}, Evidence{Clean: true}, Outcome{})
	require.Len(t, v.Violations, 1)
	assert.Equal(t, "UP201", v.Violations[0].Rule, "acknowledged, and lost")
}

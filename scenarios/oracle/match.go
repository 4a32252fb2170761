package oracle

import (
	"bytes"
	"slices"
)

// matching pairs R with W.
type matching struct {
	index []int // for each record of R that matched: its place in W
	bad   int   // the first record of R that does not continue W; -1 if all do
	loose bool  // the index is not in order: calls were made at the same time
}

// match walks R along W. Optional records of W may be missing; calls that were made at the same
// time may stand in any order that From and To allow: that is what linearises the history.
func match(calls []Call, records [][]byte) matching {
	for i := range calls {
		if calls[i].Together != 0 {
			return matchLoosely(calls, records)
		}
	}
	m := matching{index: make([]int, 0, len(records)), bad: -1}
	next := 0
	for i, r := range records {
		for next < len(calls) && (calls[next].Cancelled || !bytes.Equal(calls[next].Record, r) && calls[next].Failed) {
			next++
		}
		if next == len(calls) || !bytes.Equal(calls[next].Record, r) {
			m.bad = i
			return m
		}
		m.index = append(m.index, next)
		next++
	}
	return m
}

// matchLoosely is match where some calls overlap.
func matchLoosely(calls []Call, records [][]byte) matching {
	m := matching{index: make([]int, 0, len(records)), bad: -1, loose: true}
	used := make([]bool, len(calls))
	first := 0 // everything in front of it was used, or is optional and passed over
	for i, r := range records {
		at := follows(calls, used, first, r)
		if at < 0 {
			m.bad = i
			return m
		}
		used[at] = true
		m.index = append(m.index, at)
		for first < at && precedes(&calls[first], &calls[at]) {
			first++ // used, or optional and passed over for good
		}
	}
	return m
}

// follows is the place of a call that may come next and holds record; -1 if none does.
func follows(calls []Call, used []bool, first int, record []byte) int {
	var due []int // calls that are not there yet and must not be passed over by every other
	for n := first; n < len(calls); n++ {
		if used[n] || calls[n].Cancelled {
			continue
		}
		c := &calls[n]
		if bytes.Equal(c.Record, record) {
			if mayBeNext(calls, used, n, due) {
				return n
			}
			return -1
		}
		if c.Failed {
			continue
		}
		due = append(due, n)
		if c.Together == 0 {
			break // nothing behind it can be next
		}
	}
	return -1
}

// mayBeNext reports whether call n may stand behind all used ones and in front of those that
// are due.
func mayBeNext(calls []Call, used []bool, n int, due []int) bool {
	for _, d := range due {
		if precedes(&calls[d], &calls[n]) {
			return false
		}
	}
	for u := n + 1; u < len(calls) && calls[u].Together == calls[n].Together; u++ {
		if used[u] && precedes(&calls[n], &calls[u]) {
			return false
		}
	}
	return true
}

// precedes reports whether a, which was called first, must stand in front of b.
func precedes(a, b *Call) bool {
	return a.Together == 0 || a.Together != b.Together || a.To < b.From
}

// end is the place in W behind the last record that matched.
func (m matching) end() int {
	if len(m.index) == 0 {
		return 0
	}
	if m.loose {
		return slices.Max(m.index) + 1
	}
	return m.index[len(m.index)-1] + 1
}

// whole is a place in W in front of which only optional records are missing.
func (m matching) whole() int {
	if m.loose {
		return 0
	}
	return m.end()
}

// has reports whether the record at a place in W came back.
func (m matching) has(i int) bool {
	if m.loose {
		return slices.Contains(m.index, i)
	}
	_, ok := slices.BinarySearch(m.index, i)
	return ok
}

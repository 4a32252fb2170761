package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// CutKind is what a cut falls between.
type CutKind string

// The kinds of cut. A cut may be of several.
const (
	// CutTorn falls inside a write.
	CutTorn CutKind = "torn"
	// CutBeforeBarrier falls before or inside a sync.
	CutBeforeBarrier CutKind = "before-barrier"
	// CutAfterBarrier falls right behind a sync, before the acknowledgement.
	CutAfterBarrier CutKind = "after-barrier"
	// CutBothWritten falls right behind an acknowledgement.
	CutBothWritten CutKind = "both-written"
	// CutMidCompaction falls between the first marker of a compaction and its end.
	CutMidCompaction CutKind = "mid-compaction"
)

// CutKinds are all kinds, in the order of a record's life.
func CutKinds() []CutKind {
	return []CutKind{CutTorn, CutBeforeBarrier, CutAfterBarrier, CutBothWritten, CutMidCompaction}
}

// ParseCutKind finds a kind by name.
func ParseCutKind(s string) (CutKind, error) {
	var names []string
	for _, k := range CutKinds() {
		if string(k) == s {
			return k, nil
		}
		names = append(names, string(k))
	}
	return "", fmt.Errorf("unknown cut %q: want one of %s", s, strings.Join(names, ", "))
}

// place is one position at which the plug can be pulled.
type place struct {
	cut   crash.Cut
	kinds []CutKind
}

// places are all positions of a trace from op first on: before every op and note, inside
// every op, and at the end.
func places(ops []trace.Op, first int) []place {
	var out []place
	compacting := false
	for n := first; n <= len(ops); n++ {
		var kinds []CutKind
		if n > first {
			prev := ops[n-1]
			compacting = inCompaction(prev, compacting)
			if prev.IsSync() && prev.Err == "" {
				kinds = append(kinds, CutAfterBarrier)
			}
			if prev.Kind == trace.Note && strings.HasSuffix(prev.Text, " acked") {
				kinds = append(kinds, CutBothWritten)
			}
		}
		if compacting {
			kinds = append(kinds, CutMidCompaction)
		}
		if n == len(ops) {
			return append(out, place{crash.Cut{At: n}, kinds})
		}
		inside := slices.Clip(kinds)
		switch op := ops[n]; {
		case op.IsSync():
			kinds = append(kinds, CutBeforeBarrier)
			inside = append(inside, CutBeforeBarrier)
		case op.Kind == trace.Write:
			inside = append(inside, CutTorn)
		}
		out = append(out, place{crash.Cut{At: n}, kinds})
		if ops[n].Kind != trace.Note && ops[n].Kind != trace.Lock && ops[n].Kind != trace.Unlock {
			out = append(out, place{crash.Cut{At: n, Inside: true}, inside})
		}
	}
	return out
}

// inCompaction follows the markers: from the first marker on disk to the end of the call.
func inCompaction(op trace.Op, now bool) bool {
	if op.Kind != trace.Note {
		return now
	}
	if strings.HasPrefix(op.Text, "marker ") {
		return true
	}
	return now && op.Text != "compact returned" && op.Text != "compact failed"
}

// cutsFor are the cuts to enumerate under a model. Without a filter a power model needs
// only the end of each epoch, since every state of an earlier cut is a state there too,
// with at least the same promises; a kill is cut at every place.
func cutsFor(m crash.Model, all []place, ops []trace.Op, first int, filter []CutKind) []crash.Cut {
	var out []crash.Cut
	if len(filter) == 0 && m != crash.Kill {
		for _, c := range crash.Epochs(ops) {
			if c.At >= first {
				out = append(out, c)
			}
		}
		return out
	}
	for _, p := range all {
		if matches(p.kinds, filter) {
			out = append(out, p.cut)
		}
	}
	return out
}

func matches(kinds, filter []CutKind) bool {
	if len(filter) == 0 {
		return true
	}
	for _, k := range kinds {
		if slices.Contains(filter, k) {
			return true
		}
	}
	return false
}

package oracle

import (
	"bytes"

	"github.com/unplug-go/unplug/scenarios/target"
)

// checkView holds UP210: what the journal hands to the next turn is the fold of the records
// that it returned.
func checkView(v *Verdict, p Promise, o Outcome, m matching) {
	if o.Recovered.View == nil {
		return
	}
	want, got := fold(p.Calls, m), *o.Recovered.View
	if sameRecords(want.History, got.History) &&
		bytes.Equal(want.WorldState, got.WorldState) && bytes.Equal(want.TurnContext, got.TurnContext) {
		return
	}
	text := "the history is not the one that the last compaction left"
	if sameRecords(want.History, got.History) {
		text = "a baseline does not belong to the history that it is given with"
	}
	v.Add("UP210", text, viewWords(want), viewWords(got))
}

// fold applies the compaction rule to the records that were returned.
func fold(calls []Call, m matching) target.View {
	var view target.View
	for _, i := range m.index {
		switch c := calls[i]; c.Marker {
		case "compacted":
			view = target.View{History: append([][]byte(nil), c.Replaces...)}
		case "world_state":
			view.WorldState = c.Record
		case "turn_context":
			view.TurnContext = c.Record
		default:
			view.History = append(view.History, c.Record)
		}
	}
	return view
}

func sameRecords(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func viewWords(v target.View) []string {
	out := Words(v.History)
	for _, b := range []struct {
		name string
		data []byte
	}{{"world_state", v.WorldState}, {"turn_context", v.TurnContext}} {
		if b.data == nil {
			out = append(out, b.name+": null")
		} else {
			out = append(out, b.name+": "+Word(b.data))
		}
	}
	return out
}

package journal

import "fmt"

// Compaction replaces the history of a session by a shorter one.
type Compaction struct {
	// ReplacementHistory is the new history, each entry a JSON value.
	ReplacementHistory [][]byte
	// Window counts the compactions of a session, as its owner does.
	Window int64
	// Summary says in words what was left out; it may be empty.
	Summary string
	// WorldState and TurnContext are the new baselines in full, JSON values. Nil leaves a
	// baseline out: it is null until the next turn writes it.
	WorldState, TurnContext []byte
}

// Compact writes the markers of a compaction.
func (j *Journal) Compact(c Compaction) error {
	list := []byte{'['}
	for i, entry := range c.ReplacementHistory {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, entry...)
	}
	list = append(list, ']')
	marker := build(TypeCompacted, pair{name: "replacement_history", raw: list},
		pair{name: "window", raw: fmt.Append(nil, c.Window)}, pair{name: "summary", text: c.Summary})
	events := []Event{marker}
	if c.WorldState != nil {
		events = append(events, build(TypeWorldState, pair{name: "full", raw: []byte("true")}, pair{name: "state", raw: c.WorldState}))
	}
	if c.TurnContext != nil {
		events = append(events, build(TypeTurnContext, pair{name: "context", raw: c.TurnContext}))
	}
	return j.markers(events)
}

// CompactEvents writes the three markers of a compaction as they are given: compacted, world
// state, turn context. Each is durable before the next is written. The first is the commit
// point: a crash behind it leaves its history, and null for each baseline that is not there yet.
func (j *Journal) CompactEvents(compacted, worldState, turnContext Event) error {
	for i, want := range [...]string{TypeCompacted, TypeWorldState, TypeTurnContext} {
		if got := [...]string{compacted.Type, worldState.Type, turnContext.Type}[i]; got != want {
			return fmt.Errorf("%w: marker %d of a compaction has type %q, want %q", ErrEvent, i+1, got, want)
		}
	}
	return j.markers([]Event{compacted, worldState, turnContext})
}

func (j *Journal) markers(events []Event) error {
	var c checker
	for i := range events { // before the first is written: all of them, or none
		members, err := appendMembers(nil, &events[i], &c)
		if err == nil {
			err = j.fits(events[i].Type, len(members))
		}
		if err != nil {
			return err
		}
	}
	for i := range events {
		if err := j.Append(events[i]); err != nil {
			return err
		}
	}
	return nil
}

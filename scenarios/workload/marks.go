package workload

import (
	"strconv"
	"strings"
)

// Event is what a note of the driver says.
type Event string

// What the driver notes. "returned" is a nil error; "acked" is the moment from which the
// contract promises the record.
const (
	Called   Event = "called"
	Returned Event = "returned"
	Failed   Event = "failed"
	Acked    Event = "acked"
	Reached  Event = "reached"
	// Dropped: a compaction was given up; its marker must not show.
	Dropped Event = "dropped"
)

// Mark is a note of the driver: "append 7 called", "open returned", "marker compacted reached".
type Mark struct {
	What  string // append, open, sync, close, compact, rotate, marker
	N     int    // append: the record's number in the program; else -1
	Name  string // marker: its name
	Event Event
}

// String is the note's text.
func (m Mark) String() string {
	switch m.What {
	case "append":
		return "append " + strconv.Itoa(m.N) + " " + string(m.Event)
	case "marker":
		return "marker " + m.Name
	default:
		return m.What + " " + string(m.Event)
	}
}

// ParseMark reads a note's text; other notes than the driver's give false.
func ParseMark(text string) (Mark, bool) {
	what, rest, _ := strings.Cut(text, " ")
	m := Mark{What: what, N: -1}
	switch what {
	case "append":
		number, event, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(number)
		m.N, rest = n, event
		if err != nil {
			return Mark{}, false
		}
	case "marker":
		m.Name, m.Event = rest, Reached
		return m, rest != ""
	case "open", "sync", "close", "compact", "rotate":
	default:
		return Mark{}, false
	}
	m.Event = Event(rest)
	switch m.Event {
	case Called, Returned, Failed, Acked, Dropped:
		return m, true
	default:
		return Mark{}, false
	}
}

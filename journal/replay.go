package journal

// Part says what a message carries.
type Part string

// The parts.
const (
	PartText       Part = "text"
	PartToolUse    Part = "tool_use"
	PartToolResult Part = "tool_result"
)

// ModelMessage is an event as a language model is told it.
type ModelMessage struct {
	Role string // "user", "assistant", or what the event says
	Part Part
	// Text is the content of a PartText whose content is a string.
	Text string
	// Name is the tool's, of a PartToolUse.
	Name string
	// CallID pairs a PartToolUse with its PartToolResult.
	CallID string
	// Data is JSON: the arguments, the output, or a content that is not a string.
	Data []byte
	// Sequence is the event's.
	Sequence int64
}

// Message is the event as a message; ok is false if it has none: reasoning, snapshots, titles,
// markers, unknown types, newer versions, and events without the members that it takes.
func (e *Event) Message() (m ModelMessage, ok bool) {
	if e.SchemaVersion > SchemaVersion {
		return m, false
	}
	m.Sequence = e.Sequence
	switch e.Type {
	case TypeMessage:
		m.Part = PartText
		m.Role, ok = e.Text("role")
		content := e.Value("content")
		if m.Text, _ = e.Text("content"); len(content) > 0 && content[0] != '"' {
			m.Data = content
		}
		return m, ok && content != nil
	case TypeFunctionCall:
		m.Part, m.Role = PartToolUse, "assistant"
		m.Name, _ = e.Text("name")
		m.Data = e.Value("arguments")
	case TypeFunctionCallResult:
		m.Part, m.Role = PartToolResult, "user"
		m.Data = e.Value("output")
	default:
		return m, false
	}
	m.CallID, ok = e.Text("callId")
	return m, ok
}

// Messages maps events to messages; those that have none are left out.
func Messages(events []Event) []ModelMessage {
	var out []ModelMessage
	for i := range events {
		if m, ok := events[i].Message(); ok {
			out = append(out, m)
		}
	}
	return out
}

// Replay is the messages of the last n events; DefaultReplay is a good n. Zero, or less, is none.
// Title and snapshots of the Recovery are from all events, whatever n is.
func (r *Recovery) Replay(n int) []ModelMessage { return Messages(last(r.Events, n)) }

func last(events []Event, n int) []Event {
	return events[max(len(events)-max(n, 0), 0):]
}

// LastTurn is the events from the last message of the user on; without one, all events.
func LastTurn(events []Event) []Event {
	for i := len(events) - 1; i >= 0; i-- {
		if m, ok := events[i].Message(); ok && m.Part == PartText && m.Role == "user" {
			return events[i:]
		}
	}
	return events
}

// LegalSuffix makes events that begin anywhere fit for a model: results whose call is not among
// them are left out. The calls that have no result yet are named, oldest first.
func LegalSuffix(events []Event) (legal []Event, open []string) {
	called := map[string]bool{}
	for i := range events {
		m, ok := events[i].Message()
		switch {
		case ok && m.Part == PartToolUse:
			called[m.CallID] = true
			open = append(open, m.CallID)
		case ok && m.Part == PartToolResult:
			if !called[m.CallID] {
				continue
			}
			open = without(open, m.CallID)
		}
		legal = append(legal, events[i])
	}
	return legal, open
}

func without(list []string, s string) []string {
	for i := range list {
		if list[i] == s {
			return append(list[:i:i], list[i+1:]...)
		}
	}
	return list
}

package journal

import (
	"fmt"
	"strconv"
)

// SchemaVersion is the format that this package writes, and the newest whose events it maps
// to messages.
const SchemaVersion = 1

// The types of events that have a meaning here. Others are kept, and mapped to nothing.
const (
	TypeMessage            = "message"
	TypeReasoning          = "reasoning"
	TypeFunctionCall       = "function_call"
	TypeFunctionCallResult = "function_call_result"
	TypeFileSnapshot       = "file-history-snapshot"
	TypeAITitle            = "ai-title"
	TypeUserTitle          = "user-title"
	TypeCompacted          = "compacted"
	TypeWorldState         = "world_state"
	TypeTurnContext        = "turn_context"

	// typeCheckpoint lines belong to the log itself and are never events.
	typeCheckpoint = "checkpoint"
)

// Event is one fact of a session. To append one, set Type and Payload, or use a constructor;
// the other fields are set when it is read back.
type Event struct {
	// Type is how readers sort it; see the constants.
	Type string
	// Payload is a JSON object (in any spacing; it is written without) whose members become
	// members of the line, byte for byte; nil or "{}" is none. No member may be named like one
	// of the line's own.
	Payload []byte

	// SchemaVersion is the line's format; lines of other writers that name none have 1.
	SchemaVersion int
	// Sequence counts the lines of a log from 1, checkpoints included.
	Sequence int64
	// SessionID is the session that the line belongs to.
	SessionID string
	// RecordedAt is when the writer took the event, as it wrote it (RFC 3339, UTC).
	RecordedAt string
	// Segment is the file that holds the line, from 1.
	Segment int
	// Offset is the line's first byte, counted from the start of segment 1.
	Offset int64
	// Length is the line's bytes, without the newline.
	Length int
	// Checked: the line has a checksum, and it holds. Lines of other writers have none.
	Checked bool

	err error // of a constructor, told by Append
}

// EventID is the name by which other stores refer to the event.
func (e *Event) EventID() string { return EventID(e.SessionID, e.Sequence) }

// EventID is the name of the event with that sequence in a session.
func EventID(session string, sequence int64) string {
	return "transcript:" + session + ":" + strconv.FormatInt(sequence, 10)
}

// Text is a member of the payload that is a string, and whether there is one.
func (e *Event) Text(name string) (string, bool) { return textOf(e.Payload, name) }

// Value is the JSON text of a member of the payload, nil if there is none.
func (e *Event) Value(name string) []byte {
	m, _ := findMember(e.Payload, name)
	return m.value
}

// pair is a member of a payload that a constructor makes; raw JSON if raw is not nil.
type pair struct {
	name string
	text string
	raw  []byte
}

// build makes an event out of members; Append tells what is wrong with one.
func build(typ string, pairs ...pair) Event {
	size := 2
	for _, p := range pairs {
		size += len(p.name) + len(p.text) + len(p.raw) + 8
	}
	e := Event{Type: typ, Payload: append(make([]byte, 0, size), '{')}
	for i, p := range pairs {
		if i > 0 {
			e.Payload = append(e.Payload, ',')
		}
		var ok bool
		e.Payload, _ = appendQuoted(e.Payload, p.name)
		e.Payload = append(e.Payload, ':')
		if p.raw != nil {
			e.Payload = append(e.Payload, p.raw...)
		} else if e.Payload, ok = appendQuoted(e.Payload, p.text); !ok {
			e.err = fmt.Errorf("%w: %s: %s is not UTF-8", ErrEvent, typ, p.name)
		}
	}
	e.Payload = append(e.Payload, '}')
	return e
}

func rawOrNull(json []byte) []byte {
	if json == nil {
		return []byte("null")
	}
	return json
}

// Message is what a user or an assistant said.
func Message(role, content string) Event {
	return build(TypeMessage, pair{name: "role", text: role}, pair{name: "content", text: content})
}

// Reasoning is what a model thought; it becomes no message.
func Reasoning(content string) Event {
	return build(TypeReasoning, pair{name: "content", text: content})
}

// FunctionCall is a tool call. The arguments are a JSON value; nil is null.
func FunctionCall(name string, arguments []byte, callID string) Event {
	return build(TypeFunctionCall, pair{name: "name", text: name}, pair{name: "arguments", raw: rawOrNull(arguments)}, pair{name: "callId", text: callID})
}

// FunctionCallResult is what a tool call gave back, a JSON value; nil is null.
func FunctionCallResult(callID string, output []byte) Event {
	return build(TypeFunctionCallResult, pair{name: "callId", text: callID}, pair{name: "output", raw: rawOrNull(output)})
}

// FileSnapshot is the state of a file that the session changed.
func FileSnapshot(path, hash string) Event {
	return build(TypeFileSnapshot, pair{name: "path", text: path}, pair{name: "hash", text: hash})
}

// AITitle is a title that a model gave the session; the last one counts.
func AITitle(title string) Event { return build(TypeAITitle, pair{name: "title", text: title}) }

// UserTitle is a title that the person gave the session; it counts before any AITitle.
func UserTitle(title string) Event { return build(TypeUserTitle, pair{name: "title", text: title}) }

// typeName gives known types without an allocation.
func typeName(b []byte) string {
	switch string(b) {
	case TypeMessage:
		return TypeMessage
	case TypeReasoning:
		return TypeReasoning
	case TypeFunctionCall:
		return TypeFunctionCall
	case TypeFunctionCallResult:
		return TypeFunctionCallResult
	case TypeFileSnapshot:
		return TypeFileSnapshot
	case TypeAITitle:
		return TypeAITitle
	case TypeUserTitle:
		return TypeUserTitle
	case TypeCompacted:
		return TypeCompacted
	case TypeWorldState:
		return TypeWorldState
	case TypeTurnContext:
		return TypeTurnContext
	case typeCheckpoint:
		return typeCheckpoint
	default:
		return string(b)
	}
}

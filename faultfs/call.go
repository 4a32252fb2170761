package faultfs

import "github.com/unplug-go/unplug/faultfs/trace"

// Call is what a rule waits for: a call of the program, or a note. One call of the program is
// one Call: an open that makes the file is a create and no open, one that cuts it is a truncate.
type Call string

// The calls, as plans spell them. The first group has the names of [trace.Kind].
const (
	CallCreate   Call = "create"
	CallMkdir    Call = "mkdir"
	CallWrite    Call = "write"
	CallTruncate Call = "truncate"
	CallRename   Call = "rename"
	CallRemove   Call = "remove"
	CallLink     Call = "link"
	CallChmod    Call = "chmod"
	CallSync     Call = "sync"
	CallSyncDir  Call = "syncdir"
	CallLock     Call = "lock"
	CallUnlock   Call = "unlock"
	CallNote     Call = "note"

	CallRead    Call = "read"
	CallOpen    Call = "open"
	CallClose   Call = "close"
	CallStat    Call = "stat"
	CallReadDir Call = "readdir"
	CallAttr    Call = "attr" // Chown and Chtimes

	CallAny Call = "any" // each of the above but notes
)

// Calls are all calls, CallAny last.
func Calls() []Call {
	var calls []Call
	for k := trace.Create; k <= trace.Note; k++ {
		calls = append(calls, Call(k.String()))
	}
	return append(calls, CallRead, CallOpen, CallClose, CallStat, CallReadDir, CallAttr, CallAny)
}

// When is the side of the call on which a rule acts.
type When string

// The sides of a call.
const (
	Before When = "before" // the call has not happened
	Inside When = "inside" // a write is cut; any other call was made and did nothing
	After  When = "after"  // the call is performed and recorded, its caller has not heard of it
	On     When = "on"     // the call's outcome is another
)

// Whens are all sides.
func Whens() []When { return []When{Before, Inside, After, On} }

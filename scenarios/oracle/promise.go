package oracle

import "github.com/unplug-go/unplug/scenarios/target"

// Call is one record of W: its append was called.
type Call struct {
	// Record is what was appended.
	Record []byte
	// Failed: the call returned an error, so the record is optional.
	Failed bool
	// Synced: the record is in S, every byte and name of it covered by a completed sync.
	Synced bool
	// Unsure: the harness cannot tell whether the record is in S: its call failed, or is
	// still in flight and a sync has completed since it began.
	Unsure bool
	// Acked: the record is in A.
	Acked bool
	// Kept: an open for writing returned the record, which promises it as an
	// acknowledgement does.
	Kept bool
	// Together tells calls apart that were made at the same time, from 1: the records of one
	// group have no order among them but that of From and To. 0 is a call of its own.
	Together int
	// From and To are the ops at which a call of a group began and returned (math.MaxInt: it
	// has not): one that returned before another began stands in front of it.
	From, To int
	// Cancelled: a compaction that was given up before its commit point: it must not show.
	Cancelled bool
	// Marker is the record's part in a compaction ("compacted", "world_state",
	// "turn_context"), or empty.
	Marker string
	// Group tells compactions apart, from 1.
	Group int
	// Replaces is the history that a compacted marker puts in the place of the old one.
	Replaces [][]byte
}

// Promise is what holds at a cut.
type Promise struct {
	// Calls is W, in write order.
	Calls []Call
	// Domain is how the program ended.
	Domain Domain
	// Exact: the model left what was synced and nothing else, so R must be S.
	Exact bool
}

// Evidence is what the harness knows about the bytes of a crash state.
type Evidence struct {
	// Size of the file that the tail is about, in bytes; -1 if it is not there.
	Size int64
	// Clean: every file of the journal holds what had been written to it, up to the end
	// of a line or of a write, and nothing else.
	Clean bool
	// Complete: not clean, but the last line may be whole: only its newline is missing, or a
	// write ends there. Recovery may count it as a record or report it as a tail.
	Complete bool
	// Boundary: what stands in front of the reported tail is what had been written, and
	// the tail begins where a line or a write ended.
	Boundary bool
	// Terminated: the files deviate from what had been written, and a newline stands at
	// or behind the deviation.
	Terminated bool
}

// Class sorts how a call of the subject ended.
type Class uint8

// How a call ended.
const (
	OK Class = iota
	NotFound
	Corrupt
	Failed   // any other error
	Panicked // the subject panicked
	Hung     // it did not return, or used up its budget of operations
)

//nolint:gochecknoglobals // the spelling of each class, read only
var classNames = [...]string{"ok", "not found", "refused as damaged", "failed", "panicked", "did not return"}

// String is the class in words.
func (c Class) String() string { return classNames[c] }

// Outcome is what recovery said.
type Outcome struct {
	Class     Class
	Err       string // what the subject said, unless OK
	Recovered target.Recovered
}

// Violation is one broken promise.
type Violation struct {
	Rule string   // its ID
	Text string   // what is wrong, in one line
	Want []string // the records (or words) that were promised
	Got  []string // what came back
	Then string   // what was done behind the cut before it showed; empty: recovery showed it
}

// Verdict is the judgement of one state.
type Verdict struct {
	Violations []Violation
	Refused    bool // opening was refused where the contract accepts it
	Tail       bool // a tail was reported
	Lost       bool // an acknowledged record is missing
	Lied       bool // a sync had lied: what is lost is counted, and is no violation
	Records    int  // how many records came back
}

// Add appends a violation.
func (v *Verdict) Add(rule, text string, want, got []string) {
	v.Violations = append(v.Violations, Violation{Rule: rule, Text: text, Want: want, Got: got})
}

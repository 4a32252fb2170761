// Package target is the smallest face of a journal under test: open it, append to it,
// read it back. A subject wraps a journal in these few functions and the whole suite
// runs on it; everything beyond them is an optional interface.
//
// The file system that Open and Recover are given is the only one that they may touch:
// the harness records what is done there and takes the power away.
package target

import "github.com/spf13/afero"

// Journal is an open journal. A nil error from Sync promises that everything appended
// before is durable; a contract may say that Append alone already promises it.
type Journal interface {
	// Append adds one record. The bytes are the caller's again when it returns.
	Append(record []byte) error
	// Sync makes every record appended so far durable.
	Sync() error
	// Close lets the journal go. It need not sync.
	Close() error
}

// Batcher is a journal that appends several records in one call; after a crash in the
// call any prefix of them may be there.
type Batcher interface {
	AppendBatch(records [][]byte) error
}

// Compactor is a journal that replaces its history: three marker records in this order,
// the first of which is the commit point.
type Compactor interface {
	Compact(compacted, worldState, turnContext []byte) error
}

// Canceler is a journal whose compaction can be given up before its commit point. After nil,
// nothing of the compaction may show.
type Canceler interface {
	CancelCompact(compacted []byte) error
}

// Rotator is a journal whose user may begin a new segment.
type Rotator interface {
	Rotate() error
}

// Tail is what recovery reports behind the last record that it accepts. Length 0 is no tail.
type Tail struct {
	// Path is the file that has the tail; empty is the path that Recover was given.
	Path string
	// Offset is where the tail begins, in bytes from the start of the file.
	Offset int64
	// Length is how many bytes it has; it reaches to the end of the file.
	Length int64
	// Kind is the journal's own word for it ("unterminated", "nul", …).
	Kind string
}

// View is what a journal with compaction hands to the next turn: nil baselines are
// baselines that must be written anew.
type View struct {
	History     [][]byte
	WorldState  []byte
	TurnContext []byte
}

// Recovered is what a journal says after a crash.
type Recovered struct {
	// Records are the accepted records, byte for byte as they were appended, oldest first.
	Records [][]byte
	// Tail is what was left aside at the end.
	Tail Tail
	// View is the state after compaction, for subjects that have one.
	View *View
}

// Reader is one more way to read a journal back. What it says must agree with Recover for the
// bytes that it covers.
type Reader struct {
	// Name is the journal's own word for it: "list", "tail 5", "replay", "verify".
	Name string
	// Read reads the journal at path.
	Read func(fsys afero.Fs, path string) (Reading, error)
}

// Reading is what a [Reader] says.
type Reading struct {
	// Count is how many records the reader says that there are; -1 if it does not say.
	Count int
	// Last are the last records of the journal, oldest first, byte for byte as Recover returns
	// them; nil if the reader returns none.
	Last [][]byte
	// Limit is how many records Last may have at most; 0 is all of them.
	Limit int
	// Tail is what it reports behind the last record; nil if it reports no tails.
	Tail *Tail
}

// Subject is a journal under test: its name and how to use it.
type Subject struct {
	// Name is how commands and reports call it.
	Name string
	// Path is the journal's file (or folder) within the file system that it is given;
	// empty is "/journal/log.jsonl". Its folder does not exist at first.
	Path string
	// Open opens the journal for writing, making it if it is not there, and repairs what
	// a crash left.
	Open func(fsys afero.Fs, path string) (Journal, error)
	// Recover reads the journal back. It must not write.
	Recover func(fsys afero.Fs, path string) (Recovered, error)
	// Corrupt tells whether an error of Open or Recover means "the data is damaged and I
	// refuse", as against any other failure. Nil means that the journal never refuses.
	Corrupt func(err error) bool
	// Marker names the compaction marker that the bytes of one write hold ("compacted",
	// "world_state", "turn_context"), or returns "". It may be nil.
	Marker func(written []byte) string
	// Readers are the further ways in which the journal reads itself back (list, tail, replay,
	// verify). They must not write. None is fine.
	Readers []Reader
	// KeepsTails: an open for writing keeps the bytes of a tail that it cuts, in a file of their
	// own in the journal's folder.
	KeepsTails bool
	// Concurrent: Append of an open journal may be called from several goroutines at once.
	Concurrent bool
	// Encode makes the bytes of a record out of a JSON object; nil leaves them as they
	// are. It must be injective, and what Recover returns must be its result again.
	Encode func(object []byte) []byte
}

// DefaultPath is where a subject's journal is when Path is empty.
const DefaultPath = "/journal/log.jsonl"

// File is the subject's path, or DefaultPath.
func (s Subject) File() string {
	if s.Path == "" {
		return DefaultPath
	}
	return s.Path
}

// IsCorrupt applies s.Corrupt, if there is one.
func (s Subject) IsCorrupt(err error) bool {
	return err != nil && s.Corrupt != nil && s.Corrupt(err)
}

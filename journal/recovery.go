package journal

// TailKind is what the bytes behind the last accepted line look like.
type TailKind string

// The kinds of tail.
const (
	// TailUnterminated is part of a line, without a newline.
	TailUnterminated TailKind = "unterminated"
	// TailNUL is nothing but NUL bytes: the size reached the disk and the bytes did not.
	TailNUL TailKind = "nul"
	// TailTerminated has a newline in it (contract Watermark only).
	TailTerminated TailKind = "terminated"
	// TailComplete is no tail: the last line is whole, verified and returned, and only its
	// newline is missing. Its length is 0.
	TailComplete TailKind = "complete"
)

// Tail is what stands behind the last accepted line, up to the end of the newest file.
type Tail struct {
	Path   string
	Offset int64 // in that file
	Length int64
	Kind   TailKind
}

// Snapshot is the state of a file that an event noted.
type Snapshot struct {
	Path     string
	Hash     string
	Sequence int64
}

// Recovery is what a journal says.
type Recovery struct {
	// Path is the journal's first file.
	Path string
	// Session is the log's session; empty for an empty file whose session was not given.
	Session string
	// Events are the accepted events, oldest first: all of them, or as many as Options.Keep says.
	Events []Event
	// Total is how many events there are, in memory or not.
	Total int
	// Lines counts accepted lines: the events and the journal's own checkpoints.
	Lines int
	// Unchecked is how many of the lines have no checksum.
	Unchecked int
	// Newer is how many events have a newer schema_version than this package knows. They are
	// kept, and mapped to nothing.
	Newer int
	// Tail is what was left aside, or that a newline is missing; nil if neither.
	Tail *Tail
	// Empty: there is a file, and nothing in it. That is what a crash right after the creation
	// leaves; it is no proof that nothing was ever there.
	Empty bool
	// Segments is how many files there are.
	Segments int
	// Title is the last title that the person set, else the last that a model gave.
	Title string
	// Snapshots are all file snapshots.
	Snapshots []Snapshot
	// View is the state after the last compaction.
	View View
	// Durable is how much of the log, from the start of segment 1, an accepted line vouches for.
	Durable int64

	size  int64 // where the accepted lines end, from the start of segment 1
	named bool  // Title is the person's
}

// View is what a session goes on with: the history since the last compaction, and its baselines.
type View struct {
	// Base is the history that the last compaction put in place of the old one, each entry the
	// JSON text that it was given as.
	Base [][]byte
	// Events follow it (all events, if there was no compaction), markers left out.
	Events []Event
	// WorldState and TurnContext are the baselines. Nil is none: the next turn writes them in full.
	WorldState, TurnContext *Event
	// Compacted is the marker that set Base, nil if there was none.
	Compacted *Event
}

// fold takes the next event; the view is made apart.
func (r *Recovery) fold(e Event) {
	r.Total++
	if e.SchemaVersion > SchemaVersion {
		r.Newer++
		return
	}
	switch e.Type {
	case TypeAITitle:
		if title, ok := e.Text("title"); ok && !r.named {
			r.Title = title
		}
	case TypeUserTitle:
		if title, ok := e.Text("title"); ok {
			r.Title, r.named = title, true
		}
	case TypeFileSnapshot:
		path, ok := e.Text("path")
		hash, _ := e.Text("hash")
		if ok {
			r.Snapshots = append(r.Snapshots, Snapshot{path, hash, e.Sequence})
		}
	}
}

// fold applies the rule of compaction: compacted is the commit point and clears the baselines.
func (v *View) fold(e Event) {
	typ := e.Type
	if e.SchemaVersion > SchemaVersion {
		typ = "" // what it means there is not known
	}
	switch typ {
	case TypeCompacted:
		marker := e // a copy for each: the parameter stays on the stack
		*v = View{Compacted: &marker, Events: v.Events[:0]}
		if list := e.Value("replacement_history"); len(list) > 0 && list[0] == '[' {
			eachElement(list, func(entry []byte) { v.Base = append(v.Base, entry) })
		}
	case TypeWorldState:
		state := e
		v.WorldState = &state
	case TypeTurnContext:
		context := e
		v.TurnContext = &context
	default:
		v.Events = append(v.Events, e)
	}
}

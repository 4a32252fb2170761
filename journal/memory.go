package journal

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/afero"
)

// Candidate points a memory at the one event that it rests on. It has nothing of the event's
// payload, and making one writes nothing.
type Candidate struct {
	EventID    string
	SessionID  string
	Sequence   int64
	Type       string
	RecordedAt string
	Summary    string
	Reason     string
}

// SelectMemoryCandidate selects an event of a log on disk. It must be a message or a file
// snapshot with a recorded_at, anywhere in the log, and both texts must say something; all else
// is [ErrNotSelectable].
func SelectMemoryCandidate(fsys afero.Fs, path string, opt Options, eventID, summary, reason string) (Candidate, error) {
	refuse := func(why string) (Candidate, error) {
		return Candidate{}, fmt.Errorf("%w: %s: %s", ErrNotSelectable, eventID, why)
	}
	switch {
	case strings.TrimSpace(summary) == "":
		return refuse("a summary is needed")
	case strings.TrimSpace(reason) == "":
		return refuse("a reason is needed")
	}
	session, sequence, ok := parseEventID(eventID)
	if !ok {
		return refuse("an event is called transcript:<session>:<sequence>")
	}
	w, err := Before(fsys, path, sequence+1, 1, opt)
	if err != nil {
		return Candidate{}, err
	}
	switch {
	case w.Session != session:
		return refuse("it belongs to another session")
	case len(w.Events) == 0 || w.Events[0].Sequence != sequence:
		return refuse("no such event is in the log")
	}
	e := &w.Events[0]
	switch {
	case e.Type != TypeMessage && e.Type != TypeFileSnapshot:
		return refuse("only messages and file snapshots can be selected, this is " + e.Type)
	case e.RecordedAt == "":
		return refuse("it does not say when it was recorded")
	}
	return Candidate{eventID, session, sequence, e.Type, e.RecordedAt, summary, reason}, nil
}

// SelectMemoryCandidate is the same for an open journal: an event that was not acknowledged yet
// cannot be selected.
func (j *Journal) SelectMemoryCandidate(eventID, summary, reason string) (Candidate, error) {
	if _, sequence, ok := parseEventID(eventID); ok && sequence > j.acked.Load() {
		return Candidate{}, fmt.Errorf("%w: %s: it is not acknowledged", ErrNotSelectable, eventID)
	}
	opt := j.opt
	opt.Session = j.session
	return SelectMemoryCandidate(j.fsys, j.path, opt, eventID, summary, reason)
}

func parseEventID(id string) (session string, sequence int64, ok bool) {
	rest, ok := strings.CutPrefix(id, "transcript:")
	i := strings.LastIndexByte(rest, ':')
	if !ok || i <= 0 {
		return "", 0, false
	}
	sequence, err := strconv.ParseInt(rest[i+1:], 10, 64)
	return rest[:i], sequence, err == nil && sequence > 0 && strconv.FormatInt(sequence, 10) == rest[i+1:]
}

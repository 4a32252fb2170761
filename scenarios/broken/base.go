package broken

import (
	"errors"

	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/target"
)

// Base is a small journal that is right, and that mistakes are made in.
type Base struct {
	Name     string
	What     string // one sentence: what it is
	Contract oracle.Contract
}

// The bases, by name.
const (
	Lines    = "lines"
	Sums     = "sums"
	Snapshot = "snapshot"
)

// Bases are all of them.
func Bases() []Base {
	return []Base{
		{Lines, "a small line journal without checksums", oracle.Lines()},
		{Sums, "a small line journal with a checksum in each line, and a mark of what was durable when it was written", oracle.Watermark()},
		{Snapshot, "a small journal that writes its whole history anew for each record, and renames it into place", oracle.AtomicReplace()},
	}
}

// Subject is the base with the named bug, which must be one of its own; the empty name gives
// the base itself.
func (b Base) Subject(bug string) target.Subject {
	var s target.Subject
	switch b.Name {
	case Sums:
		s = appending(sums(), bug)
	case Snapshot:
		s = replacing(bug)
	default:
		s = appending(lines(), bug)
		s.Readers = mistake(bug).readers()
	}
	if s.Name = b.Name; bug != "" {
		s.Name += " with " + bug
	}
	s.Corrupt = func(err error) bool { return errors.Is(err, ErrCorrupt) }
	s.Marker = markerOf
	return s
}

// Subject is the journal with the named bug; the empty name gives the line journal, which is
// right.
func Subject(bug string) target.Subject { return baseOf(bug).Subject(bug) }

// Contract is what the journal with the named bug is held to: the contract of its base.
func Contract(bug string) oracle.Contract { return baseOf(bug).Contract }

// BaseSubject is the journal that the mistake is made in, without it.
func (b Bug) BaseSubject() target.Subject { return baseOf(b.Name).Subject("") }

// baseOf is the base that a bug is made in; lines, if there is no such bug.
func baseOf(bug string) Base {
	name := Lines
	for _, b := range Bugs() {
		if b.Name == bug {
			name = b.Base
		}
	}
	for _, b := range Bases() {
		if b.Name == name {
			return b
		}
	}
	return Bases()[0]
}

// Package broken holds a small line journal that is right, and the same journal with one
// mistake at a time. The suite must pass the first and catch each of the others by the rule
// that is meant for it: that is the proof that it is not blind.
//
// # Format
//
// A line is one record and a newline:
//
//	{"seq":1,"record":{…}}
//
// seq counts from 1. There is no checksum, as in most journals in the field. Reading is
// strict: an unterminated last line is a tail; any other line that is not what was written
// is damage.
package broken

import (
	"fmt"
	"strings"
)

// Bug is one mistake.
type Bug struct {
	Name string // how command lines call it
	Rule string // the rule that must catch it
	What string // what the journal does wrong
}

// The mistakes, by name.
const (
	LostFsync      = "lost-fsync"
	EarlyAck       = "early-ack"
	LateNewline    = "late-newline"
	GluedTail      = "glued-tail"
	CutNotSynced   = "cut-not-synced"
	SkipsBadLine   = "skips-bad-line"
	NoDirSync      = "no-dir-sync"
	MarkersSwapped = "markers-swapped"
	SecondOpener   = "second-opener"
	StaleHandle    = "stale-handle"
)

// Bugs are all the mistakes.
func Bugs() []Bug {
	return []Bug{
		{LostFsync, "UP201", "append returns without syncing the file"},
		{EarlyAck, "UP201", "append returns first and syncs at the next call"},
		{LateNewline, "UP201", "the newline is written after the sync and the acknowledgement, with the next record"},
		{GluedTail, "UP206", "open leaves a torn tail in place, and the next record is appended to it"},
		{CutNotSynced, "UP202", "open cuts the torn tail and appends with one sync for both, so that a torn page can forge a line"},
		{SkipsBadLine, "UP203", "a line that does not parse is skipped, and what follows is returned"},
		{NoDirSync, "UP211", "the folder is never synced, so the file's name may be lost"},
		{SecondOpener, "UP212", "open takes no lock, so a second writer is let in"},
		{StaleHandle, "UP212", "the open file is never compared with the one that has the name: after an outside rotation it goes on writing the old one"},
		{MarkersSwapped, "UP210", "compaction writes the world state in front of the compacted marker"},
	}
}

// Find looks a mistake up by name.
func Find(name string) (Bug, error) {
	var names []string
	for _, b := range Bugs() {
		if b.Name == name {
			return b, nil
		}
		names = append(names, b.Name)
	}
	return Bug{}, fmt.Errorf("unknown bug %q: want one of %s", name, strings.Join(names, ", "))
}

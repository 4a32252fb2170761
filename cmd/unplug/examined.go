package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/journal"
	"github.com/unplug-go/unplug/scenarios/oracle"
)

// examined is what is known of a journal after reading it, and what --json prints.
type examined struct {
	Schema    string         `json:"schema"`
	File      string         `json:"file"`
	Contract  string         `json:"contract"`
	Verdict   string         `json:"verdict"`   // clean, tail, damaged or unsupported
	Files     []segment      `json:"files"`     // the log's segments, oldest first
	Events    int            `json:"events"`    // in front of the first damage
	Unchecked int            `json:"unchecked"` // of the events: their lines have no checksum
	Types     map[string]int `json:"types"`
	Trusted   trusted        `json:"trusted"`
	Findings  []byteFinding  `json:"findings"`

	fsys    afero.Fs
	content bool // show what lines say
	listed  []listedEvent
	code    int
}

// listedEvent is where an event is.
type listedEvent struct {
	offset   int64 // from the start of the first segment
	length   int
	sequence int64
	kind     string
	checked  bool
}

// take counts one event.
func (x *examined) take(e *journal.Event, list bool) {
	x.Events++
	x.Types[e.Type]++
	if !e.Checked {
		x.Unchecked++
	}
	if list {
		x.listed = append(x.listed, listedEvent{e.Offset, e.Length, e.Sequence, e.Type, e.Checked})
	}
}

// segment is one file of a log.
type segment struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
	Lines int    `json:"lines"` // newlines
}

// trusted is what is whole in front of the first finding, within one segment.
type trusted struct {
	Path  string `json:"path"`
	Lines int    `json:"lines"`
	Bytes int64  `json:"bytes"`
}

// byteFinding is one thing that is wrong, or remarkable, with the bytes.
type byteFinding struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Offset  int64  `json:"offset"`
	Length  int64  `json:"length,omitempty"`
	Text    string `json:"text"`
	Vouched *bool  `json:"vouched,omitempty"` // of damage: acknowledged data, for certain
	Content string `json:"content,omitempty"` // with --show-content: how the line begins
}

// opened takes in how a log that opens ends.
func (x *examined) opened(r *journal.Recovery) {
	newest := x.Files[len(x.Files)-1]
	x.Trusted = trusted{newest.Path, newest.Lines, newest.Bytes}
	switch t := r.Tail; {
	case t == nil:
	case t.Kind == journal.TailComplete:
		x.Trusted.Lines++
		x.find(byteFinding{
			ID: "UP102", Path: t.Path, Line: x.Trusted.Lines, Offset: t.Offset,
			Text: "the last line is whole but for its newline; it counts as a record",
		})
	default:
		x.tail(t)
	}
}

// tail takes in a partial tail.
func (x *examined) tail(t *journal.Tail) {
	x.Verdict, x.code = "tail", exitTail
	line, _, _ := countLines(x.fsys, t.Path, t.Offset) // it was read a moment ago
	x.Trusted = trusted{t.Path, line, t.Offset}
	f := byteFinding{ID: "UP101", Path: t.Path, Line: line + 1, Offset: t.Offset, Length: t.Length}
	f.Text = fmt.Sprintf("%s bytes follow the last accepted line (%s); nothing in this file vouches for them", count(t.Length), t.Kind)
	if t.Kind == journal.TailNUL {
		f.ID = "UP104"
		f.Text = fmt.Sprintf("%s bytes behind the last accepted line never reached the disk; nothing in this file vouches for them", count(t.Length))
	}
	x.find(f)
}

// failed takes in why a log does not open; false is an error about the file as such.
func (x *examined) failed(err error) bool {
	x.Verdict, x.code = "damaged", exitBroken
	if e, ok := errors.AsType[*journal.CorruptError](err); ok {
		x.Trusted = trusted{e.Path, e.Line - 1, e.Offset}
		f := byteFinding{ID: x.classify(e), Path: e.Path, Line: e.Line, Offset: e.Offset, Text: e.Cause, Vouched: &e.Vouched}
		switch {
		case e.Vouched:
			f.Text += "; acknowledged data is damaged, for certain"
		case x.Contract == "strict" && x.Unchecked < x.Events:
			f.Text += "; nothing vouches for this place, so a crash may have left it: --contract watermark reads it as a tail"
		default:
			f.Text += "; nothing vouches for this place"
		}
		x.find(f)
		return true
	}
	if e, ok := errors.AsType[*journal.VersionError](err); ok {
		x.Verdict, x.code = "unsupported", exitInconclusive
		x.Trusted = trusted{e.Path, e.Line - 1, e.Offset}
		x.find(byteFinding{ID: "UP109", Path: e.Path, Line: e.Line, Offset: e.Offset, Text: fmt.Sprintf("schema version %d is newer than this program", e.Version)})
		return true
	}
	if e, ok := errors.AsType[*journal.TooLargeError](err); ok {
		x.Trusted = trusted{e.Path, e.Line - 1, e.Offset}
		x.find(byteFinding{ID: "UP110", Path: e.Path, Line: e.Line, Offset: e.Offset, Text: fmt.Sprintf("longer than %s bytes; raise --max-line to read it", count(int64(e.Max)))})
		return true
	}
	return false
}

// classify says which kind of damage a bad line is.
func (x *examined) classify(e *journal.CorruptError) string {
	line, err := lineAt(x.fsys, e.Path, e.Offset)
	switch {
	case err != nil || len(line) == 0:
		return "UP105"
	case bytes.IndexByte(line, 0) >= 0:
		return "UP104"
	case bytes.HasPrefix(line, []byte("\xef\xbb\xbf")):
		return "UP107"
	case whole(line):
		return "UP106"
	case bytes.LastIndex(line, []byte(`{"schema_version":`)) > 0:
		return "UP103"
	default:
		return "UP105"
	}
}

// whole reports whether a line is right by itself, so that only its place can be wrong: its
// checksum, the last member, is that of the bytes in front; or it is an object that has none.
func whole(line []byte) bool {
	i := bytes.LastIndex(line, []byte(`,"crc":"`))
	if i < 0 {
		return line[0] == '{' && json.Valid(line)
	}
	text, ok := bytes.CutSuffix(line[i+len(`,"crc":"`):], []byte(`"}`))
	want, err := strconv.ParseUint(string(text), 16, 32)
	return ok && err == nil && uint64(crc32.Checksum(line[:i], crc32.MakeTable(crc32.Castagnoli))) == want
}

// find adds a finding.
func (x *examined) find(f byteFinding) {
	rule, _ := findRule(f.ID)
	f.Name = rule.Name
	if x.content {
		if line, err := lineAt(x.fsys, f.Path, f.Offset); err == nil {
			f.Content = oracle.Word(line)
		}
	}
	x.Findings = append(x.Findings, f)
}

// rename calls the only file by another name: stdin has none of its own.
func (x *examined) rename(name string) {
	x.Trusted.Path = name
	for i := range x.Files {
		x.Files[i].Path = name
	}
	for i := range x.Findings {
		x.Findings[i].Path = name
	}
}

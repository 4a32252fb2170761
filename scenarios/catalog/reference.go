package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/journal"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/target"
)

// references are the reference journal under each of its contracts.
func references() []Entry {
	return []Entry{
		{
			Name:     "reference",
			What:     "the reference journal; only an unterminated last line is forgiven",
			Contract: oracle.Strict(),
			Subject:  reference("reference", journal.Strict),
		},
		{
			Name:     "reference-watermark",
			What:     "the reference journal; every legal crash state opens",
			Contract: oracle.Watermark(),
			Subject:  reference("reference-watermark", journal.Watermark),
		},
	}
}

// segmentLines is small, so that a workload of a few dozen steps rotates the log.
const segmentLines = 24

// reference is package journal as a subject.
func reference(name string, contract journal.Contract) target.Subject {
	opt := journal.Options{
		Root:         "/",
		Create:       true,
		Contract:     contract,
		SegmentLines: segmentLines,
		Now:          func() time.Time { return time.Unix(1_750_000_000, 0).UTC() },
	}
	return target.Subject{
		Name: name,
		Path: "/sessions/garden/log.jsonl",
		Open: func(fsys afero.Fs, path string) (target.Journal, error) {
			j, err := journal.Open(fsys, path, opt)
			if err != nil {
				return nil, err
			}
			return &adapter{j}, nil
		},
		Recover: func(fsys afero.Fs, path string) (target.Recovered, error) {
			r, err := journal.Recover(fsys, path, opt)
			if err != nil {
				return target.Recovered{}, err
			}
			return recovered(r), nil
		},
		Corrupt:    func(err error) bool { return errors.Is(err, journal.ErrCorrupt) },
		Marker:     marker,
		Concurrent: true,
		KeepsTails: true,
		Readers:    referenceReaders(opt),
	}
}

// adapter is an open journal that takes whole records, JSON objects whose first member is
// their type.
type adapter struct{ *journal.Journal }

// Append adds one record.
func (a *adapter) Append(record []byte) error {
	e, err := event(record)
	if err != nil {
		return err
	}
	return a.Journal.Append(e)
}

// AppendBatch adds several records in one call.
func (a *adapter) AppendBatch(records [][]byte) error {
	events := make([]journal.Event, len(records))
	for i, r := range records {
		var err error
		if events[i], err = event(r); err != nil {
			return err
		}
	}
	return a.Journal.Append(events...)
}

// Compact writes the three markers.
func (a *adapter) Compact(compacted, worldState, turnContext []byte) error {
	var events [3]journal.Event
	for i, r := range [...][]byte{compacted, worldState, turnContext} {
		var err error
		if events[i], err = event(r); err != nil {
			return err
		}
	}
	return a.CompactEvents(events[0], events[1], events[2])
}

// opening is how every record begins.
const opening = `{"type":"`

// event takes a record apart: its type, and the other members as they are.
func event(record []byte) (journal.Event, error) {
	rest, ok := bytes.CutPrefix(record, []byte(opening))
	end := bytes.IndexByte(rest, '"')
	if !ok || end < 0 || len(rest) < end+2 || bytes.IndexByte(rest[:end], '\\') >= 0 {
		return journal.Event{}, fmt.Errorf("record %.40q: want a JSON object that begins with its type", record)
	}
	e := journal.Event{Type: string(rest[:end])}
	switch rest = rest[end+1:]; {
	case rest[0] == ',':
		e.Payload = append([]byte{'{'}, rest[1:]...)
	case string(rest) != "}":
		return journal.Event{}, fmt.Errorf("record %.40q: want a JSON object and nothing behind it", record)
	}
	return e, nil
}

// appendRecord puts a record together again, byte for byte.
func appendRecord(b []byte, e *journal.Event) []byte {
	b = append(b, opening...)
	b = append(b, e.Type...)
	b = append(b, '"')
	if len(e.Payload) <= len("{}") {
		return append(b, '}')
	}
	b = append(b, ',')
	return append(b, e.Payload[1:]...)
}

// marker names the compaction marker that a written line is, by its type: the first member
// of that name on the line's top level, which every payload member follows.
func marker(written []byte) string {
	_, rest, ok := bytes.Cut(written, []byte(`,"type":"`))
	if !ok {
		return ""
	}
	for _, name := range [...]string{"compacted", "world_state", "turn_context"} {
		if bytes.HasPrefix(rest, []byte(name)) && len(rest) > len(name) && rest[len(name)] == '"' {
			return name
		}
	}
	return ""
}

// recovered is what a recovery says, in the suite's words.
func recovered(r *journal.Recovery) target.Recovered {
	out := target.Recovered{Records: make([][]byte, len(r.Events)), View: &target.View{}}
	size := 0
	for i := range r.Events {
		size += len(opening) + len(r.Events[i].Type) + len(r.Events[i].Payload) + len(`"}`)
	}
	arena := make([]byte, 0, size)
	for i := range r.Events {
		start := len(arena)
		arena = appendRecord(arena, &r.Events[i])
		out.Records[i] = arena[start:len(arena):len(arena)]
	}
	// The view's events are among those above, in the same order.
	next := 0
	record := func(e *journal.Event) []byte {
		for r.Events[next].Sequence != e.Sequence {
			next++
		}
		return out.Records[next]
	}
	out.View.History = append(out.View.History, r.View.Base...)
	for i := range r.View.Events {
		out.View.History = append(out.View.History, record(&r.View.Events[i]))
	}
	next = 0
	if e := r.View.WorldState; e != nil {
		out.View.WorldState = record(e)
	}
	next = 0
	if e := r.View.TurnContext; e != nil {
		out.View.TurnContext = record(e)
	}
	if t := r.Tail; t != nil && t.Kind != journal.TailComplete {
		out.Tail = target.Tail{Path: t.Path, Offset: t.Offset, Length: t.Length, Kind: string(t.Kind)}
	}
	return out
}

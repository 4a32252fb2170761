package workload

import (
	"errors"
	"fmt"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/scenarios/target"
)

// FS is what the driver works on: a file system that keeps notes.
type FS interface {
	afero.Fs
	// Note puts an application mark into the trace.
	Note(format string, args ...any)
	// Killed reports whether the plug was pulled: everything afterwards fails.
	Killed() bool
}

// Driver performs programs on a subject.
type Driver struct {
	Subject target.Subject
	// AckOnAppend: nil from Append acknowledges (else nil from Sync does).
	AckOnAppend bool
	// Number of the first record, for notes.
	First int

	fsys    FS
	journal target.Journal
	next    int
	waiting []int // returned, not yet acknowledged
}

// CallError is a call of the subject that returned an error.
type CallError struct {
	Call string
	Step int // of the program, from 0; -1 is the open in front of it
	Err  error
}

// Error names the call and its error.
func (f CallError) Error() string { return f.Call + ": " + f.Err.Error() }

// Unwrap gives the subject's error.
func (f CallError) Unwrap() error { return f.Err }

// Run opens the subject on fsys and performs p, noting every call and what became of it.
// The failures are the calls that returned an error; the program goes on after them, unless
// the plug was pulled or the journal cannot be opened. The journal is left open, as a crash
// would; Close lets it go.
func (d *Driver) Run(fsys FS, p Program) []CallError {
	var failures []CallError
	note := func(err error, step int, call string) bool {
		if err != nil {
			failures = append(failures, CallError{call, step, err})
		}
		return err == nil
	}
	if !note(d.Start(fsys), -1, "open") {
		return failures
	}
	for i, s := range p {
		if fsys.Killed() {
			break
		}
		err := d.Do(s)
		note(err, i, fmt.Sprintf("step %d, %s", i, s.Kind))
		if d.journal == nil {
			break
		}
	}
	return failures
}

// Start opens the subject on fsys, for [Driver.Do].
func (d *Driver) Start(fsys FS) error {
	d.fsys, d.next, d.waiting, d.journal = fsys, d.First, nil, nil
	return d.open()
}

// Journal is the open journal, nil if there is none.
func (d *Driver) Journal() target.Journal { return d.journal }

// Close closes the journal, noting it.
func (d *Driver) Close() error {
	if d.journal == nil {
		return nil
	}
	j := d.journal
	d.journal, d.waiting = nil, nil // a sync of the next session acknowledges what that one appended
	d.note("close", Called)
	err := j.Close()
	d.note("close", outcome(err))
	return err
}

func (d *Driver) note(what string, e Event) {
	d.fsys.Note(Mark{What: what, N: -1, Event: e}.String())
}

func (d *Driver) noteAppend(n int, e Event) {
	d.fsys.Note(Mark{What: "append", N: n, Event: e}.String())
}

func outcome(err error) Event {
	if err != nil {
		return Failed
	}
	return Returned
}

func (d *Driver) open() error {
	d.note("open", Called)
	j, err := d.Subject.Open(d.fsys, d.Subject.File())
	if err == nil {
		d.journal = j
	}
	d.note("open", outcome(err))
	return err
}

// Do performs one step on the open journal, as [Driver.Run] does.
func (d *Driver) Do(s Step) error {
	switch s.Kind {
	case Sync:
		return d.sync()
	case Reopen:
		return errors.Join(d.Close(), d.open()) // a journal that cannot close is opened again all the same
	case Compact:
		return d.compact(s.Records)
	case Rotate:
		return d.rotate()
	case Cancel:
		return d.cancel(s.Records[0])
	case Together:
		return d.together(s.Records)
	default:
		return d.append(s.Records)
	}
}

// call notes what becomes of records while do appends them.
func (d *Driver) call(records [][]byte, do func([][]byte) error) error {
	first := d.next
	d.next += len(records)
	encoded := make([][]byte, len(records))
	for i, r := range records {
		encoded[i] = d.Encoded(r)
		d.noteAppend(first+i, Called)
	}
	err := do(encoded)
	for i := range records {
		d.noteAppend(first+i, outcome(err))
		if err == nil {
			d.waiting = append(d.waiting, first+i)
		}
	}
	if d.AckOnAppend && err == nil {
		d.acknowledge()
	}
	return err
}

// Encoded is a record as the subject is given it.
func (d *Driver) Encoded(record []byte) []byte {
	if d.Subject.Encode != nil {
		return d.Subject.Encode(record)
	}
	return record
}

func (d *Driver) acknowledge() {
	for _, n := range d.waiting {
		d.noteAppend(n, Acked)
	}
	d.waiting = d.waiting[:0]
}

func (d *Driver) append(records [][]byte) error {
	end := d.next + len(records)
	defer func() { d.next = end }() // numbers follow the program, also behind a failed call
	if b, ok := d.journal.(target.Batcher); ok && len(records) > 1 {
		return d.call(records, b.AppendBatch)
	}
	for i := range records {
		err := d.call(records[i:i+1], func(rs [][]byte) error { return d.journal.Append(rs[0]) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *Driver) sync() error {
	d.note("sync", Called)
	err := d.journal.Sync()
	d.note("sync", outcome(err))
	if err == nil {
		d.acknowledge()
	}
	return err
}

func (d *Driver) rotate() error {
	r, ok := d.journal.(target.Rotator)
	if !ok {
		return nil
	}
	d.note("rotate", Called)
	err := r.Rotate()
	d.note("rotate", outcome(err))
	return err
}

func (d *Driver) cancel(record []byte) error {
	n := d.next
	d.next++
	c, ok := d.journal.(target.Canceler)
	if !ok {
		return nil
	}
	d.noteAppend(n, Called)
	err := c.CancelCompact(d.Encoded(record))
	if err != nil {
		d.noteAppend(n, Failed)
	} else {
		d.noteAppend(n, Dropped)
	}
	return err
}

func (d *Driver) compact(records [][]byte) error {
	c, ok := d.journal.(target.Compactor)
	if !ok {
		d.next += len(records) // numbers follow the program, so that a repro means the same everywhere
		return nil
	}
	d.note("compact", Called)
	err := d.call(records, func(rs [][]byte) error { return c.Compact(rs[0], rs[1], rs[2]) })
	d.note("compact", outcome(err))
	return err
}

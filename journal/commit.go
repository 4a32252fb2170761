package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// group is the events that share one write and one sync.
type group struct {
	done  chan struct{} // closed when they are on disk, or are not going to be
	err   error
	first int64 // sequence of the first item
	items []item
	buf   []byte // the items' members
}

// item is an event that was taken: copied, and found to be in order.
type item struct {
	typ      string
	from, to int // in buf
	now      time.Time
}

// take copies events into the group that is written next. All of them are in order, or none
// is taken.
func (j *Journal) take(events []Event) (g *group, at int, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.usable(); err != nil {
		return nil, 0, err
	}
	if j.next == nil {
		j.next = &group{done: make(chan struct{})}
	}
	g, at = j.next, len(j.next.items)
	size := len(g.buf)
	now := j.opt.Now()
	for i := range events {
		from := len(g.buf)
		if g.buf, err = appendMembers(g.buf, &events[i], &j.check); err == nil {
			err = j.fits(events[i].Type, len(g.buf)-from)
		}
		if err != nil {
			g.items, g.buf = g.items[:at], g.buf[:size]
			return nil, 0, err
		}
		g.items = append(g.items, item{events[i].Type, from, len(g.buf), now})
	}
	return g, at, nil
}

// lineRoom is more than what the envelope takes beside session, type and members.
const lineRoom = 320

// fits refuses a line that a reader with the same limit would refuse.
func (j *Journal) fits(typ string, members int) error {
	if lineRoom+2*len(j.session)+6*len(typ)+members > j.opt.MaxLine {
		return &TooLargeError{Path: j.path, Offset: -1, Max: j.opt.MaxLine}
	}
	return nil
}

// commit waits until g is on disk. The first of its callers that gets the turn writes it; what
// comes in meanwhile is the next group.
func (j *Journal) commit(g *group) error {
	select {
	case <-g.done:
		return g.err
	case j.turn <- struct{}{}:
	}
	defer func() { <-j.turn }()
	select {
	case <-g.done:
		return g.err
	default:
	}
	j.mu.Lock()
	j.next = nil // it is g: a group that was taken is done before the turn is given back
	err := j.usable()
	j.mu.Unlock()
	if err == nil || errors.Is(err, ErrClosed) { // a close waits for what was taken before it
		err = j.write(g)
	}
	g.err = err
	close(g.done)
	return err
}

// usable is nil while the journal takes events. The lock is held.
func (j *Journal) usable() error {
	if j.poison != nil {
		return j.poison
	}
	if j.closed {
		return ErrClosed
	}
	return nil
}

// write makes the lines of g and puts them on disk: one write, one sync. The turn is held.
func (j *Journal) write(g *group) error {
	if len(g.items) == 0 {
		return nil // its only events were refused
	}
	if j.lines >= j.opt.SegmentLines {
		if err := j.rotate(); err != nil {
			return err
		}
	}
	g.first = j.seq + 1
	j.out = j.out[:0]
	v := envelope{session: j.session, seq: j.seq, durable: j.end(), prev: j.prev}
	for _, it := range g.items {
		v.seq++
		v.now = it.now
		j.out, v.prev = appendLine(j.out, v, it.typ, g.buf[it.from:it.to])
	}
	if err := j.put(j.out); err != nil {
		return err
	}
	j.advance(v, len(g.items))
	j.vouched = false
	return nil
}

// checkpoint writes a line that vouches for everything in front of it. The turn is held.
func (j *Journal) checkpoint() error {
	v := envelope{session: j.session, seq: j.seq + 1, durable: j.end(), prev: j.prev, now: j.opt.Now()}
	j.out, v.prev = appendLine(j.out[:0], v, typeCheckpoint, nil)
	if err := j.put(j.out); err != nil {
		return err
	}
	j.advance(v, 1)
	j.vouched = true
	return nil
}

// end is where the log ends, from the start of segment 1; all of it is on disk.
func (j *Journal) end() int64 { return j.base + j.size }

func (j *Journal) advance(v envelope, lines int) {
	j.size += int64(len(j.out))
	j.lines += lines
	j.seq, j.prev = v.seq, v.prev
	j.acked.Store(v.seq)
}

// put appends bytes and syncs them. After a write that failed it cuts back what is there of
// it; a sync that failed says nothing about what is on disk, so that only a new opening helps.
func (j *Journal) put(b []byte) error {
	n, err := j.file.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		err = fmt.Errorf("journal: appending to %s: %w", j.file.Name(), err)
		if cut := j.cutBack(); cut != nil {
			return j.fail(errors.Join(err, cut))
		}
		return err
	}
	if err := j.file.Sync(); err != nil {
		return j.fail(fmt.Errorf("journal: syncing %s: %w", j.file.Name(), err))
	}
	if err := j.still(j.size + int64(len(b))); err != nil {
		return j.fail(err)
	}
	return nil
}

// cutBack undoes a write that failed, and makes sure of it.
func (j *Journal) cutBack() error {
	if err := j.file.Truncate(j.size); err != nil {
		return err
	}
	if err := j.file.Sync(); err != nil {
		return err
	}
	return j.still(j.size)
}

// still makes sure that the file is the one under its name, and ends where this writer ended
// it: a journal that was renamed, replaced, cut, removed, or written to by somebody else must
// not acknowledge anything more.
func (j *Journal) still(size int64) error {
	open, err := j.file.Stat()
	if err != nil {
		return err
	}
	named, err := j.fsys.Stat(j.name)
	if err != nil {
		return fmt.Errorf("journal: the open file lost its name: %w", err)
	}
	known := os.SameFile(open, open) // not every file system tells its files apart
	switch {
	case known && !os.SameFile(open, named):
		return fmt.Errorf("journal: %s was replaced by another file", j.name)
	case open.Size() != size || named.Size() != size:
		return fmt.Errorf("journal: %s has %d bytes where %d were left: it was cut, replaced, or written to by another program", j.name, named.Size(), size)
	default:
		return nil
	}
}

// fail poisons the journal.
func (j *Journal) fail(err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.poison == nil {
		j.poison = &PoisonedError{Path: j.path, Err: err}
	}
	return j.poison
}

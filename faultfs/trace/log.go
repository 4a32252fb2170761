package trace

import (
	"fmt"
	"slices"
	"sync"
)

// Log is the ordered record of one run. Its methods may be called at the same time from
// several goroutines; the order of the log is the order in which they were taken.
// The zero value is an empty log.
type Log struct {
	mu  sync.Mutex
	ops []Op
}

// firstOps is the room that a log begins with. Most logs are that of an open with a repair and
// of one append behind it, and nearly all of those fit; growing to them from one op up would copy
// and throw away as much again.
const firstOps = 32

// Record appends op and returns its number, from 0. The log keeps op.Data as it is: the
// caller must not change those bytes afterwards.
func (l *Log) Record(op Op) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ops == nil {
		l.ops = make([]Op, 0, firstOps)
	}
	l.ops = append(l.ops, op)
	return len(l.ops) - 1
}

// Note appends an application mark and returns its number.
func (l *Log) Note(format string, args ...any) int {
	if len(args) > 0 {
		format = fmt.Sprintf(format, args...)
	}
	return l.Record(Op{Kind: Note, Text: format})
}

// Len is the number of ops and notes so far.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.ops)
}

// Ops is the log so far. The slice is the caller's to read; later records do not show in it.
func (l *Log) Ops() []Op {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clip(l.ops)
}

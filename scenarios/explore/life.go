package explore

import (
	"math"
	"path"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/target"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// never is an op number that no cut reaches.
const never = math.MaxInt

// entry is one record of W, with the numbers of the ops behind which its standing changes.
type entry struct {
	call     oracle.Call // Record, Marker, Group, Replaces; the flags are set for each cut
	called   int
	returned int
	failed   int
	synced   int
	acked    int
	kept     int
	dropped  int  // a compaction that was given up
	unsure   int  // the first sync that completed after the call began
	buffered bool // the call wrote nothing: a later sync writes
}

// life is one run of the subject: from an open on some image to the moment when the plug
// may be pulled. The first life performs the workload; each further one recovers from a
// crash of the one before and appends one record.
type life struct {
	hist  *crash.History
	first int // ops in front of it belong to a life that was killed; their effects are pending
	w     []entry
	file  string       // the journal's path; empty: every file counts as the journal's
	late  bool         // a sync acknowledges: what an append took may wait in a buffer
	exact bool         // S is known, so model synced can be held to R = S
	chain []report.Cut // the crashes that led here
	depth int          // len(chain)
	// accepted are the sizes of the journal's files that the recovery before this life took
	// without a tail: a line ends there, even if its newline is missing.
	accepted map[string]int64
	tail     target.Tail // what that recovery left aside
	lied     int         // the first sync that said ok and did nothing, by a plan; never, if none did
	frozen   int         // the first sync that took the file system down or made it read-only
	parent   *caseOf     // the crash that it recovers from; nil for the first
	kill     bool        // the last crash was a kill
	model    string      // the model of the last power cut
}

// writeLookup finds what the driver appended under a number.
type writeLookup func(n int) oracle.Call

// newLife reads the notes of a life that ran: ops from first on.
func newLife(hist *crash.History, first int, prior []entry, lookup writeLookup) *life {
	l := &life{hist: hist, first: first, w: prior, lied: never, frozen: never}
	for n, op := range hist.Ops {
		switch op.Result {
		case trace.SyncFailLate, trace.SyncLied:
			if l.frozen == never { // on a file system that is read-only after an error, no sync does anything, and the program knows
				l.lied = min(l.lied, n)
			}
		case trace.SyncFailRO, trace.SyncFailShutdown:
			l.frozen = min(l.frozen, n)
		case trace.SyncOK, trace.SyncFailClean, trace.SyncFailFalse:
		}
	}
	at := map[int]int{} // record number → place in w
	for i, op := range hist.Ops[first:] {
		if op.Kind != trace.Note {
			continue
		}
		m, ok := workload.ParseMark(op.Text)
		if !ok {
			continue
		}
		n := first + i
		if m.What == "open" && m.Event == workload.Returned {
			l.keep(n)
		}
		if m.Event == workload.Failed && (m.What == "sync" || m.What == "close") {
			l.release(n)
		}
		if m.What != "append" {
			continue
		}
		if m.Event == workload.Called {
			at[m.N] = len(l.w)
			l.w = append(l.w, entry{call: lookup(m.N), called: n, returned: never, failed: never, synced: never, acked: never, kept: never, dropped: never, unsure: never})
			continue
		}
		if e := at[m.N]; e < len(l.w) {
			l.w[e].mark(m.Event, n)
		}
	}
	return l
}

// keep notes that an open for writing returned what was there: the records of the life
// before, and those whose append had returned.
func (l *life) keep(n int) {
	for i := range l.w {
		if e := &l.w[i]; e.kept == never && e.returned < n && e.failed == never {
			e.kept = n
		}
	}
}

// release notes that a sync or a close failed: what waited for it is promised by nobody any more.
func (l *life) release(n int) {
	for i := range l.w {
		if e := &l.w[i]; e.returned < n && e.acked == never && e.kept == never {
			e.failed = min(e.failed, n)
		}
	}
}

func (e *entry) mark(ev workload.Event, n int) {
	switch ev {
	case workload.Returned:
		e.returned = n
	case workload.Failed:
		e.failed = n
	case workload.Acked:
		e.acked = min(e.acked, n)
	case workload.Dropped:
		e.dropped = n
	case workload.Called, workload.Reached:
	}
}

// inherit makes the entries of the next life's W out of R and the standing of its records
// at the crash.
func inherit(records [][]byte, calls []oracle.Call) []entry {
	w := make([]entry, 0, len(records)+1)
	next := 0
	for _, r := range records {
		e := entry{call: oracle.Call{Record: r}, called: -1, returned: -1, failed: never, synced: never, acked: never, kept: never, dropped: never, unsure: never}
		for k := range calls { // in order, but for calls that were made at the same time
			i := (next + k) % len(calls)
			if string(calls[i].Record) != string(r) {
				continue
			}
			c := calls[i]
			e.call = oracle.Call{Record: r, Marker: c.Marker, Group: c.Group, Replaces: c.Replaces}
			if c.Acked {
				e.acked = -1
			}
			if c.Kept {
				e.kept = -1
			}
			next = i + 1
			break
		}
		w = append(w, e)
	}
	return w
}

// promise is what holds at a cut.
func (l *life) promise(cut crash.Cut, d oracle.Domain, exact bool) oracle.Promise {
	p := oracle.Promise{Domain: d, Exact: exact && l.exact}
	for i := range l.w {
		e := &l.w[i]
		if e.called >= cut.At {
			break
		}
		c := e.call
		c.Failed = e.failed < cut.At && e.acked >= cut.At // a sync that failed may be followed by one that acknowledges
		c.Cancelled = e.dropped < cut.At
		c.Synced = e.synced < cut.At
		c.Unsure = c.Failed || e.unsure < cut.At && (e.returned >= cut.At || e.buffered && e.acked >= cut.At)
		if c.Together != 0 {
			c.From, c.To = e.called, e.returned
			if l.late {
				c.To = e.acked // until then it may be in a buffer
			}
			if c.To >= cut.At {
				c.To = never
			}
			c.Unsure = true // whose bytes a shared write holds, nobody can tell from outside
		}
		c.Acked = e.acked < cut.At
		c.Kept = e.kept < cut.At
		p.Calls = append(p.Calls, c)
	}
	return p
}

// standing sums up a promise: two cuts of a life with the same standing promise the same.
func (l *life) standing(cut crash.Cut) uint64 {
	h := uint64(14695981039346656037)
	for i := range l.w {
		e := &l.w[i]
		if e.called >= cut.At {
			break
		}
		bits := uint64(1)
		for b, at := range [...]int{e.failed, e.returned, e.synced, e.acked, e.kept, e.unsure, e.dropped} {
			if at < cut.At {
				bits |= 2 << b
			}
		}
		h = (h ^ bits) * 1099511628211
	}
	return h
}

// findSynced works out, for each record, behind which op the last of its bytes and names is
// covered by a completed sync.
func (l *life) findSynced() {
	covered := coverage(l.hist.Ops)
	l.exact = true
	mine := l.journalInos()
	for i := range l.w {
		e := &l.w[i]
		e.synced = l.syncedAt(e, covered, mine)
		for n := e.called; n < len(l.hist.Ops); n++ {
			if l.hist.Ops[n].IsSync() && honest(l.hist.Ops[n]) {
				e.unsure = n
				break
			}
		}
	}
}

// honest reports whether a sync did what it is for.
func honest(op trace.Op) bool {
	return op.Err == "" && op.Result == trace.SyncOK || op.Result == trace.SyncFailFalse
}

// journalInos are the files that bear one of the journal's names at some time in a life: what is
// written to others (counts, caches, locks) is no part of a record. Nil: all are.
func (l *life) journalInos() map[trace.Ino]bool {
	if l.file == "" {
		return nil
	}
	mine := map[trace.Ino]bool{}
	for _, ino := range logFiles(l.hist.Base, l.file) {
		mine[ino] = true
	}
	for _, op := range l.hist.Ops {
		name := op.Path
		if op.Kind == trace.Rename || op.Kind == trace.Link {
			name = op.Path2
		} else if op.Kind != trace.Create {
			continue
		}
		if path.Dir(name) == l.file || path.Dir(name) == path.Dir(l.file) && isSegment(path.Base(l.file), path.Base(name)) {
			mine[op.Ino] = true
		}
	}
	if len(mine) == 0 {
		return nil
	}
	return mine
}

func (l *life) syncedAt(e *entry, covered []int, mine map[trace.Ino]bool) int {
	if e.returned == never {
		return never // still in flight or failed: part of it may be missing
	}
	last, wrote := e.called, false
	files := map[trace.Ino]bool{}
	for n := e.called; n < e.returned; n++ {
		op := l.hist.Ops[n]
		if !op.Changes() {
			continue
		}
		if mine != nil && !mine[op.Ino] && op.Kind != trace.Mkdir {
			continue
		}
		wrote = wrote || op.Kind == trace.Write
		files[op.Ino] = true
		last = max(last, covered[n])
	}
	if !wrote {
		e.buffered = true // a journal with a buffer: its sync writes
		return e.acked
	}
	for n := range e.returned {
		op := l.hist.Ops[n]
		named := op.Kind == trace.Create || op.Kind == trace.Rename
		if op.Changes() && (op.Kind == trace.Mkdir || named && files[op.Ino]) {
			last = max(last, covered[n])
		}
	}
	return last
}

// coverage gives for each op the number of the completed sync that made it durable.
func coverage(ops []trace.Op) []int {
	covered := make([]int, len(ops))
	files, dirs := map[trace.Ino]int{}, map[trace.Ino]int{}
	after := func(m map[trace.Ino]int, ino trace.Ino) int {
		if n, ok := m[ino]; ok {
			return n
		}
		return never
	}
	for n := len(ops) - 1; n >= 0; n-- {
		op := ops[n]
		covered[n] = -1
		switch {
		case op.Kind == trace.SyncFile && (op.Result == trace.SyncFailClean || op.Result == trace.SyncFailLate):
			files[op.Ino] = never // what came before was dropped: no later sync covers it
		case op.Result == trace.SyncFailRO || op.Result == trace.SyncFailShutdown:
			clear(files)
			clear(dirs)
		case op.Kind == trace.SyncFile && honest(op):
			files[op.Ino] = n
		case op.Kind == trace.SyncDir && honest(op):
			dirs[op.Ino] = n
		case op.Kind == trace.Write || op.Kind == trace.Truncate:
			covered[n] = after(files, op.Ino)
		case op.Kind == trace.Rename || op.Kind == trace.Link:
			covered[n] = max(after(dirs, op.Dir), after(dirs, op.Dir2))
		case op.Kind == trace.Create || op.Kind == trace.Mkdir || op.Kind == trace.Remove:
			covered[n] = after(dirs, op.Dir)
		}
	}
	return covered
}

package explore

import (
	"fmt"
	"slices"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/target"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// openName stands in a probe for an open for writing.
const openName = "Open"

const (
	callsMax  = 40 // of one kind of call, so many are failed in turn
	faultSize = 64 // the pieces that reads give while one of them fails
)

// readFaults are readings in which a look at the log fails: each of them in turn, once and from
// then on.
func (s *showing) readFaults(pics []*picture) []reading {
	var out []reading
	for _, p := range pics {
		for _, r := range s.viewer.readers() {
			plain := s.viewer.plain(p, r)
			for _, f := range failures() {
				for n := range min(plain.calls[string(f.call)], callsMax) {
					out = append(out, reading{pic: p, reader: r, done: f.once(n + 1)}, reading{pic: p, reader: r, done: f.sticky(n + 1)})
				}
			}
			out = append(out, reading{pic: p, reader: r, done: "on read * * -> slow 1ms"})
			if !s.viewer.affords(p, r, faultSize) {
				continue
			}
			pieces := shortReads(faultSize)
			eyes := newSpy(p.layer(pieceRules(faultSize)...))
			s.viewer.tell(r, eyes)
			for n := range min(eyes.calls["read"], callsMax) {
				out = append(out, reading{pic: p, reader: r, done: failure{"read", "eio"}.once(n+1) + "; " + pieces})
			}
		}
	}
	return out
}

// failure is a call that looks at something, and how it fails.
type failure struct {
	call faultfs.Call
	kind faultfs.FaultKind
}

func failures() []failure {
	return []failure{
		{faultfs.CallRead, faultfs.EIO},
		{faultfs.CallOpen, faultfs.EIO},
		{faultfs.CallOpen, faultfs.EACCES},
		{faultfs.CallStat, faultfs.EIO},
		{faultfs.CallReadDir, faultfs.EIO},
	}
}

func (f failure) once(n int) string   { return fmt.Sprintf("on %s * %d -> %s", f.call, n, f.kind) }
func (f failure) sticky(n int) string { return fmt.Sprintf("on %s * %d+ -> %s", f.call, n, f.kind) }

// openFaults are opens for writing in which a look at the log fails.
func (s *showing) openFaults(pics []*picture) []reading {
	var out []reading
	for _, p := range pics {
		for _, f := range failures() {
			for n := 1; n <= callsMax; n++ {
				rule, _ := faultfs.ParseRule(f.once(n)) // it is well formed
				fsys := p.layer(rule)
				s.viewer.opened(fsys, nil)
				if len(fsys.Unused()) > 0 {
					break
				}
				out = append(out,
					reading{pic: p, reader: target.Reader{Name: openName}, done: f.once(n)},
					reading{pic: p, reader: target.Reader{Name: openName}, done: f.sticky(n)})
			}
		}
	}
	return out
}

// openTry is one open for writing, and one append if that was asked for.
type openTry struct {
	opened   bool
	failures []workload.CallError
	end      *oracle.Outcome // a panic, or no end
	hung     bool
	changed  []string // the changes, in words
}

// opened opens the log for writing, performs p, and closes it.
func (j *viewer) opened(fsys *faultfs.FS, p workload.Program) openTry {
	var a openTry
	if j.gone {
		return openTry{hung: true}
	}
	d := workload.Driver{Subject: j.subject, AckOnAppend: j.contract.AckOn == oracle.AckAppend, First: extra}
	back := within(j.patience, func() {
		var got openTry
		got.failures, got.end = j.drive(&d, fsys, p)
		got.opened = d.Journal() != nil
		got.changed = changes(fsys.Log().Ops())
		j.letGo(&d)
		a = got
	})
	if !back {
		j.gone = true
		return openTry{hung: true}
	}
	return a
}

// opening opens a picture for writing while a look at it fails, or with no fault. An open that fails so must
// have changed nothing but what it would have changed with no fault: the repair that it had
// begun. One that succeeds must know all records.
func (j *viewer) opening(p *picture, rules []faultfs.Rule) []oracle.Violation {
	var v oracle.Verdict
	mem := faultfs.NewMem(p.image)
	fsys := faultfs.New(mem, faultfs.WithPlan(faultfs.Plan{Rules: rules}), faultfs.WithOpLimit(p.limit()))
	record := extraRecord(0, 0)
	step := workload.Program{{Kind: workload.Append, Records: [][]byte{record}}, {Kind: workload.Sync}}
	a := j.opened(fsys, step)
	want := []string{"the open fails, and every byte and name is as before"}
	whole := j.openedWhole(p)
	now := mem.Image()
	after := j.tell(j.readers()[0], faultfs.New(faultfs.NewMem(now), faultfs.WithOpLimit(p.limit())))
	failed := "a read failed, and "
	if len(rules) == 0 {
		failed = "with no fault, "
	}
	switch {
	case a.hung || a.end != nil:
		v.Add("UP213", failed+"an open for writing did not come to an end", want, []string{"it panicked, or did not return"})
	case !a.opened && now.Hash() != p.image.Hash() && !isPrefix(a.changed, whole.changed):
		v.Add("UP208", failed+"the open for writing that failed with it changed the files", want, a.changed)
	case !a.opened && !keeps(p.whole, after):
		v.Add("UP208", failed+"after the open for writing that failed with it recovery says something else", p.whole.words(), after.words())
	case a.opened && p.whole.class == oracle.Corrupt:
		v.Add("UP208", failed+"an open for writing accepts a log that Recover refuses as damaged", want, a.changed)
	case a.opened && !builds(p.whole, after, j.encode(record), len(a.failures) == 0):
		v.Add("UP208", failed+"an open for writing went on all the same, and records are lost", append(p.whole.words(), "and what was appended"), after.words())
	}
	return v.Violations
}

// openedWhole is what an open for writing does to a picture with no fault.
func (j *viewer) openedWhole(p *picture) openTry { return j.opened(p.layer(), nil) }

func isPrefix(part, list []string) bool {
	return len(part) <= len(list) && slices.Equal(part, list[:len(part)])
}

// keeps reports whether recovery still gives the records that it gave; a tail may be gone.
func keeps(before, after told) bool {
	switch {
	case before.class == oracle.NotFound: // a name that was made, and nothing in it yet
		return after.class == oracle.NotFound || after.class == oracle.OK && len(after.Last) == 0
	case before.class != oracle.OK:
		return after.class == before.class
	}
	return after.class == oracle.OK && equalRecords(before.Last, after.Last)
}

// builds reports whether recovery gives what it gave, and one record more if its append
// succeeded.
func builds(before, after told, record []byte, appended bool) bool {
	n := len(before.Last)
	if after.class != oracle.OK || len(after.Last) < n || !equalRecords(before.Last, after.Last[:n]) {
		return before.class == oracle.NotFound && !appended && after.class == oracle.NotFound
	}
	more := after.Last[n:]
	if len(more) == 0 {
		return !appended
	}
	return len(more) == 1 && string(more[0]) == string(record)
}

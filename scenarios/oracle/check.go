package oracle

import (
	"bytes"
	"fmt"
)

// Check judges what recovery returned from one crash state.
func Check(c Contract, p Promise, e Evidence, o Outcome) Verdict {
	var v Verdict
	switch o.Class {
	case OK:
	case NotFound:
		checkMissing(&v, c, p)
		return v
	case Corrupt:
		if c.Refuse == RefuseTerminated && e.Terminated {
			v.Refused = true
			return v
		}
		v.Add("UP205", "a state that a crash may leave was refused as damaged", []string{"it opens"}, []string{o.Err})
		return v
	default:
		v.Add("UP205", "recovery "+o.Class.String(), []string{"it opens"}, []string{o.Err})
		return v
	}
	v.Records = len(o.Recovered.Records)
	if c.SkipsBad {
		p.Calls = skippable(p.Calls)
	}
	m := match(p.Calls, o.Recovered.Records)
	checkOrder(&v, p, o, m)
	if len(v.Violations) == 0 {
		checkDurable(&v, c, p, o, m)
	}
	if len(v.Violations) == 0 {
		checkView(&v, p, o, m)
		checkTail(&v, c, e, o)
	}
	v.Tail = o.Recovered.Tail.Length > 0
	return v
}

// skippable makes every record optional that was promised to nobody.
func skippable(calls []Call) []Call {
	out := make([]Call, len(calls))
	for i, c := range calls {
		c.Failed = c.Failed || !c.Acked && !c.Kept
		out[i] = c
	}
	return out
}

// checkOrder holds UP202, and UP210 where the record out of place is a compaction marker.
func checkOrder(v *Verdict, p Promise, o Outcome, m matching) {
	if m.bad < 0 {
		return
	}
	got := o.Recovered.Records[m.bad]
	want := words(p.Calls, m.end(), m.end()+1)
	where := -1
	for i, c := range p.Calls {
		if bytes.Equal(c.Record, got) {
			where = i
			break
		}
	}
	switch {
	case where >= 0 && p.Calls[where].Cancelled:
		v.Add("UP210", fmt.Sprintf("compaction %d was given up before its commit point, and its marker is there", p.Calls[where].Group),
			want, []string{Word(got)})
	case where >= 0 && p.Calls[where].Marker != "":
		c := p.Calls[where]
		v.Add("UP210", fmt.Sprintf("marker %s of compaction %d stands where %s was due", c.Marker, c.Group, dueMarker(p, m)),
			want, []string{Word(got)})
	case where < 0:
		v.Add("UP202", fmt.Sprintf("record %d of recovery was never appended", m.bad), want, []string{Word(got)})
	case where < m.end():
		v.Add("UP202", fmt.Sprintf("record %d of recovery is there twice, or out of order (it is append %d)", m.bad, where), want, []string{Word(got)})
	default:
		v.Add("UP202", fmt.Sprintf("record %d of recovery is append %d: a hole in front of it", m.bad, where), want, []string{Word(got)})
	}
}

func dueMarker(p Promise, m matching) string {
	if i := m.end(); i < len(p.Calls) && p.Calls[i].Marker != "" {
		return "marker " + p.Calls[i].Marker
	}
	return "another record"
}

// checkDurable holds UP201 and UP207.
func checkDurable(v *Verdict, c Contract, p Promise, o Outcome, m matching) {
	if p.Exact {
		checkExact(v, p, o, m)
	}
	for i := m.whole(); i < len(p.Calls); i++ {
		call := p.Calls[i]
		if !call.Acked && !call.Kept || m.has(i) || !c.Durable(p.Domain) {
			continue
		}
		v.Lost = v.Lost || call.Acked
		rule, text := "UP201", "acknowledged record %d is lost"
		if !call.Acked {
			rule, text = "UP207", "record %d, which an open for writing had returned, is lost"
		}
		v.Add(rule, fmt.Sprintf(text, i), words(p.Calls, 0, i+1), Words(o.Recovered.Records))
		return
	}
}

// checkExact holds "exactly the fsynced prefix": under model synced, R is S.
func checkExact(v *Verdict, p Promise, o Outcome, m matching) {
	for _, i := range m.index {
		if !p.Calls[i].Synced && !p.Calls[i].Unsure {
			v.Add("UP201", fmt.Sprintf("record %d came back, although no completed sync covers it and unsynced bytes were dropped", i),
				syncedWords(p), Words(o.Recovered.Records))
			return
		}
	}
	for i, call := range p.Calls {
		if call.Synced && !m.has(i) {
			v.Lost = v.Lost || call.Acked
			v.Add("UP201", fmt.Sprintf("record %d, which a completed sync covers, is lost", i), syncedWords(p), Words(o.Recovered.Records))
			return
		}
	}
}

// checkMissing judges a journal that is not there.
func checkMissing(v *Verdict, c Contract, p Promise) {
	for i, call := range p.Calls {
		if (call.Acked || call.Kept || p.Exact && call.Synced) && c.Durable(p.Domain) {
			v.Lost = true
			v.Add("UP211", fmt.Sprintf("the journal's name is lost, with acknowledged record %d in it", i),
				words(p.Calls, 0, i+1), []string{"not found"})
			return
		}
	}
}

// checkTail holds UP204.
func checkTail(v *Verdict, c Contract, e Evidence, o Outcome) {
	tail := o.Recovered.Tail
	if c.NoTail {
		if tail.Length > 0 {
			v.Add("UP204", "a tail was reported, of a file that is only ever replaced as a whole",
				[]string{"no tail"}, []string{fmt.Sprintf("a tail at %d, %d bytes", tail.Offset, tail.Length)})
		}
		return
	}
	if tail.Length == 0 {
		if !e.Clean && !e.Complete && !c.SilentTail {
			v.Add("UP204", "bytes follow the last accepted line and no tail was reported",
				[]string{"a tail with offset, length and kind"}, []string{"no tail"})
		}
		return
	}
	got := fmt.Sprintf("a tail at %d, %d bytes (%s)", tail.Offset, tail.Length, tail.Kind)
	switch {
	case tail.Offset < 0 || tail.Offset+tail.Length != e.Size:
		v.Add("UP204", "the reported tail does not reach to the end of the file",
			[]string{fmt.Sprintf("a tail that ends at %d", e.Size)}, []string{got})
	case e.Clean:
		v.Add("UP204", "a tail was reported, and the file ends with a whole line", []string{"no tail"}, []string{got})
	case !e.Boundary && !c.Binary:
		v.Add("UP204", "the reported tail does not begin where the last accepted line ends",
			[]string{"a tail that begins at the end of a line that was written"}, []string{got})
	}
}

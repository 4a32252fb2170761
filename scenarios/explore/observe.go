package explore

import (
	"fmt"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// Observe drives a workload with no crash and gives its trace in words, a line an op, the
// ops of a call indented below it. Without a program it is two appends and a sync.
func Observe(cfg Config) []string {
	p := cfg.Program
	if p == nil {
		p = workload.Program{
			{Kind: workload.Append, Records: [][]byte{[]byte(`{"type":"message","role":"user","content":"first"}`)}},
			{Kind: workload.Append, Records: [][]byte{[]byte(`{"type":"message","role":"assistant","content":"second"}`)}},
			{Kind: workload.Sync},
		}
	}
	j := &judge{subject: cfg.Subject, contract: cfg.Contract, patience: watchdog}
	fsys := faultfs.New(faultfs.NewMem(image.New()), faultfs.WithOpLimit(opBudget), faultfs.WithMarker(cfg.Subject.Marker))
	d := workload.Driver{Subject: cfg.Subject, AckOnAppend: cfg.Contract.AckOn == oracle.AckAppend}
	var failures []workload.CallError
	var bad *oracle.Outcome
	var ops []trace.Op
	back := within(watchdog, func() {
		failures, bad = j.drive(&d, fsys, p)
		ops = fsys.Log().Ops()
		j.letGo(&d)
	})
	if !back {
		return []string{"the subject did not return in 30 s"}
	}
	var out []string
	for i, op := range ops {
		indent := "    "
		if op.Kind == trace.Note {
			indent = ""
		}
		out = append(out, fmt.Sprintf("%4d  %s%s", i, indent, op))
	}
	for _, f := range failures {
		out = append(out, "failed: "+f.Error())
	}
	if bad != nil {
		out = append(out, "the subject "+bad.Class.String()+": "+bad.Err)
	}
	return out
}

package explore

import (
	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/scenarios/target"
)

// Missing names the scenarios that a subject cannot run, and why.
func Missing(cfg Config) map[string]string {
	out := map[string]string{}
	if cfg.Subject.Marker == nil {
		out["markers"] = "the subject names no compaction markers (Subject.Marker): cuts between them are not counted as such"
	}
	within(watchdog, func() { abilities(cfg, out) })
	return out
}

// abilities opens the journal to see what it offers. A subject that panics or hangs here is a
// finding of the run.
func abilities(cfg Config, out map[string]string) {
	defer func() { _ = recover() }()
	j, err := cfg.Subject.Open(faultfs.New(faultfs.NewMem(image.New()), faultfs.WithOpLimit(opBudget)), cfg.Subject.File())
	if err != nil {
		return
	}
	defer func() { _ = j.Close() }()
	if _, ok := j.(target.Batcher); !ok {
		out["batch"] = "the journal has no AppendBatch: batches are appended one by one"
	}
	if _, ok := j.(target.Compactor); !ok {
		out["compaction"] = "the journal has no Compact: no compaction is crashed"
	}
}

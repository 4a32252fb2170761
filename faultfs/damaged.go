package faultfs

import (
	"os"
	"slices"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/faultfs/trace"
)

// damage changes the bytes of a file on the base and records that as the writes and truncates
// that would have done it. It reports whether it could: not when there is no such file, or the
// damage does not fit its content; then the rule counts as unused. The lock is held.
func (f *FS) damage(s *step, r *armed) bool {
	name := r.Fault.In
	switch {
	case name != "":
	case s.name2 != "" && r.When == After:
		name = s.name2
	default:
		name = s.name
	}
	base, err := f.base.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer func() { _ = base.Close() }() // what counts is whether the bytes were changed
	before, err := afero.ReadAll(base)
	if err != nil {
		return false
	}
	after, err := r.Fault.Damage.Apply(before)
	if err != nil {
		return false
	}
	p := clean(name)
	d := trace.Op{Path: p, Ino: f.inoOf(base, p), Fault: r.String()}
	return f.rewrite(base, d, before, after)
}

// rewrite turns the content before of a file into after, with as few bytes as that takes.
func (f *FS) rewrite(base afero.File, op trace.Op, before, after []byte) bool {
	from := 0
	for from < min(len(before), len(after)) && before[from] == after[from] {
		from++
	}
	to := len(after)
	for len(before) == len(after) && to > from && before[to-1] == after[to-1] {
		to--
	}
	if from < to {
		if _, err := base.WriteAt(after[from:to], int64(from)); err != nil {
			return false
		}
		op.Kind, op.Off, op.Len, op.Data = trace.Write, int64(from), to-from, slices.Clone(after[from:to])
		f.log.Record(op)
	}
	if len(after) < len(before) {
		if err := base.Truncate(int64(len(after))); err != nil {
			return false
		}
		f.log.Record(trace.Op{Kind: trace.Truncate, Ino: op.Ino, Path: op.Path, Size: int64(len(after)), Fault: op.Fault})
	}
	f.grew(int64(len(after) - len(before)))
	return true
}

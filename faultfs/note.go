package faultfs

import (
	"fmt"

	"github.com/unplug-go/unplug/faultfs/trace"
)

// Note records an application mark, formatted as by fmt.Sprintf when there are arguments. Plan
// rules match its text, so a kill can fall between two marks. After a kill it does nothing: a
// dead process says nothing more.
func (f *FS) Note(format string, args ...any) {
	if len(args) > 0 {
		format = fmt.Sprintf(format, args...)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note(format)
}

func (f *FS) note(text string) {
	if f.killed {
		return
	}
	op := trace.Op{Kind: trace.Note, Text: text}
	s := step{call: CallNote, name: text}
	if len(f.rules) > 0 && f.arm(&s, &op) != nil {
		return
	}
	_ = f.end(&s, &op, nil) // a kill shows in the next call
}

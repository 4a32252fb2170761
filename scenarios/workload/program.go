// Package workload is what to do with a journal, as data: a seeded list of steps that
// prints and parses, and a driver that performs it and notes in the trace what was called,
// what returned and what was acknowledged.
//
// # Text form
//
// One step a line; strings are Go string literals, so that any bytes survive:
//
//	append "…"
//	batch "…" "…"
//	together "…" "…"
//	sync
//	compact "compacted" "world state" "turn context" replaces "…" "…"
//	cancel "compacted"
//	rotate
//	reopen
package workload

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind is what a step does.
type Kind string

// The kinds of step.
const (
	// Append adds one record.
	Append Kind = "append"
	// Batch adds several records in one call (one after another, if the journal has no batches).
	Batch Kind = "batch"
	// Together adds several records at the same time, each from a goroutine of its own (one
	// after another, if the subject is for one goroutine only).
	Together Kind = "together"
	// Sync makes what was appended durable.
	Sync Kind = "sync"
	// Compact replaces the history: three marker records (skipped if the journal has no compaction).
	Compact Kind = "compact"
	// Cancel begins a compaction and gives it up before its commit point: nothing of it may show
	// afterwards (skipped if the journal cannot).
	Cancel Kind = "cancel"
	// Rotate begins a new segment (skipped if the journal has no rotation of its own).
	Rotate Kind = "rotate"
	// Reopen closes the journal and opens it again.
	Reopen Kind = "reopen"
)

// Step is one action.
type Step struct {
	Kind     Kind
	Records  [][]byte // Append, Cancel: one; Batch, Together: some; Compact: compacted, world state, turn context
	Replaces [][]byte // Compact: the history that the first record puts in place of the old
}

// Program is a list of steps.
type Program []Step

// String is the step as text.
func (s Step) String() string {
	var b strings.Builder
	b.WriteString(string(s.Kind))
	for _, r := range s.Records {
		b.WriteByte(' ')
		b.WriteString(strconv.Quote(string(r)))
	}
	if len(s.Replaces) > 0 {
		b.WriteString(" replaces")
	}
	for _, r := range s.Replaces {
		b.WriteByte(' ')
		b.WriteString(strconv.Quote(string(r)))
	}
	return b.String()
}

// String is the program as text, a step a line.
func (p Program) String() string {
	var b strings.Builder
	for _, s := range p {
		b.WriteString(s.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// Records is how many records the program appends; one that is given up with its compaction is none.
func (p Program) Records() int {
	n := 0
	for _, s := range p {
		if s.Kind != Cancel {
			n += len(s.Records)
		}
	}
	return n
}

// ParseStep reads one step.
func ParseStep(line string) (Step, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	s := Step{Kind: Kind(word)}
	into := &s.Records
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
		if after, ok := strings.CutPrefix(rest, "replaces "); ok && s.Kind == Compact {
			into, rest = &s.Replaces, after
			continue
		}
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return s, fmt.Errorf("step %s: %q is not a quoted string", word, clip(rest))
		}
		text, err := strconv.Unquote(quoted)
		if err != nil {
			return s, fmt.Errorf("step %s: %s: %w", word, clip(quoted), err)
		}
		*into = append(*into, []byte(text))
		rest = rest[len(quoted):]
	}
	return s, s.check()
}

// check holds how many records each kind of step has.
func (s Step) check() error {
	n, want := len(s.Records), ""
	switch s.Kind {
	case Append, Cancel:
		if n != 1 {
			want = "one record"
		}
	case Batch, Together:
		if n == 0 {
			want = "at least one record"
		}
	case Sync, Rotate, Reopen:
		if n != 0 {
			want = "no record"
		}
	case Compact:
		if n != 3 {
			want = "three records (compacted, world state, turn context)"
		}
	default:
		return fmt.Errorf("unknown step %q: want append, batch, together, sync, compact, cancel, rotate or reopen", string(s.Kind))
	}
	if want != "" {
		return fmt.Errorf("step %s has %d records, want %s", s.Kind, n, want)
	}
	return nil
}

// Parse reads a program, a step a line; empty lines and lines that begin with # are skipped.
func Parse(text string) (Program, error) {
	var p Program
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		s, err := ParseStep(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		p = append(p, s)
	}
	return p, nil
}

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

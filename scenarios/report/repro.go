package report

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// ReproVersion is the version that [Repro.String] writes and the newest that [ParseRepro] reads.
const ReproVersion = 1

// ErrNewer is the cause when a repro file was written by a newer unplug.
var ErrNewer = errors.New("written by a newer unplug: upgrade unplug to read it")

// Cut is one crash of a repro: under which model, where, and which of the states that the
// model allows there.
type Cut struct {
	Model  string
	Tear   int
	At     int    // ops of that life (and of a killed one before) that were complete
	Inside bool   // the next op was in flight
	Choice string // the state, as package crash names it
}

// Repro is a finding that can be rerun: concrete steps and concrete crashes, no random
// numbers. Each cut after the first crashes the recovery from the one before.
//
// # Text form
//
// Lines of a word and its values; # begins a comment.
//
//	unplug repro v1
//	subject reference
//	bug lost-fsync
//	contract strict
//	expect UP201
//	append "…"
//	sync
//	cut model=synced tear=512 at=14 inside choice="…"
//	damage "nul 120 8" "/journal/log.jsonl"
//	probe "readers" "tail 5" "on read * * -> short 1"
type Repro struct {
	Subject  string
	Bug      string
	Contract string
	Expect   string // the rule that must be broken
	Program  workload.Program
	Plan     []string // fault plan, a rule a line
	Cuts     []Cut
	Damage   string     // a damage to the closed log, in the words of fault plans; empty is none
	File     string     // the damaged file
	Ops      []trace.Op // the trace of a run that cannot be had again by running the program, because its appends ran at the same time
	Probe    []string   // a scene beside crashes: its name, and what it was told to do
	Comment  []string
}

// String is the file's text.
func (r *Repro) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "unplug repro v%d\n", ReproVersion)
	for _, c := range r.Comment {
		fmt.Fprintf(&b, "# %s\n", strings.ReplaceAll(c, "\n", " "))
	}
	for _, kv := range [][2]string{{"subject", r.Subject}, {"bug", r.Bug}, {"contract", r.Contract}, {"expect", r.Expect}} {
		if kv[1] != "" {
			fmt.Fprintf(&b, "%s %s\n", kv[0], kv[1])
		}
	}
	for _, rule := range r.Plan {
		fmt.Fprintf(&b, "plan %s\n", strconv.Quote(rule))
	}
	b.WriteString(r.Program.String())
	r.writeOps(&b)
	for _, c := range r.Cuts {
		inside := ""
		if c.Inside {
			inside = " inside"
		}
		fmt.Fprintf(&b, "cut model=%s tear=%d at=%d%s choice=%s\n", c.Model, c.Tear, c.At, inside, strconv.Quote(c.Choice))
	}
	if r.Damage != "" {
		fmt.Fprintf(&b, "damage %s %s\n", strconv.Quote(r.Damage), strconv.Quote(r.File))
	}
	if len(r.Probe) > 0 {
		b.WriteString("probe")
		for _, word := range r.Probe {
			b.WriteString(" " + strconv.Quote(word))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// writeOps writes a recorded trace, a line an op, the codec's header first.
func (r *Repro) writeOps(b *strings.Builder) {
	if len(r.Ops) == 0 {
		return
	}
	var lines strings.Builder
	if err := trace.Encode(&lines, r.Ops); err != nil {
		panic(err) // a trace that was recorded always encodes
	}
	for line := range strings.Lines(lines.String()) {
		b.WriteString("op " + line)
	}
}

// Name is the file's name: the rule and the content's hash.
func (r *Repro) Name() string {
	bare := *r
	bare.Comment = nil
	sum := sha256.Sum256([]byte(bare.String()))
	return strings.ToLower(r.Expect) + "-" + hex.EncodeToString(sum[:4]) + ".unplug"
}

// LineError says where a repro file is wrong.
type LineError struct {
	Line  int // from 1
	Cause error
}

// Error gives line and cause.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Cause) }

// Unwrap gives the cause.
func (e *LineError) Unwrap() error { return e.Cause }

// ParseRepro reads a repro file's text. Errors are of type [*LineError], or wrap a
// [*trace.FormatError] that counts the op lines.
func ParseRepro(text string) (*Repro, error) {
	lines := strings.Split(text, "\n")
	if err := checkVersion(strings.TrimSpace(lines[0]), "unplug repro v", ReproVersion); err != nil {
		return nil, &LineError{1, err}
	}
	r := &Repro{}
	var ops strings.Builder // of a recorded trace, a line each
	for i, line := range lines[1:] {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if op, ok := strings.CutPrefix(line, "op "); ok {
			ops.WriteString(op + "\n")
			continue
		}
		if err := r.parseLine(line); err != nil {
			return nil, &LineError{i + 2, err}
		}
	}
	if ops.Len() > 0 {
		var err error
		if r.Ops, err = trace.Decode(strings.NewReader(ops.String())); err != nil {
			return nil, fmt.Errorf("op lines: %w", err)
		}
	}
	if r.Subject == "" || r.Expect == "" || len(r.Cuts) == 0 && r.Damage == "" && len(r.Probe) == 0 {
		return nil, &LineError{len(lines), errors.New("incomplete: want subject, expect and at least one cut, damage or probe; the file may have been cut off")}
	}
	return r, nil
}

// checkVersion holds that a file begins with what it is, in a version that can be read.
func checkVersion(line, kind string, newest int) error {
	number, ok := strings.CutPrefix(line, kind)
	v, err := strconv.Atoi(number)
	switch {
	case !ok || err != nil || v < 1:
		return fmt.Errorf(`not such a file: want "%s%d" in the first line`, kind, newest)
	case v > newest:
		return fmt.Errorf("version %d: %w", v, ErrNewer)
	}
	return nil
}

func (r *Repro) parseLine(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	var err error
	switch word {
	case "#":
		r.Comment = append(r.Comment, rest)
	case "subject":
		err = once(&r.Subject, word, rest)
	case "bug":
		err = once(&r.Bug, word, rest)
	case "contract":
		err = once(&r.Contract, word, rest)
	case "expect":
		if err = once(&r.Expect, word, rest); err == nil {
			if _, ok := oracle.FindRule(rest); !ok {
				err = fmt.Errorf("expect %q: no such rule; unplug explain lists them", rest)
			}
		}
	case "plan":
		var rule string
		if rule, err = strconv.Unquote(rest); err == nil {
			r.Plan = append(r.Plan, rule)
		}
	case "cut":
		err = r.parseCut(rest)
	case "damage":
		err = r.parseDamage(rest)
	case "probe":
		err = r.parseProbe(rest)
	default:
		var s workload.Step
		if s, err = workload.ParseStep(line); err == nil {
			r.Program = append(r.Program, s)
		}
	}
	return err
}

// once sets a header that may stand only once.
func once(into *string, word, value string) error {
	if *into != "" || value == "" {
		return fmt.Errorf("%s: want it once, with a value", word)
	}
	*into = value
	return nil
}

func (r *Repro) parseDamage(rest string) error {
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return fmt.Errorf("damage: want two quoted strings, what and the file")
	}
	if r.Damage, err = strconv.Unquote(quoted); err == nil {
		r.File, err = strconv.Unquote(strings.TrimSpace(rest[len(quoted):]))
	}
	if err != nil {
		return fmt.Errorf("damage: want two quoted strings, what and the file: %w", err)
	}
	return nil
}

func (r *Repro) parseProbe(rest string) error {
	if len(r.Probe) > 0 {
		return errors.New("probe: want it once")
	}
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return errors.New("probe: want quoted strings, the scene's name first")
		}
		word, err := strconv.Unquote(quoted)
		if err != nil {
			return fmt.Errorf("probe: %w", err)
		}
		r.Probe = append(r.Probe, word)
		rest = rest[len(quoted):]
	}
	if len(r.Probe) == 0 {
		return errors.New("probe: want quoted strings, the scene's name first")
	}
	return nil
}

func (r *Repro) parseCut(rest string) error {
	c := Cut{At: -1}
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
		if after, ok := strings.CutPrefix(rest, "choice="); ok {
			quoted, err := strconv.QuotedPrefix(after)
			if err != nil {
				return errors.New("cut: choice is not a quoted string")
			}
			c.Choice, _ = strconv.Unquote(quoted)
			rest = after[len(quoted):]
			continue
		}
		var word string
		word, rest, _ = strings.Cut(rest, " ")
		key, value, _ := strings.Cut(word, "=")
		var err error
		switch key {
		case "model":
			c.Model = value
		case "tear":
			c.Tear, err = strconv.Atoi(value)
		case "at":
			c.At, err = strconv.Atoi(value)
		case "inside":
			c.Inside = true
		default:
			err = fmt.Errorf("unknown word %q: want model=, tear=, at=, inside or choice=", word)
		}
		if err != nil {
			return fmt.Errorf("cut: %w", err)
		}
	}
	if c.Model == "" || c.At < 0 {
		return errors.New("cut: want model= and at=")
	}
	r.Cuts = append(r.Cuts, c)
	return nil
}

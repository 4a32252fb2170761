// Package oracle is the judge: a pure function from what was promised at a cut and what
// recovery returned to the list of promises that were broken. It sees values, never a disk.
//
// For a cut, W are the records whose append was called, in write order (a call that
// returned an error is optional); S those wholly covered by a completed sync; A those
// acknowledged; R what recovery returned. The rules are in [Rules].
package oracle

import (
	"fmt"
	"strings"
)

// Domain is how the program ended.
type Domain uint8

// The failure domains. A killed process loses nothing that a completed call handed to the
// kernel; a power cut loses what was not synced.
const (
	Power Domain = iota
	Kill
)

// String is "power cut" or "kill".
func (d Domain) String() string {
	if d == Kill {
		return "kill"
	}
	return "power cut"
}

// AckOn says which call's nil error acknowledges a record.
type AckOn uint8

// When a record is acknowledged.
const (
	// AckSync: nil from Sync acknowledges everything appended before.
	AckSync AckOn = iota
	// AckAppend: nil from Append acknowledges the record.
	AckAppend
)

// Refuse says which legal crash states a journal may refuse to open. They are counted,
// never passed over.
type Refuse uint8

// What may be refused.
const (
	// RefuseNothing: every legal crash state opens.
	RefuseNothing Refuse = iota
	// RefuseTerminated: a state in which what was not synced is damaged and a newline
	// follows the damage, so that it reads as a complete bad line (the strict line rule).
	RefuseTerminated
)

// Detect says which damage to synced bytes a journal promises to notice.
type Detect uint8

// What damage is noticed.
const (
	// DetectNothing: no promise.
	DetectNothing Detect = iota
	// DetectStructure: damage that breaks a line's form: NULs in it, or a lost newline that
	// glues two lines.
	DetectStructure
	// DetectBytes: any changed byte in front of the last line.
	DetectBytes
)

// Writers says how many may have a journal open for writing.
type Writers uint8

// Who may write.
const (
	// WritersTrusted: the callers see to it that there is one writer; nothing is promised.
	WritersTrusted Writers = iota
	// WritersOne: the second opener is refused before it writes, and a file that changes under
	// the open handle is noticed.
	WritersOne
	// WritersMany: several may append at once, and every acknowledged record survives.
	WritersMany
)

// Contract is what a journal promises, as data.
type Contract struct {
	Name string
	// AckOn: which call acknowledges.
	AckOn AckOn
	// LosesOnPower: acknowledged records may be lost to a power cut (a journal that only
	// promises to survive a kill).
	LosesOnPower bool
	// Refuse: which legal crash states may be refused.
	Refuse Refuse
	// SilentTail: the journal drops a partial tail without reporting it.
	SilentTail bool
	// SkipsBad: a line that does not parse is passed over, wherever it stands. Records that were
	// not acknowledged may then be missing from the middle, and damage costs a record in silence.
	SkipsBad bool
	// NoTail: the file is replaced as a whole; it is the old one or the new one, and never has
	// a tail.
	NoTail bool
	// Detect: which damage is noticed.
	Detect Detect
	// Writers: how many may have it open for writing.
	Writers Writers
	// Binary: records are not lines; tail offsets are not checked against newlines.
	Binary bool
}

// Strict is the seeds' rule: only an unterminated last line is forgiven and reported;
// everything else fails closed, some legal crash states included.
func Strict() Contract {
	return Contract{Name: "strict", AckOn: AckAppend, Writers: WritersOne, Refuse: RefuseTerminated, Detect: DetectBytes}
}

// Watermark opens every legal crash state and finds every damaged byte that a later line
// vouches for.
func Watermark() Contract {
	return Contract{Name: "watermark", AckOn: AckAppend, Writers: WritersOne, Detect: DetectBytes}
}

// Lines is the strict rule for lines without a checksum: damage is noticed when it breaks
// a line's form.
func Lines() Contract {
	return Contract{Name: "lines", AckOn: AckAppend, Writers: WritersOne, Refuse: RefuseTerminated, Detect: DetectStructure}
}

// Lenient is the rule of most session files in the field: an acknowledged record survives, a
// line that does not parse is skipped without a word, and every state opens.
func Lenient() Contract {
	return Contract{Name: "lenient", AckOn: AckAppend, SkipsBad: true, SilentTail: true}
}

// Append is Lenient for a file that is never synced: what an append handed to the kernel
// survives a kill, and a power cut may take it.
func Append() Contract {
	return Contract{Name: "append", AckOn: AckAppend, LosesOnPower: true, SkipsBad: true, SilentTail: true}
}

// AtomicReplace is the rule of a file that each append writes anew and renames into place: the
// old state or the new one, never a part of one, never nothing.
func AtomicReplace() Contract {
	return Contract{Name: "atomic-replace", AckOn: AckAppend, NoTail: true}
}

// Contracts are those with a name, for command lines.
func Contracts() []Contract {
	return []Contract{Strict(), Watermark(), Lines(), Lenient(), Append(), AtomicReplace()}
}

// ParseContract finds a contract by name.
func ParseContract(name string) (Contract, error) {
	var names []string
	for _, c := range Contracts() {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return Contract{}, fmt.Errorf("unknown contract %q: want one of %s", name, strings.Join(names, ", "))
}

// Check refuses a contract that contradicts itself. The error names the fields.
func (c Contract) Check() error {
	switch {
	case c.AckOn > AckAppend || c.Refuse > RefuseTerminated || c.Detect > DetectBytes || c.Writers > WritersMany:
		return fmt.Errorf("contract %q: a field has a value that has no name", c.Name)
	case c.Binary && c.Refuse == RefuseTerminated:
		return fmt.Errorf("contract %q: Binary says that records are not lines, and Refuse speaks of lines that end: set Refuse to RefuseNothing, or Binary to false", c.Name)
	case c.Binary && c.Detect == DetectStructure:
		return fmt.Errorf("contract %q: Binary says that records are not lines, and Detect promises the form of lines: set Detect to DetectBytes or DetectNothing", c.Name)
	case c.SkipsBad && (c.Detect != DetectNothing || c.Refuse != RefuseNothing):
		return fmt.Errorf("contract %q: SkipsBad passes over bad lines, and Detect or Refuse says that they are refused: set Detect to DetectNothing and Refuse to RefuseNothing, or SkipsBad to false", c.Name)
	case c.NoTail && (c.SilentTail || c.Refuse == RefuseTerminated):
		return fmt.Errorf("contract %q: NoTail says that there is never a tail, and SilentTail or Refuse speaks of one: set one of them otherwise", c.Name)
	case c.SilentTail && c.Detect == DetectBytes:
		return fmt.Errorf("contract %q: SilentTail drops a tail without a word, and Detect promises that no byte is lost without one: set one of them otherwise", c.Name)
	}
	return nil
}

// Durable reports whether acknowledged records must survive in domain d.
func (c Contract) Durable(d Domain) bool { return d == Kill || !c.LosesOnPower }

package report

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/unplug-go/unplug/scenarios/oracle"
)

// BaselineVersion is the version that [Baseline.String] writes and the newest that
// [ParseBaseline] reads.
const BaselineVersion = 1

// Baseline is a list of findings that somebody knows and accepts: only others fail a run.
//
// # Text form
//
// A finding a line, its rule and the hash of its story; # begins a comment.
//
//	unplug baseline v1
//	UP205 5f0c3a91d2e4 # … · append #7 called · CUT (kill: …)
//
// Numbers in a story do not count for its hash, so that a line that grows by a byte is no new
// finding.
type Baseline struct {
	Entries []BaselineEntry
}

// BaselineEntry is one accepted finding.
type BaselineEntry struct {
	Rule    string `json:"rule"`
	Hash    string `json:"hash"` // [Finding.Hash]
	Comment string `json:"story"`
}

// hashLen is how many hexadecimal digits of a story's hash a baseline keeps.
const hashLen = 12

// Hash names a finding by its rule, model and scene and by its story without its numbers.
func (f *Finding) Hash() string {
	story := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, f.Story)
	sum := sha256.Sum256([]byte(f.ID + "\x00" + f.Model + "\x00" + f.Scene + "\x00" + story))
	return hex.EncodeToString(sum[:])[:hashLen]
}

// NewBaseline accepts what a report found, and what it had accepted before.
func NewBaseline(r *Report) *Baseline {
	b := &Baseline{}
	for _, list := range [][]Finding{r.Accepted, r.Violations} {
		for i := range list {
			b.Entries = append(b.Entries, BaselineEntry{list[i].ID, list[i].Hash(), list[i].Story})
		}
	}
	slices.SortFunc(b.Entries, func(x, y BaselineEntry) int { return strings.Compare(x.Rule+x.Hash, y.Rule+y.Hash) })
	b.Entries = slices.CompactFunc(b.Entries, BaselineEntry.same)
	return b
}

func (e BaselineEntry) same(o BaselineEntry) bool { return e.Rule == o.Rule && e.Hash == o.Hash }

// String is the baseline as text.
func (b *Baseline) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "unplug baseline v%d\n", BaselineVersion)
	for _, e := range b.Entries {
		fmt.Fprintf(&s, "%s %s # %s\n", e.Rule, e.Hash, strings.ReplaceAll(e.Comment, "\n", " "))
	}
	return s.String()
}

// ParseBaseline reads a baseline. Errors are of type [*LineError].
func ParseBaseline(text string) (*Baseline, error) {
	lines := strings.Split(text, "\n")
	if err := checkVersion(strings.TrimSpace(lines[0]), "unplug baseline v", BaselineVersion); err != nil {
		return nil, &LineError{1, err}
	}
	b := &Baseline{}
	for i, line := range lines[1:] {
		line, comment, _ := strings.Cut(strings.TrimSpace(line), "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		e := BaselineEntry{Rule: words[0], Comment: strings.TrimSpace(comment)}
		switch _, known := oracle.FindRule(e.Rule); {
		case !known:
			return nil, &LineError{i + 2, fmt.Errorf("%q: no such rule; unplug explain lists them", e.Rule)}
		case len(words) != 2 || len(words[1]) != hashLen:
			return nil, &LineError{i + 2, fmt.Errorf("want a rule and a hash of %d digits", hashLen)}
		}
		if _, err := hex.DecodeString(words[1]); err != nil {
			return nil, &LineError{i + 2, errors.New("the hash is not hexadecimal")}
		}
		e.Hash = words[1]
		b.Entries = append(b.Entries, e)
	}
	return b, nil
}

// Apply takes the accepted findings out of a report's violations, and notes the entries that
// were not found again.
func (b *Baseline) Apply(r *Report) {
	used := make([]bool, len(b.Entries))
	r.Violations = slices.DeleteFunc(r.Violations, func(f Finding) bool {
		for i, e := range b.Entries {
			if e.same(BaselineEntry{Rule: f.ID, Hash: f.Hash()}) {
				used[i] = true
				r.Accepted = append(r.Accepted, f)
				return true
			}
		}
		return false
	})
	for i, e := range b.Entries {
		if !used[i] {
			r.Stale = append(r.Stale, e)
		}
	}
}

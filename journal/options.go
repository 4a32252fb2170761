package journal

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// Contract is how a bad place is answered that nothing proves to be damage.
type Contract uint8

// The contracts; see the package comment.
const (
	// Strict forgives, and reports, only an incomplete last line without a newline.
	Strict Contract = iota
	// Watermark takes everything from an unvouched bad place on as the tail.
	Watermark
)

// String is the contract's name.
func (c Contract) String() string {
	if c == Watermark {
		return "watermark"
	}
	return "strict"
}

// Defaults of [Options].
const (
	DefaultSegmentLines = 10_000
	DefaultMaxLine      = 64 << 20
	DefaultReplay       = 1_000
)

// Keep values of [Options].
const (
	// KeepAll is the zero value: every event stays in memory.
	KeepAll = 0
	// KeepNone keeps no event; counts, title and snapshots are still there.
	KeepNone = -1
)

// Options say how a journal is opened. The zero value is the strict contract on a journal
// that must be there.
type Options struct {
	// Root is the topmost folder whose name must be durable; empty is the file's own folder.
	// Folders that Open makes are made durable in any case.
	Root string
	// Create lets Open make the file, and missing folders above it.
	Create bool
	// Contract is Strict or Watermark.
	Contract Contract
	// Session is the session that the log must belong to. Empty takes the one that the first
	// line names, so that a copied file opens; a new file then gets the name of the file.
	Session string
	// Now is the clock of recorded_at; nil is the machine's.
	Now func() time.Time
	// SegmentLines is after how many lines a new file is begun; 0 is DefaultSegmentLines.
	SegmentLines int
	// NoSidecar cuts a torn tail without keeping its bytes.
	NoSidecar bool
	// MaxLine is the longest line that is read or written, in bytes; 0 is DefaultMaxLine.
	MaxLine int
	// MaxVersion is the newest schema_version that is let through; 0 is any: newer lines are
	// kept as evidence.
	MaxVersion int
	// Keep is how many of the last events stay in memory: KeepAll, KeepNone or a number. With
	// a number, the compaction view is missing what fell out of that window.
	Keep int
	// AllowNoLock opens for writing where the file system has no locks.
	AllowNoLock bool
	// AllowNoFolderSync goes on where the file system cannot sync a folder.
	AllowNoFolderSync bool
}

// fill puts the defaults in, and finds what cannot be.
func (o *Options) fill() error {
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the default clock, in its one place
	}
	if o.SegmentLines <= 0 {
		o.SegmentLines = DefaultSegmentLines
	}
	if o.MaxLine <= 0 {
		o.MaxLine = DefaultMaxLine
	}
	if !plainText([]byte(o.Session)) {
		return fmt.Errorf("journal: session %q: it must be UTF-8 without quotes, backslashes and control characters", o.Session)
	}
	return nil
}

// root puts the default of Root in, and finds out whether it is above the file.
func (o *Options) root(path string) error {
	dir := filepath.Dir(path)
	if o.Root == "" {
		o.Root = dir
	}
	_, err := above(o.Root, dir)
	return err
}

// above lists dir and the folders above it, up to root.
func above(root, dir string) ([]string, error) {
	root = filepath.Clean(root)
	var out []string
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		out = append(out, d)
		if d == root {
			return out, nil
		}
		if d == filepath.Dir(d) {
			return nil, fmt.Errorf("journal: root %q is not above the journal's folder %q: name a folder that holds it", root, dir)
		}
	}
}

// stem is the file's name without folder and extension.
func stem(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

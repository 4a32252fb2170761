package crash

import (
	"fmt"
	"strings"
)

// Model names a set of rules for what a cut may leave. The spelling is the one that
// commands, reports and saved failures use.
type Model string

// The ten models, mildest first within each group (see [Order] for what contains what).
const (
	Kill        Model = "kill"
	Synced      Model = "synced"
	Prefix      Model = "prefix"
	Contiguous  Model = "contiguous"
	OwnPage     Model = "own-page"
	Ext4Ordered Model = "ext4-ordered"
	Ext4OOO     Model = "ext4-ooo"
	Writeback   Model = "writeback"
	PosixWorst  Model = "posix-worst"
	LyingFlush  Model = "lying-flush"
)

// Models is every model, in the order of tables and help texts.
func Models() []Model {
	return []Model{
		Kill, Synced, Prefix, Contiguous, OwnPage,
		Ext4Ordered, Ext4OOO, Writeback, PosixWorst, LyingFlush,
	}
}

// Default is the set that torture runs when none is named, each with the tear unit that
// [Model.DefaultTear] gives. [LyingFlush] is not in it: its verdicts are never failures.
func Default() []Model {
	return []Model{Kill, Synced, Prefix, OwnPage, Ext4OOO, PosixWorst}
}

// ParseModel is the model of that name. The error lists all ten.
func ParseModel(name string) (Model, error) {
	if m := Model(name); m.DefaultTear() != 0 {
		return m, nil
	}
	names := make([]string, 0, len(Models()))
	for _, m := range Models() {
		names = append(names, string(m))
	}
	return "", fmt.Errorf("unknown model %q: choose one of %s", name, strings.Join(names, ", "))
}

// DefaultTear is the unit, in bytes, at which the model tears writes when [Options.Tear]
// is 0: the one that real systems of that kind showed, or the harshest that they may. It is
// 0 for a name that is no model.
func (m Model) DefaultTear() int {
	switch m {
	case Prefix, LyingFlush:
		return 1
	case Ext4OOO, Ext4Ordered, Contiguous, Writeback, PosixWorst:
		return 512
	case Kill, Synced, OwnPage:
		return 4096
	default:
		return 0
	}
}

// Doc says in one sentence what the model leaves, and in a second what it stands for.
func (m Model) Doc() string {
	switch m {
	case Kill:
		return "Every completed operation; the one in flight may be cut. Stands for SIGKILL, a panic, the OOM killer."
	case Synced:
		return "What was synced and nothing else, one state. Stands for the promise \"exactly the fsynced prefix\"."
	case Prefix:
		return "All changes in program order, cut anywhere, at any byte. Stands for ext4 data=journal and btrfs."
	case Contiguous:
		return "The size never passes bytes that are not there. Stands for btrfs nodatacow."
	case OwnPage:
		return "A size needs only the page of its last byte: a hole of NULs may come before it. Stands for XFS."
	case Ext4Ordered:
		return "NULs to the end of the last old page; new pages in order; one chain of names and sizes. Stands for ext4 with in-order writeback."
	case Ext4OOO:
		return "NULs at the end of the last old page, and holes in new ones. Stands for ext4, the default, with any writeback order."
	case Writeback:
		return "No order between bytes and size. Stands for ext4 data=writeback and NTFS-like copies."
	case PosixWorst:
		return "Any subset of sectors and of directory entries, rename in three parts. Stands for nothing real: what POSIX does not forbid."
	case LyingFlush:
		return "Another model, but the last syncs did nothing. Stands for cheap disk caches and plain fsync on macOS."
	default:
		return ""
	}
}

// edge says what a step of a file's size needs on the disk before it.
type edge uint8

const (
	edgeNone edge = iota
	edgeContiguous
	edgeOwnPage
	edgeOrdered
	edgeOOO
)

// rules is a model taken apart, so that the planner asks for properties and not for names.
type rules struct {
	linear  bool // one chain over everything (kill, prefix)
	single  bool // synced: the durable state is the only one
	free    bool // posix-worst: entries and sectors independent
	edge    edge
	merged  bool // names and size steps share one chain
	replace bool // the data of a precede a rename of a over something
}

func (m Model) rules() rules {
	switch m {
	case Kill, Prefix:
		return rules{linear: true}
	case Synced:
		return rules{single: true, free: true}
	case Contiguous:
		return rules{edge: edgeContiguous, replace: true}
	case OwnPage:
		return rules{edge: edgeOwnPage}
	case Ext4Ordered:
		return rules{edge: edgeOrdered, merged: true, replace: true}
	case Ext4OOO:
		return rules{edge: edgeOOO, replace: true}
	case PosixWorst:
		return rules{free: true}
	default: // Writeback; LyingFlush is resolved to its base before anybody asks
		return rules{}
	}
}

// Options are the settings of a model. The zero value is each model as its table row says,
// which is the harshest that fits what the model stands for.
type Options struct {
	// Tear is the unit of torn writes in bytes: 1, 512 or 4096. 0 is the model's default.
	Tear int
	// LyingSyncs is how many of the last completed syncs did nothing ([LyingFlush] only).
	// 0 is 1.
	LyingSyncs int
	// Base is the model whose rules hold otherwise under [LyingFlush]. Empty is [Prefix].
	Base Model
	// ReplaceFlush sets whether the bytes of a file reach the disk before a rename of it
	// over an existing name. Nil is the model's habit: on for contiguous and ext4-*.
	ReplaceFlush *bool
	// Stale lets bytes that a truncate freed come back inside a later, larger size
	// ([Writeback] and [PosixWorst] only).
	Stale bool

	page int64 // the page of the data/size edge; 0 is 4096. Tests use small ones.
}

// settings are options with every default filled in.
type settings struct {
	rules
	model Model
	tear  int64
	page  int64
	lies  int
	stale bool
}

func resolve(m Model, o Options) (settings, error) {
	if _, err := ParseModel(string(m)); err != nil {
		return settings{}, err
	}
	s := settings{model: m, tear: int64(o.Tear), page: o.page, stale: o.Stale}
	if o.Tear == 0 {
		s.tear = int64(m.DefaultTear())
	}
	if s.page == 0 {
		s.page = 4096
		if s.tear != 1 && s.tear != 512 && s.tear != 4096 {
			return settings{}, fmt.Errorf("tear unit %d: choose 1, 512 or 4096 bytes", o.Tear)
		}
	}
	base, err := s.lie(m, o)
	if err != nil {
		return settings{}, err
	}
	if o.Stale && base != Writeback && base != PosixWorst {
		return settings{}, fmt.Errorf("stale bytes belong to writeback and posix-worst, not to %s", base)
	}
	s.rules = base.rules()
	if o.ReplaceFlush != nil {
		s.replace = *o.ReplaceFlush && !s.linear && !s.free
	}
	s.model = base
	return s, nil
}

// lie sets how many syncs lie, and gives the model whose rules hold otherwise.
func (s *settings) lie(m Model, o Options) (Model, error) {
	if m != LyingFlush {
		if o.LyingSyncs != 0 || o.Base != "" {
			return "", fmt.Errorf("LyingSyncs and Base belong to lying-flush, not to %s", m)
		}
		return m, nil
	}
	if o.LyingSyncs < 0 {
		return "", fmt.Errorf("LyingSyncs %d: want 1 or more", o.LyingSyncs)
	}
	s.lies = max(o.LyingSyncs, 1)
	if o.Base == "" {
		return Prefix, nil
	}
	if _, err := ParseModel(string(o.Base)); err != nil {
		return "", fmt.Errorf("base of lying-flush: %w", err)
	}
	if o.Base == Kill || o.Base == LyingFlush {
		return "", fmt.Errorf("base of lying-flush: %s is no model of a power cut, choose another", o.Base)
	}
	return o.Base, nil
}

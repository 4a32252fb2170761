// Package trace holds what a program did to a file system, as values: the
// ordered log of operations and notes of one run. Everything above it (images,
// crash models, the oracle, reports) reads this log; nothing in it touches a disk.
//
// # Format
//
// A log is written as JSON lines. The first line names the format:
//
//	{"unplug":"trace","version":1}
//
// Each further line is one [Op]; its position (from 0) is its number. Members
// with their zero value are left out. Bytes ("data") are base64, so that a
// damaged file survives the trip. `jq` reads it.
//
// # Identity
//
// Operations name inodes, not only paths: a crash state may keep a file's bytes
// and lose its name, or the reverse. Numbers are given by the layer that
// records; 1 is the root folder, 0 is "none".
package trace

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Ino is the number of a file or folder within one trace. Root is 1, 0 is none.
type Ino uint64

// Root is the inode of the top folder of every trace.
const Root Ino = 1

// Kind says what an [Op] did.
type Kind uint8

// The kinds of operation. Reads, opens and closes change nothing that a crash
// could lose and are not recorded, except an open that creates ([Create]) or
// cuts ([Truncate]).
const (
	// KindNone is no operation.
	KindNone Kind = iota
	// Create made the empty file Ino and gave it the name Path in folder Dir.
	Create
	// Mkdir made the empty folder Ino and gave it the name Path in folder Dir.
	Mkdir
	// Write put Data at Off of file Ino. Len bytes were asked for; a short write has more Len than Data.
	Write
	// Truncate set the size of file Ino to Size.
	Truncate
	// Rename moved Ino from Path in Dir to Path2 in Dir2, over Target if that is not 0.
	Rename
	// Remove took the name Path of Ino out of folder Dir.
	Remove
	// Link gave file Ino the further name Path2 in folder Dir2 (Path and Dir are the old name's).
	Link
	// Chmod set the permission bits of Ino to Mode.
	Chmod
	// SyncFile is fsync of file Ino.
	SyncFile
	// SyncDir is fsync of folder Ino.
	SyncDir
	// Lock took the writer's lock of file Ino; Unlock gave it back. No crash model looks at them.
	Lock
	// Unlock gave back the writer's lock of file Ino.
	Unlock
	// Note is an application mark (Text): "append 7 called", "append 7 acked", "marker compacted".
	Note
	kindEnd
)

//nolint:gochecknoglobals // the spelling of each kind, read only
var kindNames = [kindEnd]string{
	KindNone: "none", Create: "create", Mkdir: "mkdir", Write: "write", Truncate: "truncate",
	Rename: "rename", Remove: "remove", Link: "link", Chmod: "chmod", SyncFile: "sync",
	SyncDir: "syncdir", Lock: "lock", Unlock: "unlock", Note: "note",
}

// String is the kind's name as plans and trace files spell it.
func (k Kind) String() string {
	if k < kindEnd {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// ParseKind is the reverse of [Kind.String].
func ParseKind(s string) (Kind, error) {
	for k, name := range kindNames {
		if name == s && k != 0 {
			return Kind(k), nil
		}
	}
	return KindNone, fmt.Errorf("unknown operation %q, want one of %s", s, strings.Join(kindNames[1:], ", "))
}

// MarshalText spells the kind for trace files.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (k *Kind) UnmarshalText(b []byte) (err error) { *k, err = ParseKind(string(b)); return err }

// SyncResult says what a sync really did, where that differs from what it should have
// done. The names and transitions are those of persistence-failure studies (README,
// "Assumptions"); package crash applies them.
type SyncResult string

// What became of a sync.
const (
	// SyncOK is an honest sync that succeeded, or, with Err set, one that failed and did nothing.
	SyncOK SyncResult = ""
	// SyncFailClean failed with EIO; the file's dirty pages are marked clean and are never
	// written, its new size persists, and the next sync succeeds ("fsyncgate").
	SyncFailClean SyncResult = "fail-clean"
	// SyncFailRO failed on a metadata error; the file system is read-only from here on and a
	// crash shows what was durable before.
	SyncFailRO SyncResult = "fail-ro"
	// SyncFailShutdown failed and took the file system down: every later call fails.
	SyncFailShutdown SyncResult = "fail-shutdown"
	// SyncFailFalse failed with EIO although everything persisted.
	SyncFailFalse SyncResult = "fail-false"
	// SyncFailLate succeeded, and the loss shows only after a crash.
	SyncFailLate SyncResult = "fail-late"
	// SyncLied succeeded and did nothing (a lying flush).
	SyncLied SyncResult = "lied"
)

// SyncResults are all results but SyncOK, for parsers and tables.
func SyncResults() []SyncResult {
	return []SyncResult{SyncFailClean, SyncFailRO, SyncFailShutdown, SyncFailFalse, SyncFailLate, SyncLied}
}

// Op is one operation that was performed, or one note. Paths are cleaned and absolute
// within the traced file system ("/a/b.jsonl"); offsets and sizes are bytes.
type Op struct {
	Kind   Kind        `json:"kind"`
	Ino    Ino         `json:"ino,omitempty"`
	Dir    Ino         `json:"dir,omitempty"`
	Path   string      `json:"path,omitempty"`
	Dir2   Ino         `json:"dir2,omitempty"`
	Path2  string      `json:"path2,omitempty"`
	Target Ino         `json:"target,omitempty"`
	Off    int64       `json:"off,omitempty"`
	Data   []byte      `json:"data,omitempty"` // the bytes that reached the file; never changed afterwards
	Len    int         `json:"len,omitempty"`
	Size   int64       `json:"size,omitempty"`
	Mode   fs.FileMode `json:"mode,omitempty"`
	Result SyncResult  `json:"result,omitempty"`
	Err    string      `json:"err,omitempty"`   // what the program was told; empty is success
	Fault  string      `json:"fault,omitempty"` // the plan rule that made it so; empty is none
	Text   string      `json:"text,omitempty"`
}

// Changes reports whether the op changed bytes, sizes or names (a failed write may have,
// in part: then Data holds that part).
func (o Op) Changes() bool {
	switch o.Kind {
	case Write:
		return len(o.Data) > 0
	case Create, Mkdir, Truncate, Rename, Remove, Link, Chmod:
		return o.Err == ""
	default:
		return false
	}
}

// IsSync reports whether the op is a sync of a file or a folder, failed or not.
func (o Op) IsSync() bool { return o.Kind == SyncFile || o.Kind == SyncDir }

// Entry is the name that the op gave, took or moved from, within Dir.
func (o Op) Entry() string { return path.Base(o.Path) }

// Entry2 is the new name of a rename or link, within Dir2.
func (o Op) Entry2() string { return path.Base(o.Path2) }

// String is the op in a few words, for stories: `write log.jsonl 120..240`.
func (o Op) String() string {
	name := strings.TrimPrefix(o.Path, "/")
	if name == "" {
		name = "."
	}
	var s string
	switch o.Kind {
	case Note:
		return o.Text
	case Write:
		s = fmt.Sprintf("write %s %d..%d", name, o.Off, o.Off+int64(len(o.Data)))
		if o.Len > len(o.Data) {
			s += fmt.Sprintf(" (short, %d asked)", o.Len)
		}
	case Truncate:
		s = fmt.Sprintf("truncate %s to %d", name, o.Size)
	case Rename, Link:
		s = fmt.Sprintf("%s %s to %s", o.Kind, name, strings.TrimPrefix(o.Path2, "/"))
	case Chmod:
		s = fmt.Sprintf("chmod %s %04o", name, o.Mode.Perm())
	case SyncDir:
		s = fmt.Sprintf("sync folder %s", name)
	default:
		s = fmt.Sprintf("%s %s", o.Kind, name)
	}
	if o.Err != "" {
		s += " failed: " + o.Err
	}
	if o.Result != SyncOK {
		s += " (" + string(o.Result) + ")"
	}
	return s
}

package journal

import (
	"errors"
	"fmt"
)

// Errors that callers compare with errors.Is. An absent file is [io/fs.ErrNotExist], as the
// file system said it.
var (
	// ErrCorrupt is every [*CorruptError]: the bytes are not what a writer left, or cannot be
	// told from that. Nothing else is ErrCorrupt.
	ErrCorrupt = errors.New("the journal is damaged")
	// ErrClosed is the use of a journal that was closed.
	ErrClosed = errors.New("the journal is closed")
	// ErrEvent is an event that Append refuses; nothing was written.
	ErrEvent = errors.New("the event cannot be appended")
	// ErrNotSelectable is an event that cannot become a memory candidate.
	ErrNotSelectable = errors.New("the event cannot be selected for memory")
)

// CorruptError says where a journal stops being what was written, and why the reader stops
// there too.
type CorruptError struct {
	Path   string
	Line   int   // from 1, in that file
	Offset int64 // of the line's first byte, in that file
	Cause  string
	// Vouched: no crash leaves this, acknowledged data is damaged. Without it, a crash that
	// interrupted an append may have left it, and cutting the file at Offset is safe.
	Vouched bool
}

// Error gives file, line, offset, cause, and what to do next.
func (e *CorruptError) Error() string {
	next := "a crash may have left this: cutting a copy of the file at this offset is safe, and the watermark contract opens it"
	if e.Vouched {
		next = "acknowledged data is damaged: restore the file from a copy, or keep what is in front of this line"
	}
	return fmt.Sprintf("%s: line %d, byte %d: %s (%s)", e.Path, e.Line, e.Offset, e.Cause, next)
}

// Is makes every CorruptError an [ErrCorrupt].
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// VersionError is a line of a newer format than the gate of [Options] lets through.
type VersionError struct {
	Path    string
	Line    int
	Offset  int64
	Version int // what the line says
	Max     int // what is accepted
}

// Error gives place and versions.
func (e *VersionError) Error() string {
	return fmt.Sprintf("%s: line %d, byte %d: schema_version %d, and this reader is held to %d: upgrade it, or lift the gate to read the line as evidence",
		e.Path, e.Line, e.Offset, e.Version, e.Max)
}

// LockedError is a journal that another writer has open.
type LockedError struct {
	Path string
	Err  error
}

// Error names the file.
func (e *LockedError) Error() string {
	return fmt.Sprintf("%s: another writer has it open: close that one, or open for reading with Recover (%v)", e.Path, e.Err)
}

// Unwrap gives what the lock call said.
func (e *LockedError) Unwrap() error { return e.Err }

// TooLargeError is a line longer than [Options].MaxLine, in a file or to be written.
type TooLargeError struct {
	Path   string
	Line   int   // from 1; 0 for an event that was to be appended
	Offset int64 // of the line's first byte in that file; -1 for an event
	Max    int
}

// Error gives place and limit.
func (e *TooLargeError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: the event's line is longer than %d bytes: split it, keep the bulk elsewhere, or raise MaxLine", e.Path, e.Max)
	}
	return fmt.Sprintf("%s: line %d, byte %d: longer than %d bytes: raise MaxLine to read it", e.Path, e.Line, e.Offset, e.Max)
}

// PoisonedError is what a journal answers after a write or sync whose effect is not known:
// nothing more is acknowledged until it is opened, and verified, again.
type PoisonedError struct {
	Path string
	Err  error // what failed first
}

// Error says what failed and what to do.
func (e *PoisonedError) Error() string {
	return fmt.Sprintf("%s: not written to any more, since what is on disk is not known: close and reopen it (%v)", e.Path, e.Err)
}

// Unwrap gives what failed first.
func (e *PoisonedError) Unwrap() error { return e.Err }

// UnsupportedError is something that the file system cannot do and that a promise needs:
// [Options] can allow to go on without it.
type UnsupportedError struct {
	Path string
	What string // "a writer's lock", "the sync of a folder"
	Err  error  // nil if the file system offers no such call at all
}

// Error says what is missing and how to go on without it.
func (e *UnsupportedError) Error() string {
	option := "AllowNoLock"
	if e.What == lacksFolderSync {
		option = "AllowNoFolderSync"
	}
	return fmt.Sprintf("%s: this file system lacks %s: set %s to go on without that promise (%v)", e.Path, e.What, option, e.Err)
}

// Unwrap gives what the file system said.
func (e *UnsupportedError) Unwrap() error { return e.Err }

const (
	lacksLock       = "a writer's lock"
	lacksFolderSync = "the sync of a folder"
)

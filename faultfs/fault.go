package faultfs

import (
	"io"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/unplug-go/unplug/faultfs/trace"
)

// Fault is what a rule does. Which of the fields count depends on Kind; the others are zero.
type Fault struct {
	Kind FaultKind
	// N is a number of bytes: kept of a write (kill and sigkill inside one, cut, short,
	// enospc) or handed out by a read (short); negative counts from the end, -1 leaves out the
	// last byte. For full it is a number of 4096-byte blocks.
	N int64
	// Mode is what the program is told about a write that was cut.
	Mode Mode
	// Delay is how long slow takes.
	Delay time.Duration
	// Damage says what damage does to the bytes of a file.
	Damage Damage
	// In is the file that damage is done to, as a path for the base; empty is the call's own.
	In string
}

// FaultKind is the word of a fault in a plan. Damage has the word of its [DamageKind].
type FaultKind string

// The kinds of fault.
const (
	// Kill ends the process as [FS.Kill] does. Inside a write, N bytes reach the file.
	Kill FaultKind = "kill"
	// SigKill ends the process that runs the layer with SIGKILL. Inside a write, N bytes reach the file.
	SigKill FaultKind = "sigkill"
	// Cut lets N bytes of a write reach the file. The program is told EIO and N; in Mode
	// Silent N and no error; in Mode Unseen that all bytes were written.
	Cut FaultKind = "cut"
	// Short lets N bytes of a write reach the file, told with io.ErrShortWrite, or in Mode Silent with
	// no error. Of a read it hands out at most N bytes, without an error, as read(2) may.
	Short FaultKind = "short"
	// EIO fails a call with EIO; it does nothing.
	EIO FaultKind = "eio"
	// EROFS fails a call as a read-only file system does.
	EROFS FaultKind = "erofs"
	// EACCES fails a call for want of permission.
	EACCES FaultKind = "eacces"
	// EWOULDBLOCK fails a call as a lock that another process holds does.
	EWOULDBLOCK FaultKind = "ewouldblock"
	// ENOSPC fails a call for want of room. N bytes of a write reach the file.
	ENOSPC FaultKind = "enospc"
	// Full is a disk that fills up, as measured on ext4, xfs and btrfs: the write is cut at the
	// first block boundary after its beginning, or N blocks later, the next write that the rule matches
	// fails with nothing written, and then there is room again (not so for a sticky rule). Both are told ENOSPC.
	Full FaultKind = "full"
	// Slow calls the function of [WithSleep] with Delay: on a call before it does anything, after
	// a call when it is done and its caller has not heard of it.
	Slow FaultKind = "slow"
	// FailClean and the following are the failed and lying syncs of [trace.SyncResult]. The
	// layer plays the part that the live program sees. FailClean: EIO for this handle, EIO once
	// for each other handle of the file that is open now, and success from then on.
	FailClean = FaultKind(trace.SyncFailClean)
	// FailRO gives EIO; later changes get EROFS, later syncs succeed.
	FailRO = FaultKind(trace.SyncFailRO)
	// FailShutdown gives EIO, to every later call too.
	FailShutdown = FaultKind(trace.SyncFailShutdown)
	// FailFalse gives EIO after a sync that worked.
	FailFalse = FaultKind(trace.SyncFailFalse)
	// FailLate succeeds; the loss shows after a crash.
	FailLate = FaultKind(trace.SyncFailLate)
	// Lied succeeds and does nothing.
	Lied = FaultKind(trace.SyncLied)
)

// Mode is what the program is told about a write that was cut.
type Mode string

// The modes of [Cut] and [Short].
const (
	Told   Mode = ""       // the number of bytes and an error
	Silent Mode = "silent" // the number of bytes and no error
	Unseen Mode = "unseen" // that all is well
)

// FaultKinds are all kinds, those of [DamageKinds] last.
func FaultKinds() []FaultKind {
	kinds := []FaultKind{Kill, SigKill, Cut, Short, EIO, EROFS, EACCES, EWOULDBLOCK, ENOSPC, Full, Slow}
	for _, r := range trace.SyncResults() {
		kinds = append(kinds, FaultKind(r))
	}
	for _, d := range DamageKinds() {
		kinds = append(kinds, FaultKind(d))
	}
	return kinds
}

// String is the fault as [ParsePlan] reads it.
func (f Fault) String() string {
	s := string(f.Kind)
	switch f.Kind {
	case Cut, Short:
		s += " " + strconv.FormatInt(f.N, 10)
		if f.Mode != Told {
			s += " " + string(f.Mode)
		}
	case Kill, SigKill, ENOSPC, Full:
		if f.N != 0 {
			s += " " + strconv.FormatInt(f.N, 10)
		}
	case Slow:
		s += " " + f.Delay.String()
	default:
		if f.damages() {
			s = f.Damage.String()
			if f.In != "" {
				s += " in " + quote(f.In)
			}
		}
	}
	return s
}

func (f Fault) kills() bool   { return f.Kind == Kill || f.Kind == SigKill }
func (f Fault) damages() bool { return f.Damage.Kind != "" }

// errno is the error of faults that are nothing but an error, nil for the others.
func (f Fault) errno() error {
	switch f.Kind {
	case EIO:
		return syscall.EIO
	case EROFS:
		return syscall.EROFS
	case EACCES:
		return syscall.EACCES
	case EWOULDBLOCK:
		return syscall.EWOULDBLOCK
	case ENOSPC:
		return syscall.ENOSPC
	default:
		return nil
	}
}

// told is the error that goes with a cut write.
func (f Fault) told() error {
	switch {
	case f.kills():
		return ErrKilled
	case f.Mode != Told:
		return nil
	case f.Kind == Cut:
		return syscall.EIO
	case f.Kind == Short:
		return io.ErrShortWrite
	default:
		return syscall.ENOSPC
	}
}

// keep is how many of n bytes a cut leaves.
func (f Fault) keep(n int) int {
	k := f.N
	if k < 0 {
		k += int64(n)
	}
	return int(min(max(k, 0), int64(n)))
}

// quote is s as one word of a plan: bare if it can be.
func quote(s string) string {
	if s == "" || s == "->" || strings.ContainsFunc(s, needsQuotes) {
		return strconv.Quote(s)
	}
	return s
}

func needsQuotes(r rune) bool {
	return r <= ' ' || r == '"' || r == '#' || r >= 0x7f
}

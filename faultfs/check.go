package faultfs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Check reports why the rule makes no sense: a fault that cannot befall such a call, or a
// number out of range.
func (r Rule) Check() error {
	f := r.Fault
	if sides := f.sides(r.Call); !sides.has(r.When) {
		if len(sides) == 0 {
			return fmt.Errorf("%s cannot befall %s, want one of %s", f.Kind, r.Call, words(faultsFor(r.When, r.Call)))
		}
		return fmt.Errorf("%s acts %s a call, not %s it", f.Kind, sides, r.When)
	}
	switch {
	case f.kills() && f.N != 0 && (r.When != Inside || r.Call != CallWrite):
		return errors.New("only inside a write can some of the bytes be kept")
	case f.Kind == ENOSPC && f.N != 0 && r.Call != CallWrite:
		return errors.New("only of a write can some of the bytes be kept")
	case f.Kind == Full && f.N < 0:
		return errors.New("want a number of blocks, 0 or more")
	case f.Kind == Short && r.Call == CallRead && f.N < 1:
		return errors.New("a read that is not at the end hands out 1 byte at least")
	case f.damages() && r.Call == CallNote && f.In == "":
		return errors.New("a note has no file: add the one to damage, as: in /log.jsonl")
	}
	return nil
}

type sides []When

func (s sides) has(w When) bool { return slices.Contains(s, w) }

func (s sides) String() string {
	return strings.Join(strings.Split(words(s), ", "), " or ")
}

// sides are the sides of a call on which the fault can act; none if it cannot befall it.
func (f Fault) sides(call Call) sides {
	switch f.Kind {
	case Kill, SigKill:
		if call == CallNote {
			return sides{Before, After}
		}
		return sides{Before, Inside, After}
	case Cut:
		return only(call == CallWrite, Inside)
	case Short:
		return only(call == CallWrite || call == CallRead, On)
	case Full:
		return only(call == CallWrite, On)
	case EIO, EROFS, EACCES, EWOULDBLOCK, ENOSPC:
		return only(call != CallNote, On)
	case Slow:
		return sides{On, After}
	case FailClean, FailRO, FailShutdown, FailFalse, FailLate, Lied:
		return only(call == CallSync || call == CallSyncDir, On)
	default:
		if f.damages() {
			return sides{Before, After}
		}
		return nil
	}
}

func only(fits bool, side When) sides {
	if fits {
		return sides{side}
	}
	return nil
}

// faultsFor are the faults that can befall a call on a side.
func faultsFor(when When, call Call) []FaultKind {
	var kinds []FaultKind
	for _, kind := range FaultKinds() {
		if (Fault{Kind: kind, Damage: Damage{Kind: damageKind(kind)}}).sides(call).has(when) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// damageKind is the kind of damage that the word stands for, or "".
func damageKind(kind FaultKind) DamageKind {
	for _, d := range DamageKinds() {
		if FaultKind(d) == kind {
			return d
		}
	}
	return ""
}

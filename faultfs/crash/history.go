package crash

import (
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// History is what a disk went through: a durable image and everything done since. A
// process that is killed and started again goes on with the same history; after a power
// cut a new one begins, with the image that the cut left as its Base.
type History struct {
	Base *image.Image // everything in it is durable; never changed by this package
	Ops  []trace.Op
}

// Cut is the position at which the plug is pulled: Ops[:At] are complete, and with Inside
// Ops[At] was in flight (it may have happened wholly, in part or not at all; a sync in
// flight did nothing).
type Cut struct {
	At     int
	Inside bool
}

// Epochs are the cuts at which a power cut must be tried so that every state of every
// other cut is among them: the position just inside each sync that has an effect (until it
// returns it has promised nothing, and all that came before is still pending), and the end.
func Epochs(ops []trace.Op) []Cut {
	var cuts []Cut
	for i := range ops {
		if ops[i].IsSync() && effectOf(&ops[i]) != effectNone {
			cuts = append(cuts, Cut{At: i, Inside: true})
		}
	}
	return append(cuts, Cut{At: len(ops)})
}

// Cuts are the cuts at which a kill must be tried: every boundary between two ops or
// notes, and inside every write.
func Cuts(ops []trace.Op) []Cut {
	cuts := make([]Cut, 0, 2*len(ops)+1)
	for i := range ops {
		cuts = append(cuts, Cut{At: i})
		if ops[i].Kind == trace.Write && ops[i].Changes() {
			cuts = append(cuts, Cut{At: i, Inside: true})
		}
	}
	return append(cuts, Cut{At: len(ops)})
}

// effect is what a sync did to the durable set.
type effect uint8

const (
	effectNone    effect = iota
	effectDurable        // what came before is on the disk
	effectDrop           // the file's dirty bytes will never be written
	effectFreeze         // nothing pending and nothing later persists
	effectStop           // what is pending may persist, nothing later does
)

func effectOf(op *trace.Op) effect {
	switch op.Result {
	case trace.SyncOK:
		if op.Err == "" {
			return effectDurable
		}
		return effectNone
	case trace.SyncFailFalse:
		return effectDurable
	case trace.SyncFailClean, trace.SyncFailLate:
		if op.Kind == trace.SyncFile {
			return effectDrop
		}
		return effectNone
	case trace.SyncFailRO:
		return effectFreeze
	case trace.SyncFailShutdown:
		return effectStop
	default: // SyncLied: told ok, and nothing happened
		return effectNone
	}
}

// end is the number of ops whose changes may be on the disk at the cut under a power
// model: those complete, and the one in flight if it changes anything.
func (c Cut) end(ops []trace.Op) int {
	if c.Inside && c.At < len(ops) && ops[c.At].Changes() {
		return c.At + 1
	}
	return min(c.At, len(ops))
}

// Covered says for each of h.Ops[:at] whether its effect is durable at that position by
// syncs alone (the rule of [Synced]): bytes and sizes by a later completed sync of their
// file, a name by a later completed sync of each folder whose entry it changed, permission
// bits by either. An op without an effect (a note, a sync, a failed call) has nothing to
// lose and is covered. What a failed sync dropped is never covered.
func Covered(h *History, at int) []bool {
	at = min(at, len(h.Ops))
	c := cover{
		done:  make([]bool, at),
		files: map[trace.Ino][]int{},
		dirs:  map[trace.Ino][]int{},
		wants: map[int]int{},
	}
	stopped := false
	for i := range h.Ops[:at] {
		op := &h.Ops[i]
		c.done[i] = op.IsSync() || !op.Changes()
		if !stopped {
			stopped = c.take(i, op)
		}
	}
	return c.done
}

type cover struct {
	done  []bool
	files map[trace.Ino][]int // ops that wait for a sync of this file
	dirs  map[trace.Ino][]int // ops that wait for a sync of this folder
	wants map[int]int         // op -> folders that it still waits for
}

// take notes one op; true means that nothing later persists.
func (c *cover) take(i int, op *trace.Op) (stopped bool) {
	switch {
	case op.IsSync():
		return c.sync(op)
	case !op.Changes():
	case op.Kind == trace.Write || op.Kind == trace.Truncate:
		c.files[op.Ino] = append(c.files[op.Ino], i)
	case op.Kind == trace.Chmod:
		c.files[op.Ino] = append(c.files[op.Ino], i)
		c.dirs[op.Dir] = append(c.dirs[op.Dir], i)
		c.wants[i] = 1
	case op.Kind == trace.Rename && op.Dir != op.Dir2:
		c.dirs[op.Dir] = append(c.dirs[op.Dir], i)
		c.dirs[op.Dir2] = append(c.dirs[op.Dir2], i)
		c.wants[i] = 2
	case op.Kind == trace.Rename || op.Kind == trace.Link:
		c.dirs[op.Dir2] = append(c.dirs[op.Dir2], i)
		c.wants[i] = 1
	default:
		c.dirs[op.Dir] = append(c.dirs[op.Dir], i)
		c.wants[i] = 1
	}
	return false
}

func (c *cover) sync(op *trace.Op) (stopped bool) {
	switch effectOf(op) {
	case effectDurable:
		for _, i := range c.files[op.Ino] {
			c.done[i] = true
		}
		delete(c.files, op.Ino)
		if op.Kind == trace.SyncDir {
			for _, i := range c.dirs[op.Ino] {
				c.wants[i]--
				c.done[i] = c.done[i] || c.wants[i] == 0
			}
			delete(c.dirs, op.Ino)
		}
	case effectDrop:
		delete(c.files, op.Ino)
	case effectFreeze, effectStop:
		return true
	case effectNone:
	}
	return false
}

package image

import (
	"slices"
	"strings"

	"github.com/unplug-go/unplug/faultfs/trace"
)

// Entry is one name in a folder.
type Entry struct {
	Name string
	Ino  trace.Ino
}

// blockMax is how many names one block of a folder holds before it splits: a new name copies
// one block and the list of blocks.
const blockMax = 64

// folder is the sorted list of names, in blocks. A nil folder is empty. Blocks are never empty.
type folder struct {
	owner  uint64
	blocks []*block
}

// block is a run of names. sum is used only when the folder has several blocks.
type block struct {
	owner   uint64
	sum     sum
	entries []Entry
}

// split reports whether the folder is large enough for hashes per block.
func (f *folder) split() bool { return f != nil && len(f.blocks) > 1 }

func (f *folder) len() int {
	n := 0
	if f != nil {
		for _, b := range f.blocks {
			n += len(b.entries)
		}
	}
	return n
}

// find is the place of a name: its block (or the one it belongs in), its index there,
// and whether it is there.
func (f *folder) find(name string) (at, i int, found bool) {
	if f == nil || len(f.blocks) == 0 {
		return 0, 0, false
	}
	if len(f.blocks) > 1 {
		at, found = slices.BinarySearchFunc(f.blocks, name, func(b *block, name string) int {
			return strings.Compare(b.entries[0].Name, name)
		})
		if !found && at > 0 {
			at--
		}
	}
	i, found = slices.BinarySearchFunc(f.blocks[at].entries, name, func(e Entry, name string) int {
		return strings.Compare(e.Name, name)
	})
	return at, i, found
}

func (f *folder) get(name string) trace.Ino {
	if at, i, found := f.find(name); found {
		return f.blocks[at].entries[i].Ino
	}
	return 0
}

// mine returns f for change in place by owner id.
func (f *folder) mine(id uint64) *folder {
	switch {
	case f == nil:
		return &folder{owner: id}
	case f.owner == id:
		return f
	default:
		return &folder{owner: id, blocks: slices.Clone(f.blocks)}
	}
}

// own makes block at of an own folder changeable.
func (f *folder) own(id uint64, at int) *block {
	b := f.blocks[at]
	if b.owner != id {
		b = &block{owner: id, entries: slices.Clone(b.entries)}
		f.blocks[at] = b
	}
	b.sum.forget()
	return b
}

// touch forgets the cached hash of the block that holds name.
func (f *folder) touch(id uint64, name string) *folder {
	at, _, found := f.find(name)
	if !found {
		return f
	}
	f = f.mine(id)
	f.own(id, at)
	return f
}

// set gives name to ino.
func (f *folder) set(id uint64, name string, ino trace.Ino) *folder {
	f = f.mine(id)
	if len(f.blocks) == 0 {
		f.blocks = append(f.blocks, &block{owner: id})
	}
	at, i, found := f.find(name)
	b := f.own(id, at)
	if found {
		b.entries[i].Ino = ino
		return f
	}
	b.entries = slices.Insert(b.entries, i, Entry{name, ino})
	if n := len(b.entries); n > blockMax {
		cut := n / 2
		if at == len(f.blocks)-1 && i == n-1 {
			cut = n - 1 // names that come in order fill their blocks
		}
		tail := &block{owner: id, entries: slices.Clone(b.entries[cut:])}
		clear(b.entries[cut:])
		b.entries = b.entries[:cut]
		f.blocks = slices.Insert(f.blocks, at+1, tail)
	}
	return f
}

// remove takes a name out.
func (f *folder) remove(id uint64, name string) *folder {
	at, i, found := f.find(name)
	if !found {
		return f
	}
	f = f.mine(id)
	b := f.own(id, at)
	b.entries = slices.Delete(b.entries, i, i+1)
	if len(b.entries) == 0 {
		f.blocks = slices.Delete(f.blocks, at, at+1)
	}
	return f
}

package image

import (
	"iter"
	"slices"
	"sort"
)

// fanBits and fanOut are how many children a node of a table has.
const (
	fanBits = 4
	fanOut  = 1 << fanBits
	fanMask = fanOut - 1
)

// table is a persistent array of pointers, sparse, indexed by any uint64. Two levels of 16
// hold each run of 256 items; a sorted list holds the runs but the first. The list is what
// keeps a file of a terabyte with one byte at its end small, and the fixed levels are what
// makes a change to a large file cost what a change to a small one does.
type table[T any] struct {
	first *fan[fan[T]]
	far   *far[T]
}

// fan is one node. sum is used only in the tables of file content.
type fan[T any] struct {
	owner uint64
	sum   sum
	kids  [fanOut]*T
}

type far[T any] struct {
	owner uint64
	runs  []run[T] // sorted by index, from 1
}

type run[T any] struct {
	index uint64
	node  *fan[fan[T]]
}

// mine returns f for change in place by owner id, without a cached hash.
func (f *fan[T]) mine(id uint64) *fan[T] {
	switch {
	case f == nil:
		return &fan[T]{owner: id}
	case f.owner == id:
		f.sum.forget()
		return f
	default:
		return &fan[T]{owner: id, kids: f.kids}
	}
}

// get returns item i, or nil.
func (t *table[T]) get(i uint64) *T {
	if l := t.leaf(i); l != nil {
		return l.kids[i&fanMask]
	}
	return nil
}

// leaf returns the node that holds items i&^15 and up, or nil.
func (t *table[T]) leaf(i uint64) *fan[T] {
	b := t.first
	if index := i >> (2 * fanBits); index != 0 {
		b = nil
		if at, found := t.find(index); found {
			b = t.far.runs[at].node
		}
	}
	if b == nil {
		return nil
	}
	return b.kids[i>>fanBits&fanMask]
}

// find is the place of a run in the list.
func (t *table[T]) find(index uint64) (int, bool) {
	if t.far == nil {
		return 0, false
	}
	runs := t.far.runs
	if n := len(runs); n > 0 && runs[n-1].index <= index { // appending is the common case
		if runs[n-1].index == index {
			return n - 1, true
		}
		return n, false
	}
	at := sort.Search(len(runs), func(k int) bool { return runs[k].index >= index })
	return at, at < len(runs) && runs[at].index == index
}

// leafMine returns the node that holds item i, for change in place by owner id.
func (t *table[T]) leafMine(id, i uint64) *fan[T] {
	slot := &t.first
	if index := i >> (2 * fanBits); index != 0 {
		slot = t.run(id, index)
	}
	*slot = (*slot).mine(id)
	kid := &(*slot).kids[i>>fanBits&fanMask]
	*kid = (*kid).mine(id)
	return *kid
}

// run returns the place of a run's node in a list that owner id may change.
func (t *table[T]) run(id, index uint64) **fan[fan[T]] {
	t.ownFar(id)
	at, found := t.find(index)
	if !found {
		t.far.runs = slices.Insert(t.far.runs, at, run[T]{index: index})
	}
	return &t.far.runs[at].node
}

func (t *table[T]) ownFar(id uint64) {
	switch {
	case t.far == nil:
		t.far = &far[T]{owner: id}
	case t.far.owner != id:
		t.far = &far[T]{owner: id, runs: slices.Clone(t.far.runs)}
	}
}

// set puts item i; nil takes it out.
func (t *table[T]) set(id, i uint64, item *T) {
	t.leafMine(id, i).kids[i&fanMask] = item
}

// cut takes out the items from n on.
func (t *table[T]) cut(id, n uint64) {
	index := n >> (2 * fanBits)
	if t.far != nil {
		t.ownFar(id)
		at, _ := t.find(max(index, 1))
		keep := at
		if at < len(t.far.runs) && t.far.runs[at].index == index {
			t.far.runs[at].node = cutRun(t.far.runs[at].node, id, n)
			keep++
		}
		clear(t.far.runs[keep:])
		t.far.runs = t.far.runs[:keep]
		if keep == 0 {
			t.far = nil
		}
	}
	if index == 0 {
		t.first = cutRun(t.first, id, n)
	}
}

// cutRun takes out the items of one run whose place in it is n or later (the low bits of n count).
func cutRun[T any](b *fan[fan[T]], id, n uint64) *fan[fan[T]] {
	at, rest := n>>fanBits&fanMask, n&fanMask
	if b == nil || at == 0 && rest == 0 {
		return nil
	}
	b = b.mine(id)
	if l := b.kids[at]; rest > 0 && l != nil {
		l = l.mine(id)
		clear(l.kids[rest:])
		b.kids[at] = l
		at++
	} else if rest > 0 {
		at++
	}
	clear(b.kids[at:])
	return b
}

// all gives the items with their indexes, in order.
func (t *table[T]) all() iter.Seq2[uint64, *T] {
	return func(yield func(uint64, *T) bool) {
		runs := []run[T]{{0, t.first}}
		if t.far != nil {
			runs = append(runs, t.far.runs...)
		}
		for _, r := range runs {
			if !r.each(yield) {
				return
			}
		}
	}
}

func (r run[T]) each(yield func(uint64, *T) bool) bool {
	if r.node == nil {
		return true
	}
	for i, l := range r.node.kids {
		if l == nil {
			continue
		}
		for k, item := range l.kids {
			at := r.index<<(2*fanBits) | uint64(i)<<fanBits | uint64(k)
			if item != nil && !yield(at, item) {
				return false
			}
		}
	}
	return true
}

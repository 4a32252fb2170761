package image

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync/atomic"

	"github.com/unplug-go/unplug/faultfs/trace"
)

// Hash tells images apart: 128 bits, the same in every process and release that writes the
// same repro files. It is no protection against somebody who wants two images to collide.
type Hash struct{ A, B uint64 }

// String is the hash in 32 hexadecimal digits.
func (h Hash) String() string { return fmt.Sprintf("%016x%016x", h.A, h.B) }

// sum is a cached hash. Nodes that images share are hashed by several goroutines at a time:
// all write the same value, so it only has to be whole before it is known.
type sum struct {
	a, b uint64
	done uint32
}

func (s *sum) known() bool { return atomic.LoadUint32(&s.done) != 0 }

// forget is for nodes that one image owns.
func (s *sum) forget() { s.done = 0 }

func (s *sum) get() Hash { return Hash{atomic.LoadUint64(&s.a), atomic.LoadUint64(&s.b)} }

func (s *sum) keep(h Hash) Hash {
	atomic.StoreUint64(&s.a, h.A)
	atomic.StoreUint64(&s.b, h.B)
	atomic.StoreUint32(&s.done, 1)
	return h
}

// The odd constants that the two lanes mix with: digits of pi and e.
const (
	keyA = 0x243f6a8885a308d3
	keyB = 0x13198a2e03707345
	keyC = 0xa4093822299f31d1
	keyD = 0x082efa98ec4e6c89
	keyE = 0xb7e151628aed2a6b
	keyF = 0xf7158809cf4f3c77
)

func fold(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return hi ^ lo
}

// mix adds two words to a hash; the order of calls counts.
func (h Hash) mix(x, y uint64) Hash {
	return Hash{
		fold(h.A^x^keyA, y^keyB) + bits.RotateLeft64(h.A, 29)*keyC,
		fold(h.B^y^keyD, bits.RotateLeft64(x, 32)^keyE) + bits.RotateLeft64(h.B, 31)*keyF,
	}
}

// plus joins hashes whose order does not count.
func (h Hash) plus(o Hash) Hash { return Hash{h.A + o.A, h.B + o.B} }

// Hash is the value of the visible tree: names, kinds, permission bits and bytes. Inode
// numbers, times, orphans and the way it was made do not count; two names of one file count
// like two equal files. It is cached in every node, so it costs what changed since the last
// hash of this image or a relative.
func (m *Image) Hash() Hash {
	return m.hash(m.inode(trace.Root), &above{ino: trace.Root})
}

func (m *Image) hash(n *inode, at *above) Hash {
	if n.sum.known() {
		return n.sum.get()
	}
	h := Hash{keyA, keyD}.mix(uint64(n.mode), uint64(n.size))
	if n.dir {
		h = h.mix(^uint64(0), uint64(n.names.len()))
		c := m.hashNames(n.names, at)
		return n.sum.keep(h.mix(c.A, c.B))
	}
	c := hashContent(&n.data)
	return n.sum.keep(h.mix(c.A, c.B))
}

func (m *Image) hashNames(f *folder, at *above) (all Hash) {
	if f == nil {
		return all
	}
	for _, b := range f.blocks {
		if f.split() && b.sum.known() {
			all = all.plus(b.sum.get())
			continue
		}
		var h Hash
		for _, e := range b.entries {
			h = h.plus(m.hashEntry(e, at))
		}
		if f.split() {
			b.sum.keep(h)
		}
		all = all.plus(h)
	}
	return all
}

func (m *Image) hashEntry(e Entry, at *above) Hash {
	h := hashString(e.Name)
	n := m.inode(e.Ino)
	if !n.dir {
		c := m.hash(n, nil)
		return h.mix(c.A, c.B)
	}
	if at.has(e.Ino) {
		return h.mix(keyE, keyF) // a folder below itself
	}
	c := m.hash(n, &above{e.Ino, at})
	return h.mix(c.A, c.B)
}

func hashString(s string) Hash {
	h := Hash{keyB, keyC}.mix(uint64(len(s)), keyA)
	for len(s) > 0 {
		var word [16]byte
		s = s[copy(word[:], s):]
		h = h.mix(binary.LittleEndian.Uint64(word[:]), binary.LittleEndian.Uint64(word[8:]))
	}
	return h
}

// Zeros hash to zero at every level and zero is skipped, so that a hole and written zeros
// are equal.
func hashContent(t *table[chunk]) Hash {
	h := hashRun(t.first, 0, Hash{})
	if t.far != nil {
		for _, r := range t.far.runs {
			h = hashRun(r.node, r.index, h)
		}
	}
	return h
}

func hashRun(b *fan[fan[chunk]], index uint64, h Hash) Hash {
	if b == nil {
		return h
	}
	if !b.sum.known() {
		var all Hash
		for i, l := range b.kids {
			if l != nil {
				all = all.join(uint64(i), hashLeaf(l))
			}
		}
		b.sum.keep(all)
	}
	return h.join(index, b.sum.get())
}

func hashLeaf(l *fan[chunk]) Hash {
	if !l.sum.known() {
		var all Hash
		for i, c := range l.kids {
			if c != nil {
				all = all.join(uint64(i), c.hash())
			}
		}
		l.sum.keep(all)
	}
	return l.sum.get()
}

// join adds the hash of child number i.
func (h Hash) join(i uint64, c Hash) Hash {
	if c == (Hash{}) {
		return h
	}
	return h.mix(c.A+i*keyC, c.B)
}

func (c *chunk) hash() Hash {
	if c.sum.known() {
		return c.sum.get()
	}
	a, b, some := uint64(keyA), uint64(keyD), uint64(0)
	for p := c.data[:]; len(p) >= 16; p = p[16:] {
		x, y := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])
		some |= x | y
		a = fold(a^x, y^keyB)
		b = fold(b^y, bits.RotateLeft64(x, 32)^keyE) + x
	}
	if some == 0 {
		return c.sum.keep(Hash{})
	}
	return c.sum.keep(Hash{a, b}.mix(keyC, keyF))
}

package image

import "github.com/unplug-go/unplug/faultfs/trace"

// chunkSize is the unit of sharing, in bytes: a sector. A change copies one chunk.
const (
	chunkBits = 9
	chunkSize = 1 << chunkBits
)

// chunk holds bytes of a file. Bytes past the file's size are zero, so that equal files have
// equal chunks whatever made them.
type chunk struct {
	owner uint64
	sum   sum
	data  [chunkSize]byte
}

// ReadAt copies the bytes of a file from off on into p and returns how many there were: fewer
// than len(p) only at the end, 0 past it and for a folder.
func (m *Image) ReadAt(ino trace.Ino, p []byte, off int64) int {
	n := m.inode(ino)
	if n == nil || off < 0 || off >= n.size {
		return 0
	}
	p = p[:min(int64(len(p)), n.size-off)]
	for done := 0; done < len(p); {
		at := uint64(off) + uint64(done)
		i, from := at>>chunkBits, int(at&(chunkSize-1))
		part := p[done:min(len(p), done+chunkSize-from)]
		if c := n.data.get(i); c != nil {
			copy(part, c.data[from:])
		} else {
			clear(part)
		}
		done += len(part)
	}
	return len(p)
}

// WriteAt puts p at off of a file and extends it as needed; a gap reads as zeros.
// No bytes change nothing. A negative offset changes nothing.
func (m *Image) WriteAt(ino trace.Ino, p []byte, off int64) {
	if n := m.inode(ino); n == nil || n.dir || off < 0 || len(p) == 0 {
		return
	}
	n := m.edit(ino)
	id := m.owner()
	for done := 0; done < len(p); {
		at := uint64(off) + uint64(done)
		from := int(at & (chunkSize - 1))
		done += copy(n.chunk(id, at>>chunkBits).data[from:], p[done:])
	}
	n.size = max(n.size, off+int64(len(p)))
	m.changed(n)
}

// chunk returns chunk i for change in place by owner id.
func (n *inode) chunk(id, i uint64) *chunk {
	l := n.data.leafMine(id, i)
	c := l.kids[i&fanMask]
	switch {
	case c == nil:
		c = &chunk{owner: id}
	case c.owner == id:
		c.sum.forget()
		return c
	default:
		c = &chunk{owner: id, data: c.data}
	}
	l.kids[i&fanMask] = c
	return c
}

// Truncate sets the size of a file, in bytes: cuts it or extends it with zeros. A negative
// size changes nothing.
func (m *Image) Truncate(ino trace.Ino, size int64) {
	if n := m.inode(ino); n == nil || n.dir || size < 0 {
		return
	}
	n := m.edit(ino)
	if size < n.size {
		id := m.owner()
		n.data.cut(id, (uint64(size)+chunkSize-1)>>chunkBits)
		last, from := uint64(size)>>chunkBits, size&(chunkSize-1)
		if from > 0 && n.data.get(last) != nil {
			clear(n.chunk(id, last).data[from:])
		}
	}
	n.size = size
	m.changed(n)
}

// Bytes is a copy of a file's content; nil for a folder or an unknown inode.
func (m *Image) Bytes(ino trace.Ino) []byte {
	n := m.inode(ino)
	if n == nil || n.dir {
		return nil
	}
	b := make([]byte, n.size)
	m.ReadAt(ino, b, 0)
	return b
}

package crash

import (
	"bytes"
	"slices"

	"github.com/unplug-go/unplug/faultfs/image"
)

// walker keeps one working image and changes in it only what the next state has otherwise.
type walker struct {
	s     *product
	img   *image.Image
	fams  []int // -1: not set yet
	slots []*slot
	boxes []int // -1: not set yet
	cells []cellOf
	opts  []int
	buf   []byte
}

// block is the piece in which bytes that are the same already are left alone: images share
// memory in pieces of this size.
const block = 512

func newWalker(s *product) *walker {
	w := &walker{s: s, img: s.dur.Clone(), fams: make([]int, len(s.parts))}
	for i := range w.fams {
		w.fams[i] = -1
	}
	return w
}

// set brings the image to a position.
func (w *walker) set(at *position) {
	w.setNames(at.fams)
	w.setBoxes(at.boxes)
	for i, o := range at.opts {
		w.put(i, o)
	}
}

// setNames chooses the families. All files must be set anew after it.
func (w *walker) setNames(fams []int) {
	for i, f := range fams {
		if w.fams[i] == f {
			continue
		}
		w.fams[i] = f
		w.s.parts[i].fams[f].show(w.img)
	}
	w.slots, w.cells, w.opts = w.s.slots(fams), w.cells[:0], w.opts[:0]
	w.boxes = make([]int, len(w.slots))
	for i := range w.boxes {
		w.boxes[i] = -1
	}
}

// setBoxes chooses a size for each file, with the oldest content of every cell. In files
// whose size stays the cells must be at their oldest already.
func (w *walker) setBoxes(boxes []int) {
	w.cells = w.cells[:0]
	for i, b := range boxes {
		s := w.slots[i]
		if w.boxes[i] != b {
			w.boxes[i] = b
			w.resize(s, &s.boxes[b])
		}
		for _, c := range s.boxes[b].cells {
			if len(c.opts) > 1 {
				w.cells = append(w.cells, cellOf{c, s.ino})
			}
		}
	}
	w.opts = append(w.opts[:0], make([]int, len(w.cells))...)
}

// resize gives a file the size of b, the durable bytes, and the oldest content of each cell.
func (w *walker) resize(s *slot, b *box) {
	info, _ := w.img.Stat(s.ino)
	durable, _ := w.s.dur.Stat(s.ino)
	if info.Size != b.size {
		w.img.Truncate(s.ino, b.size)
	}
	if to := min(b.size, durable.Size); info.Size < to { // a smaller size before has lost them
		buf := make([]byte, to-info.Size)
		w.s.dur.ReadAt(s.ino, buf, info.Size)
		w.img.WriteAt(s.ino, buf, info.Size)
	}
	for _, c := range b.cells {
		n := len(c.opts[0])
		if cap(w.buf) < n {
			w.buf = make([]byte, n)
		}
		w.img.ReadAt(s.ino, w.buf[:n], c.off)
		w.patch(cellOf{c, s.ino}, w.buf[:n], c.opts[0])
	}
}

// patch makes the bytes of a cell, which are old, to be now.
func (w *walker) patch(c cellOf, old, now []byte) {
	for at := 0; at < len(now); {
		end := min(at+block-int((c.off+int64(at))%block), len(now))
		if !bytes.Equal(old[at:end], now[at:end]) {
			w.img.WriteAt(c.ino, now[at:end], c.off+int64(at))
		}
		at = end
	}
}

// put gives cell i its content number o.
func (w *walker) put(i, o int) {
	if c := w.cells[i]; w.opts[i] != o {
		w.patch(c, c.opts[w.opts[i]], c.opts[o])
		w.opts[i] = o
	}
}

// nextOpt counts the contents of the cells up by one, the last fastest; false is the end,
// with every cell at its oldest again.
func (w *walker) nextOpt() bool {
	for i, c := range slices.Backward(w.cells) {
		if w.opts[i]+1 < len(c.opts) {
			w.put(i, w.opts[i]+1)
			return true
		}
		w.put(i, 0)
	}
	return false
}

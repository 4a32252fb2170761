package faultfs

import (
	"fmt"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// disk counts the room that is left for file contents.
type disk struct {
	size int64 // when it was new, for the error's text
	room int64
}

func (d *disk) rule() string { return fmt.Sprintf("disk with room for %d bytes", d.size) }

// fits is how many of n bytes at off find room in a file of the given size. A gap that the
// write leaves counts: what is counted are sizes.
func (d *disk) fits(size, off int64, n int) int {
	missing := off + int64(n) - size - max(d.room, 0)
	if missing <= 0 || off+int64(n) <= size {
		return n
	}
	return max(n-int(min(missing, int64(n))), 0)
}

// grew takes the room of bytes, gives it back when negative.
func (f *FS) grew(bytes int64) {
	if f.disk != nil {
		f.disk.room -= bytes
	}
}

// lastName is the size of the file at name if that is its last name, 0 otherwise.
func (f *FS) lastName(name string) int64 {
	if f.disk == nil {
		return 0
	}
	info, err := f.lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	if own, ok := info.Sys().(*image.Info); ok && own.Nlink > 1 {
		return 0
	}
	return info.Size()
}

// nameless gives back the room of a file that lost its last name, or leaves that to the last
// close.
func (f *FS) nameless(ino trace.Ino, size int64) {
	if f.disk == nil || ino == 0 || size == 0 {
		return
	}
	held := false
	for h := f.open; h != nil; h = h.next {
		if h.ino == ino {
			h.nameless, held = true, true
		}
	}
	if !held {
		f.grew(-size)
	}
}

// lastClose gives back the room of a file without a name whose last handle h is.
func (f *FS) lastClose(h *file) {
	if f.disk == nil || !h.nameless {
		return
	}
	for other := f.open; other != nil; other = other.next {
		if other != h && other.ino == h.ino {
			return
		}
	}
	if info, err := h.base.Stat(); err == nil {
		f.grew(-info.Size())
	}
}

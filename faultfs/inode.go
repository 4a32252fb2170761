package faultfs

import (
	"io/fs"
	"path"
	"strings"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// inodes numbers files and folders. A base that serves an image has numbers of its own, and
// they are used, so that a trace fits the image that it began on. For any other base the layer
// numbers each path when it first meets it and follows renames and removals.
type inodes struct {
	byPath map[string]trace.Ino
	last   trace.Ino
}

// WithImage says that base holds the tree of img when the layer is made: paths get the numbers
// that img gives them, so that the trace can be replayed on img. A base that serves an image
// needs no such word.
func WithImage(img *image.Image) Option {
	return func(f *FS) {
		f.ids.init()
		img.Walk(func(p string, info image.Info) bool {
			f.ids.byPath[clean(p)] = info.Ino
			f.ids.last = max(f.ids.last, info.Ino)
			return true
		})
	}
}

func (t *inodes) init() {
	if t.byPath == nil {
		t.byPath, t.last = map[string]trace.Ino{"/": trace.Root}, trace.Root
	}
}

// native is the number that the base itself gives, 0 if it gives none.
func native(info fs.FileInfo) trace.Ino {
	if info == nil {
		return 0
	}
	if own, ok := info.Sys().(*image.Info); ok {
		return own.Ino
	}
	return 0
}

// known is the number of what stands at p, which exists.
func (t *inodes) known(p string, info fs.FileInfo) trace.Ino {
	if p == "/" {
		return trace.Root
	}
	if ino := native(info); ino != 0 {
		return ino
	}
	t.init()
	if ino := t.byPath[p]; ino != 0 {
		return ino
	}
	return t.fresh(p)
}

// made is the number of what was just made at p.
func (t *inodes) made(p string, info fs.FileInfo) trace.Ino {
	if ino := native(info); ino != 0 {
		return ino
	}
	t.init()
	return t.fresh(p)
}

func (t *inodes) fresh(p string) trace.Ino {
	t.last++
	t.byPath[p] = t.last
	return t.last
}

func (t *inodes) removed(p string) { delete(t.byPath, p) }

func (t *inodes) linked(p string, ino trace.Ino) {
	if t.byPath != nil {
		t.byPath[p] = ino
	}
}

// renamed moves p and all below it.
func (t *inodes) renamed(from, to string) {
	ino, ok := t.byPath[from]
	if !ok {
		return
	}
	delete(t.byPath, from)
	for p, below := range t.byPath {
		if strings.HasPrefix(p, from+"/") {
			delete(t.byPath, p)
			t.byPath[to+p[len(from):]] = below
		}
	}
	t.byPath[to] = ino
}

// inoAt is the number of what stands at p (name is the same for the base), 0 if nothing does.
func (f *FS) inoAt(name, p string) trace.Ino {
	if p == "/" {
		return trace.Root
	}
	if f.mem != nil {
		return f.mem.number(name)
	}
	info, err := f.lstat(name)
	if err != nil {
		return 0
	}
	return f.ids.known(p, info)
}

// number is the inode at name, 0 if nothing is there.
func (m *Mem) number(name string) trace.Ino {
	m.mu.Lock()
	defer m.mu.Unlock()
	ino, errno := m.find(name)
	if errno != 0 {
		return 0
	}
	return ino
}

// dirOf is the number of the folder that holds p.
func (f *FS) dirOf(name, p string) trace.Ino {
	return f.inoAt(parent(name), path.Dir(p))
}

// lstat looks at name itself, not at what a symbolic link points to, where the base can.
func (f *FS) lstat(name string) (fs.FileInfo, error) {
	if l, ok := f.base.(afero.Lstater); ok {
		info, _, err := l.LstatIfPossible(name)
		return info, err
	}
	return f.base.Stat(name)
}

// numbered is a base file that knows its number.
type numbered interface{ Ino() trace.Ino }

// inoOf is the number of the file that was just opened at p.
func (f *FS) inoOf(h afero.File, p string) trace.Ino {
	if n, ok := h.(numbered); ok {
		return n.Ino()
	}
	info, err := h.Stat()
	if err != nil {
		info = nil
	}
	return f.ids.known(p, info)
}

package crash

import (
	"bytes"
	"fmt"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// difference is the first way in which an image is not another one: names before kinds and
// modes, those before sizes, those before bytes. The zero value is none.
type difference struct {
	level int
	off   int64
	text  string
}

const (
	levelName = iota + 1
	levelMode
	levelSize
	levelByte
)

// after reports whether d shows later than e, so that its image is the nearer one.
func (d difference) after(e difference) bool {
	return e.level != 0 && (d.level == 0 || d.level > e.level || d.level == e.level && d.off > e.off)
}

type pathInfo struct {
	path string
	info image.Info
}

func list(img *image.Image) []pathInfo {
	var out []pathInfo
	img.Walk(func(path string, info image.Info) bool {
		out = append(out, pathInfo{path, info})
		return true
	})
	return out
}

// diff says what got has that want has not, or the reverse; the content of want's inodes in
// open is not looked at.
func diff(want, got *image.Image, open map[trace.Ino]bool) difference {
	w, g := list(want), list(got)
	if d := diffNames(w, g); d.level != 0 {
		return d
	}
	for i := range w {
		if a, b := w[i].info, g[i].info; a.Dir != b.Dir || a.Mode.Perm() != b.Mode.Perm() {
			return difference{levelMode, 0, fmt.Sprintf("%s is %s, not %s", g[i].path, kindText(b), kindText(a))}
		}
	}
	for i := range w {
		if a, b := w[i].info, g[i].info; !a.Dir && !open[a.Ino] && a.Size != b.Size {
			return difference{levelSize, 0, fmt.Sprintf("%s has size %d, not %d", g[i].path, b.Size, a.Size)}
		}
	}
	for i := range w {
		if w[i].info.Dir || open[w[i].info.Ino] {
			continue
		}
		a, b := want.Bytes(w[i].info.Ino), got.Bytes(g[i].info.Ino)
		if at := mismatch(a, b); at >= 0 {
			return difference{levelByte, int64(at), fmt.Sprintf("%s has byte 0x%02x at %d, not 0x%02x", g[i].path, b[at], at, a[at])}
		}
	}
	return difference{}
}

func diffNames(w, g []pathInfo) difference {
	for i := 0; i < len(w) || i < len(g); i++ {
		switch {
		case i == len(g) || i < len(w) && w[i].path < g[i].path:
			return difference{levelName, 0, fmt.Sprintf("the name %s is missing", w[i].path)}
		case i == len(w) || g[i].path < w[i].path:
			return difference{levelName, 0, fmt.Sprintf("the name %s should not be there", g[i].path)}
		}
	}
	return difference{}
}

func kindText(info image.Info) string {
	kind := "a file"
	if info.Dir {
		kind = "a folder"
	}
	return fmt.Sprintf("%s of mode %04o", kind, info.Mode.Perm())
}

// mismatch is the first index at which a and b of equal length differ, -1 if none.
func mismatch(a, b []byte) int {
	if bytes.Equal(a, b) {
		return -1
	}
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

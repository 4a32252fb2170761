package crash

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// why tells what a person has to know of a state: names that are lost or back, sizes and
// bytes that are not what the running system saw.
func (s *product) why(p place) string {
	at := s.position(p)
	var said []string
	for i, f := range at.fams {
		said = append(said, s.whyNames(s.parts[i].fams[f])...)
	}
	img := s.make(p)
	paths := pathsOf(img)
	slots := s.slots(at.fams)
	opts := at.opts
	for i, b := range at.boxes {
		box := &slots[i].boxes[b]
		n := len(choices(slots[i:i+1], at.boxes[i:i+1]))
		said = append(said, s.whyFile(paths[slots[i].ino], slots[i].ino, box, opts[:n])...)
		opts = opts[n:]
	}
	if len(said) == 0 {
		return "everything pending is on the disk"
	}
	return strings.Join(said, "; ")
}

// whyNames compares a choice of names with the running system's.
func (s *product) whyNames(f *family) []string {
	var said []string
	paths := pathsOf(s.live)
	for dir, path := range pathsOf(s.dur) {
		if paths[dir] == "" {
			paths[dir] = path
		}
	}
	for _, e := range f.sel {
		live, _ := s.live.Child(e.dir, e.name)
		name := strings.TrimPrefix(strings.TrimSuffix(paths[e.dir], "/")+"/"+e.name, "/")
		switch {
		case live == e.ino:
		case e.ino == 0:
			said = append(said, fmt.Sprintf("name %s is lost", name))
		case live == 0:
			said = append(said, fmt.Sprintf("name %s is still there", name))
		default:
			said = append(said, fmt.Sprintf("name %s shows another file (inode %d, not %d)", name, e.ino, live))
		}
	}
	for _, m := range f.modes {
		if live, _ := s.live.Stat(m.ino); live.Mode.Perm() != m.mode.Perm() {
			said = append(said, fmt.Sprintf("mode of %s is %04o, not %04o", strings.TrimPrefix(paths[m.ino], "/"), m.mode.Perm(), live.Mode.Perm()))
		}
	}
	return said
}

// whyFile compares a size and the contents of cells with the page cache's.
func (s *product) whyFile(path string, ino trace.Ino, b *box, opts []int) []string {
	name := strings.TrimPrefix(path, "/")
	want, pending := s.sizes[ino]
	if !pending {
		return nil
	}
	var said []string
	if b.size != want {
		said = append(said, fmt.Sprintf("size %d of %d is on the disk", b.size, want))
	}
	var off, end int64
	var kind string
	flush := func() {
		if end > off {
			said = append(said, fmt.Sprintf("bytes %d..%d %s", off, end, kind))
		}
		off, end = 0, 0
	}
	i := 0
	for _, c := range b.cells {
		if len(c.opts) == 1 {
			continue
		}
		lo, hi, k := c.missing(opts[i])
		i++
		if lo == hi {
			continue
		}
		if k != kind || lo != end {
			flush()
			off, kind = lo, k
		}
		end = hi
	}
	flush()
	if len(said) == 0 {
		return nil
	}
	return []string{name + ": " + strings.Join(said, ", ")}
}

// missing is the range in which content o of the cell is not the newest, and what is there
// instead.
func (c *cell) missing(o int) (lo, hi int64, kind string) {
	have, want := c.opts[o], c.opts[c.newest]
	a, b := 0, len(have)
	for a < b && have[a] == want[a] {
		a++
	}
	for b > a && have[b-1] == want[b-1] {
		b--
	}
	kind = "are as they were before"
	if len(bytes.Trim(have[a:b], "\x00")) == 0 {
		kind = "are not (NUL)"
	}
	return c.off + int64(a), c.off + int64(b), kind
}

// pathsOf is the first path of every inode that img shows.
func pathsOf(img *image.Image) map[trace.Ino]string {
	paths := map[trace.Ino]string{}
	img.Walk(func(path string, info image.Info) bool {
		if _, ok := paths[info.Ino]; !ok {
			paths[info.Ino] = path
		}
		return true
	})
	return paths
}

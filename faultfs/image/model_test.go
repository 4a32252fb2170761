package image_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// naive is the same file system as maps: slow, and too simple to be wrong.
type naive struct {
	nodes map[trace.Ino]*naiveNode
}

type naiveNode struct {
	dir   bool
	mode  fs.FileMode
	data  []byte
	names map[string]trace.Ino
}

func newNaive() *naive {
	return &naive{map[trace.Ino]*naiveNode{trace.Root: {dir: true, mode: 0o700, names: map[string]trace.Ino{}}}}
}

func (v *naive) clone() *naive {
	c := &naive{map[trace.Ino]*naiveNode{}}
	for ino, n := range v.nodes {
		k := *n
		k.data, k.names = bytes.Clone(n.data), maps.Clone(n.names)
		c.nodes[ino] = &k
	}
	return c
}

func (v *naive) writeAt(n *naiveNode, p []byte, off int) {
	if len(p) > 0 {
		n.data = append(n.data, make([]byte, max(off+len(p)-len(n.data), 0))...)
		copy(n.data[off:], p)
	}
}

func (v *naive) truncate(n *naiveNode, size int) {
	n.data = append(n.data[:min(size, len(n.data)):min(size, len(n.data))], make([]byte, max(size-len(n.data), 0))...)
}

func (v *naive) nlink(ino trace.Ino) (n int) {
	for _, d := range v.nodes {
		for _, to := range d.names {
			if to == ino {
				n++
			}
		}
	}
	return n
}

// below reports whether ino is in top or is it.
func (v *naive) below(top, ino trace.Ino) bool {
	if top == ino {
		return true
	}
	for _, kid := range v.nodes[top].names {
		if v.below(kid, ino) {
			return true
		}
	}
	return false
}

// tree is what can be seen, one line per path.
func (v *naive) tree() []string {
	var out []string
	var walk func(path string, n *naiveNode)
	walk = func(path string, n *naiveNode) {
		out = append(out, line(path, n.dir, n.mode, n.data))
		for _, name := range slices.Sorted(maps.Keys(n.names)) {
			walk(strings.TrimSuffix(path, "/")+"/"+name, v.nodes[n.names[name]])
		}
	}
	walk("/", v.nodes[trace.Root])
	return out
}

func line(path string, dir bool, mode fs.FileMode, data []byte) string {
	if dir {
		return fmt.Sprintf("%s folder %o", path, mode)
	}
	return fmt.Sprintf("%s %o %d %q", path, mode, len(data), bytes.TrimRight(data, "\x00"))
}

func treeOf(m *image.Image) []string {
	var out []string
	m.Walk(func(path string, info image.Info) bool {
		out = append(out, line(path, info.Dir, info.Mode, m.Bytes(info.Ino)))
		return true
	})
	return out
}

// requireSame holds every inode of the image, orphans too, against the model.
func requireSame(t require.TestingT, v *naive, m *image.Image) {
	if diff := cmp.Diff(v.tree(), treeOf(m)); diff != "" {
		require.Fail(t, "trees differ (-model +image)", diff)
	}
	for ino, n := range v.nodes {
		info, ok := m.Stat(ino)
		require.True(t, ok, "inode %d is gone", ino)
		require.Equal(t, image.Info{
			Ino: ino, Dir: n.dir, Mode: n.mode, Size: int64(len(n.data)), Nlink: v.nlink(ino), ModTime: info.ModTime,
		}, info)
		if n.dir {
			require.Equal(t, len(n.names), m.Len(ino))
			for _, e := range m.Entries(ino) {
				require.Equal(t, n.names[e.Name], e.Ino)
			}
			continue
		}
		require.True(t, bytes.Equal(n.data, m.Bytes(ino)), "bytes of inode %d", ino)
	}
}

// pair is one image and its model.
type pair struct {
	img *image.Image
	nav *naive
}

func (p pair) clone() pair { return pair{p.img.Clone(), p.nav.clone()} }

func (p pair) pick(t *rapid.T, dir bool) trace.Ino {
	var inos []trace.Ino
	for ino, n := range p.nav.nodes {
		if n.dir == dir {
			inos = append(inos, ino)
		}
	}
	slices.Sort(inos)
	if len(inos) == 0 {
		return 99_999 // not there: must change nothing
	}
	return rapid.SampledFrom(inos).Draw(t, "ino")
}

// offsets cluster where chunks, leaves and runs of the table meet.
func offset(t *rapid.T) int {
	base := rapid.SampledFrom([]int{0, 0, 0, 512, 1024, 8192, 131072, 140000}).Draw(t, "base")
	return max(base+rapid.IntRange(-3, 600).Draw(t, "delta"), 0)
}

func (p pair) step(t *rapid.T) {
	op := rapid.SampledFrom([]string{"write", "write", "write", "truncate", "alloc", "bind", "bind", "unbind", "chmod", "drop", "hash"}).Draw(t, "op")
	switch op {
	case "write":
		ino, off := p.pick(t, false), offset(t)
		b := rapid.SliceOfN(rapid.ByteRange(0, 2), 0, 700).Draw(t, "bytes")
		p.img.WriteAt(ino, b, int64(off))
		if n := p.nav.nodes[ino]; n != nil {
			p.nav.writeAt(n, b, off)
		}
	case "truncate":
		ino, size := p.pick(t, false), offset(t)
		p.img.Truncate(ino, int64(size))
		if n := p.nav.nodes[ino]; n != nil {
			p.nav.truncate(n, size)
		}
	case "alloc":
		dir := rapid.Bool().Draw(t, "dir")
		ino := p.img.Alloc(dir, 0o640)
		require.NotContains(t, p.nav.nodes, ino)
		p.nav.nodes[ino] = &naiveNode{dir: dir, mode: 0o640}
		if dir {
			p.nav.nodes[ino].names = map[string]trace.Ino{}
		}
	case "bind":
		p.bind(t)
	case "unbind":
		dir := p.pick(t, true)
		name := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "name")
		p.img.Unbind(dir, name)
		delete(p.nav.nodes[dir].names, name)
	case "chmod":
		ino := p.pick(t, rapid.Bool().Draw(t, "dir"))
		p.img.Chmod(ino, 0o751|fs.ModeDir)
		if n := p.nav.nodes[ino]; n != nil {
			n.mode = 0o751
		}
	case "drop":
		p.drop(p.pick(t, rapid.Bool().Draw(t, "dir")))
	case "hash":
		p.img.Hash() // so that later steps meet cached hashes
	}
}

func (p pair) bind(t *rapid.T) {
	dir, ino := p.pick(t, true), p.pick(t, rapid.Bool().Draw(t, "folder"))
	name := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "name")
	if p.nav.nodes[ino] == nil || p.nav.below(ino, dir) {
		return // a loop: TestLoop
	}
	p.img.Bind(dir, name, ino)
	if ino != trace.Root {
		p.nav.nodes[dir].names[name] = ino
	}
}

func (p pair) drop(ino trace.Ino) {
	p.img.Drop(ino)
	if ino != trace.Root && p.nav.nlink(ino) == 0 {
		delete(p.nav.nodes, ino)
	}
}

// TestModel runs random programs on a growing set of clones: each must stay what its own
// model is, whatever happens to the others.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := []pair{{image.New(), newNaive()}}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			p := all[rapid.IntRange(0, len(all)-1).Draw(t, "which")]
			if len(all) < 5 && rapid.IntRange(0, 4).Draw(t, "clone") == 0 {
				all = append(all, p.clone())
			}
			p.step(t)
		}
		for _, p := range all {
			requireSame(t, p.nav, p.img)
		}
		for _, p := range all { // equal trees, and only they, have equal hashes
			for _, q := range all {
				same := slices.Equal(p.nav.tree(), q.nav.tree())
				require.Equal(t, same, p.img.Hash() == q.img.Hash(), "%s\n%s", p.img, q.img)
			}
		}
	})
}

// TestHashOfRebuilt builds the tree of a random program once more by another route.
func TestHashOfRebuilt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := pair{image.New(), newNaive()}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			p.step(t)
		}
		require.Equal(t, p.img.Hash(), rebuild(p.img).Hash())
	})
}

// rebuild makes every file anew, backwards, in pieces of another size, with other inode numbers,
// and without holes.
func rebuild(m *image.Image) *image.Image {
	type seen struct {
		path string
		info image.Info
	}
	var list []seen
	m.Walk(func(path string, info image.Info) bool { list = append(list, seen{path, info}); return true })
	to := image.New()
	to.Alloc(false, 0)
	at := map[string]trace.Ino{"/": trace.Root}
	for _, s := range list[1:] {
		if s.info.Dir {
			at[s.path] = to.Alloc(true, 0)
		}
	}
	for _, s := range slices.Backward(list) {
		cut := strings.LastIndexByte(s.path, '/')
		ino, made := at[s.path]
		if !made {
			ino = to.Alloc(false, 0)
			b := m.Bytes(s.info.Ino)
			for end := len(b); end > 0; end -= 1000 {
				start := max(end-1000, 0)
				to.WriteAt(ino, b[start:end], int64(start))
			}
		}
		to.Chmod(ino, s.info.Mode)
		to.Bind(at["/"+strings.Trim(s.path[:cut], "/")], s.path[cut+1:], ino)
	}
	return to
}

package image_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

func file(m *image.Image, name string, b []byte) trace.Ino {
	ino := m.Alloc(false, 0o600)
	m.Bind(trace.Root, name, ino)
	m.WriteAt(ino, b, 0)
	return ino
}

// TestHashSeesEachPart changes one thing at a time: nothing that counts may be left out of
// the hash, and nothing that does not count may be in it.
func TestHashSeesEachPart(t *testing.T) {
	base := image.New()
	a := file(base, "a", bytes.Repeat([]byte("journal "), 100))
	dir := base.Alloc(true, 0o700)
	base.Bind(trace.Root, "dir", dir)
	h := base.Hash()
	for _, c := range []struct {
		name    string
		reason  string
		change  func(m *image.Image)
		differs bool
	}{
		{"byte", "content counts", func(m *image.Image) { m.WriteAt(a, []byte{'J'}, 0) }, true},
		{"last byte", "content counts to its end", func(m *image.Image) { m.WriteAt(a, []byte{'.'}, 799) }, true},
		{"size", "zeros at the end are bytes too", func(m *image.Image) { m.Truncate(a, 801) }, true},
		{"cut", "size counts", func(m *image.Image) { m.Truncate(a, 799) }, true},
		{"mode", "permission bits count", func(m *image.Image) { m.Chmod(a, 0o640) }, true},
		{"folder's mode", "folders have bits as well", func(m *image.Image) { m.Chmod(dir, 0o755) }, true},
		{"root's mode", "the root is a folder", func(m *image.Image) { m.Chmod(trace.Root, 0o755) }, true},
		{"name", "names count", func(m *image.Image) { m.Bind(trace.Root, "b", a); m.Unbind(trace.Root, "a") }, true},
		{"place", "the folder of a name counts", func(m *image.Image) { m.Bind(dir, "a", a); m.Unbind(trace.Root, "a") }, true},
		{"kind", "an empty folder is not an empty file", func(m *image.Image) {
			m.Bind(trace.Root, "dir", m.Alloc(false, 0o700))
		}, true},
		{"new name", "a link is one more name", func(m *image.Image) { m.Bind(trace.Root, "b", a) }, true},
		{"orphan", "what has no name can not be seen", func(m *image.Image) { m.WriteAt(m.Alloc(false, 0o600), []byte("x"), 0) }, false},
		{"time", "times are left out", func(m *image.Image) { m.SetModTime(a, 77) }, false},
		{"number", "inode numbers are left out", func(m *image.Image) {
			b := m.Bytes(a)
			m.Unbind(trace.Root, "a")
			m.Drop(a)
			file(m, "a", b)
		}, false},
		{"there and back", "the way is left out", func(m *image.Image) {
			m.WriteAt(a, []byte("x"), 5000)
			m.Hash()
			m.Truncate(a, 800)
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := base.Clone()
			c.change(m)
			require.Equal(t, c.differs, h != m.Hash(), c.reason)
			require.Equal(t, h, base.Hash(), "the original changed")
		})
	}
}

// TestHashValue pins the value: repro files name states by it.
func TestHashValue(t *testing.T) {
	m := image.New()
	file(m, "log.jsonl", []byte("{\"n\":1}\n"))
	require.Equal(t, "4afc60583571a1173b62043eb97eef56", m.Hash().String())
}

// TestHashSpread puts many similar images side by side: one byte, its place, a mode, a name.
func TestHashSpread(t *testing.T) {
	seen := map[image.Hash]string{}
	lanes := map[uint64]bool{}
	add := func(m *image.Image, what string) {
		h := m.Hash()
		require.Empty(t, seen[h], "%s has the hash of another", what)
		seen[h] = what
		lanes[h.A], lanes[h.B] = true, true
	}
	base := image.New()
	ino := file(base, "f", make([]byte, 1200))
	for off := range 1200 {
		for _, b := range []byte{1, 2, 128, 255} {
			m := base.Clone()
			m.WriteAt(ino, []byte{b}, int64(off))
			add(m, fmt.Sprintf("byte %d at %d", b, off))
		}
	}
	for size := range 4000 {
		m := base.Clone()
		m.Truncate(ino, 1201+int64(size))
		add(m, fmt.Sprintf("size %d", size))
	}
	for k := range 4000 {
		m := base.Clone()
		m.Bind(trace.Root, fmt.Sprint(k), ino)
		add(m, fmt.Sprintf("name %d", k))
	}
	require.Len(t, lanes, 2*len(seen), "each half alone tells these apart")
}

// TestManyFiles fills one folder, in an order that splits blocks everywhere, and empties it.
func TestManyFiles(t *testing.T) {
	const n = 3000
	m := image.New()
	order := rand.New(rand.NewPCG(1, 2)).Perm(n)
	inos := map[string]trace.Ino{}
	var versions []*image.Image
	for i, k := range order {
		name := fmt.Sprintf("f%05d", k)
		inos[name] = file(m, name, []byte(name))
		if i%500 == 0 {
			versions = append(versions, m.Clone())
		}
	}
	for i, v := range versions {
		require.Equal(t, i*500+1, v.Len(trace.Root))
	}
	entries := m.Entries(trace.Root)
	require.Len(t, entries, n)
	require.True(t, slices.IsSortedFunc(entries, func(a, b image.Entry) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) }))
	for _, e := range entries {
		require.Equal(t, inos[e.Name], e.Ino)
		ino, ok := m.Lookup("/" + e.Name)
		require.True(t, ok)
		require.Equal(t, e.Ino, ino)
	}
	full := m.Hash()
	c := m.Clone()
	c.WriteAt(inos["f00007"], []byte("F"), 0)
	require.NotEqual(t, full, c.Hash(), "a change deep in a large folder")
	c.WriteAt(inos["f00007"], []byte("f"), 0)
	require.Equal(t, full, c.Hash())
	for _, k := range order[:n-1] {
		c.Unbind(trace.Root, fmt.Sprintf("f%05d", k))
	}
	require.Equal(t, 1, c.Len(trace.Root))
	want := image.New()
	last := fmt.Sprintf("f%05d", order[n-1])
	file(want, last, []byte(last))
	require.Equal(t, want.Hash(), c.Hash())
	require.Equal(t, full, m.Hash())
}

// TestSparse writes one byte a terabyte out: it must cost a few nodes, not a terabyte.
func TestSparse(t *testing.T) {
	m := image.New()
	ino := file(m, "f", []byte("start"))
	const far = 1 << 40
	m.WriteAt(ino, []byte("end"), far)
	p := make([]byte, 8)
	require.Equal(t, 3, m.ReadAt(ino, p, far))
	require.Equal(t, "end", string(p[:3]))
	require.Equal(t, 8, m.ReadAt(ino, p, far-8))
	require.Equal(t, make([]byte, 8), p, "a hole reads as zeros")
	require.Zero(t, m.ReadAt(ino, p, far+3), "at the end")
	require.Zero(t, m.ReadAt(ino, p, math.MaxInt64), "past the end")
	m.Truncate(ino, 5)
	m.Truncate(ino, far+3)
	require.Equal(t, 3, m.ReadAt(ino, p, far))
	require.Equal(t, []byte{0, 0, 0}, p[:3], "cut bytes do not come back")
}

// TestLoop binds a folder below itself, as a broken disk may: what walks the tree must end.
func TestLoop(t *testing.T) {
	m := image.New()
	a, b := m.Alloc(true, 0o700), m.Alloc(true, 0o700)
	m.Bind(trace.Root, "a", a)
	m.Bind(a, "b", b)
	plain := m.Hash()
	m.Bind(b, "a", a)
	var paths []string
	m.Walk(func(path string, _ image.Info) bool { paths = append(paths, path); return true })
	require.Equal(t, []string{"/", "/a", "/a/b", "/a/b/a"}, paths)
	require.NotEqual(t, plain, m.Hash())
	m.Unbind(b, "a")
	require.Equal(t, plain, m.Hash())
}

// TestConcurrentUse changes an image while others hash, read and change clones of each of its
// states; the race detector is the judge.
func TestConcurrentUse(t *testing.T) {
	m := image.New()
	ino := file(m, "f", bytes.Repeat([]byte("x"), 10_000))
	var wg sync.WaitGroup
	hashes := make([][3]image.Hash, 50)
	for i := range hashes {
		m.WriteAt(ino, []byte{byte(i)}, int64(i)*200)
		m.Chmod(trace.Root, fs.FileMode(i))
		still := m.Clone()
		for k := range 2 {
			wg.Go(func() {
				c := still.Clone()
				hashes[i][k] = still.Hash()
				c.WriteAt(ino, []byte{1}, int64(k)*1000)
				c.Hash()
			})
		}
		wg.Go(func() { hashes[i][2] = rebuild(still).Hash() })
	}
	wg.Wait()
	for _, h := range hashes {
		require.Equal(t, h[2], h[0])
		require.Equal(t, h[2], h[1])
	}
}

// TestNothingChanges gives every method an inode that is not there or is of the wrong kind.
func TestNothingChanges(t *testing.T) {
	m := image.New()
	f := file(m, "f", []byte("x"))
	d := m.Alloc(true, 0o700)
	m.Bind(trace.Root, "d", d)
	before := m.Hash()
	m.WriteAt(99, []byte("y"), 0)
	m.WriteAt(d, []byte("y"), 0)
	m.WriteAt(f, []byte("y"), -1)
	m.Truncate(99, 0)
	m.Truncate(d, 10)
	m.Truncate(f, -1)
	m.Chmod(99, 0)
	m.SetModTime(99, 1)
	m.Bind(f, "n", d)
	m.Bind(99, "n", d)
	m.Bind(d, "n", 99)
	m.Bind(d, "n", trace.Root)
	m.Bind(d, "", f)
	m.Unbind(f, "n")
	m.Unbind(99, "n")
	m.Drop(f)
	m.Drop(99)
	m.Drop(trace.Root)
	m.AllocAt(f, true, fs.ModePerm)
	m.AllocAt(0, true, fs.ModePerm)
	require.Equal(t, before, m.Hash())
	require.Equal(t, []byte("x"), m.Bytes(f))
	require.Nil(t, m.Bytes(d))
	require.Nil(t, m.Bytes(99))
	require.Zero(t, m.ReadAt(99, make([]byte, 1), 0))
	require.Zero(t, m.ReadAt(f, make([]byte, 1), -1))
	_, ok := m.Stat(99)
	require.False(t, ok)
	_, ok = m.Stat(0)
	require.False(t, ok)
	_, ok = m.Lookup("/f/x")
	require.False(t, ok)
}

func TestAllocAtMovesTheCounter(t *testing.T) {
	m := image.New()
	m.AllocAt(500, false, 0o600)
	require.Equal(t, trace.Ino(501), m.Alloc(false, 0o600))
	m.Drop(501)
	require.Equal(t, trace.Ino(502), m.Alloc(false, 0o600), "a dropped number does not come again")
}

func TestDropOfAFolder(t *testing.T) {
	m := image.New()
	d := m.Alloc(true, 0o700)
	f := m.Alloc(false, 0o600)
	m.Bind(d, "f", f)
	m.Drop(f)
	_, ok := m.Stat(f)
	require.True(t, ok, "it has a name still")
	m.Drop(d)
	info, ok := m.Stat(f)
	require.True(t, ok)
	require.Zero(t, info.Nlink)
}

// TestLinksOfClones gives and takes names of one file in two clones by turns: the list of
// its names is shared, and neither may write into the other's.
func TestLinksOfClones(t *testing.T) {
	for names := range 9 { // whatever capacity the shared list has
		m := image.New()
		ino := file(m, "0", nil)
		for i := 1; i <= names; i++ {
			m.Bind(trace.Root, fmt.Sprint(i), ino)
		}
		a, b, c := m.Clone(), m.Clone(), m.Clone()
		c.Unbind(trace.Root, "1")
		a.Bind(trace.Root, "a", ino)
		b.Bind(trace.Root, "b", ino)
		b.Bind(trace.Root, "c", ino)
		a.Unbind(trace.Root, "1")
		for _, m := range []*image.Image{m, a, b, c} {
			for _, e := range m.Entries(trace.Root) {
				before, _ := m.Stat(ino)
				m.Unbind(trace.Root, e.Name)
				after, _ := m.Stat(ino)
				require.Equal(t, before.Nlink-1, after.Nlink, "%d names, unbinding %q", names, e.Name)
			}
			_, _, ok := m.Name(ino)
			require.False(t, ok)
		}
	}
}

// TestHashThroughEachName changes a file after a hash: every folder that it has a name in must
// notice, small or large.
func TestHashThroughEachName(t *testing.T) {
	m := image.New()
	ino := file(m, "a", []byte("before"))
	small, large := m.Alloc(true, 0o700), m.Alloc(true, 0o700)
	m.Bind(trace.Root, "small", small)
	m.Bind(trace.Root, "large", large)
	m.Bind(small, "b", ino)
	for i := range 200 {
		m.Bind(large, fmt.Sprintf("%03d", i), m.Alloc(false, 0o600))
	}
	m.Bind(large, "100c", ino)
	m.Hash()
	c := m.Clone()
	c.WriteAt(ino, []byte("behind"), 0)
	require.Equal(t, rebuild(c).Hash(), c.Hash())
	require.Equal(t, rebuild(m).Hash(), m.Hash())
	dir, name, ok := c.Name(ino)
	require.True(t, ok)
	require.Equal(t, "a", name)
	require.Equal(t, trace.Root, dir)
}

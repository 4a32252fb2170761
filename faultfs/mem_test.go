package faultfs_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

func memCreate(tb testing.TB, m *faultfs.Mem, name, text string) afero.File {
	tb.Helper()
	f, err := m.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	require.NoError(tb, err)
	_, err = f.WriteString(text)
	require.NoError(tb, err)
	return f
}

func TestMemLeavesItsImageAlone(t *testing.T) {
	img := image.New()
	before := img.Hash()
	m := faultfs.NewMem(img)
	f := memCreate(t, m, "/f", "abc")
	taken := m.Image()
	_, err := f.WriteString("def")
	require.NoError(t, err)
	require.Equal(t, before, img.Hash())
	ino, ok := taken.Lookup("/f")
	require.True(t, ok)
	require.Equal(t, "abc", string(taken.Bytes(ino)), "a taken image does not move")
	got, err := afero.ReadFile(faultfs.NewMem(taken), "f")
	require.NoError(t, err)
	require.Equal(t, "abc", string(got))
}

// TestMemOrphans counts inodes: a file without a name lives as long as a handle does.
func TestMemOrphans(t *testing.T) {
	m := faultfs.NewMem(nil)
	f, g := memCreate(t, m, "f", "old"), memCreate(t, m, "g", "new")
	ino := f.(interface{ Ino() trace.Ino }).Ino()
	again, err := m.Open("f")
	require.NoError(t, err)
	require.NoError(t, m.Rename("g", "f"))
	require.NoError(t, f.Close())
	info, ok := m.Image().Stat(ino)
	require.True(t, ok, "one handle is left")
	require.Zero(t, info.Nlink)
	got, err := io.ReadAll(again)
	require.NoError(t, err)
	require.Equal(t, "old", string(got))
	require.NoError(t, again.Close())
	_, ok = m.Image().Stat(ino)
	require.False(t, ok, "the last close forgets it")
	require.NoError(t, m.Remove("f"))
	ino = g.(interface{ Ino() trace.Ino }).Ino()
	require.NoError(t, g.Close())
	_, ok = m.Image().Stat(ino)
	require.False(t, ok)
	require.NoError(t, m.MkdirAll("d/e", 0o700))
	require.NoError(t, m.RemoveAll("d"))
	for _, name := range []string{"f", "g"} {
		require.NoError(t, memCreate(t, m, name, "x").Close())
	}
	last := m.Image()
	replaced, _ := last.Lookup("/g")
	require.NoError(t, m.Rename("f", "g"))
	_, ok = m.Image().Stat(replaced)
	require.False(t, ok, "nobody held it when it was replaced")
	require.NoError(t, m.Remove("g"))
	require.Equal(t, "image of 1 folders, 0 files, 0 bytes", m.Image().String())
}

func TestMemLock(t *testing.T) {
	m := faultfs.NewMem(nil)
	f := memCreate(t, m, "f", "")
	g, err := m.Open("f")
	require.NoError(t, err)
	a, b := f.(faultfs.Locker), g.(faultfs.Locker)
	require.NoError(t, a.TryLock())
	require.NoError(t, a.TryLock(), "twice is once")
	err = b.TryLock()
	require.ErrorIs(t, err, syscall.EWOULDBLOCK)
	var path *fs.PathError
	require.ErrorAs(t, err, &path)
	require.Equal(t, "f", path.Path)
	require.NoError(t, b.Unlock(), "gives back nothing")
	require.ErrorIs(t, b.TryLock(), syscall.EWOULDBLOCK)
	require.NoError(t, m.Rename("f", "g"))
	require.ErrorIs(t, b.TryLock(), syscall.EWOULDBLOCK, "it goes with the file, not the name")
	other := memCreate(t, m, "f", "").(faultfs.Locker)
	require.NoError(t, other.TryLock(), "another file, another lock")
	require.NoError(t, a.Unlock())
	require.NoError(t, b.TryLock())
	require.ErrorIs(t, a.TryLock(), syscall.EWOULDBLOCK)
	require.NoError(t, g.Close())
	require.NoError(t, a.TryLock(), "a close gives it back")
	require.ErrorIs(t, b.TryLock(), fs.ErrClosed)
	require.ErrorIs(t, b.Unlock(), fs.ErrClosed)
	left, err := faultfs.NewMem(m.Image()).Open("g")
	require.NoError(t, err)
	require.NoError(t, left.(faultfs.Locker).TryLock(), "a killed process holds none")
}

// TestMemClock: two equal runs give equal times.
func TestMemClock(t *testing.T) {
	times := func() (all []time.Time) {
		m := faultfs.NewMem(nil)
		f := memCreate(t, m, "f", "a")
		for range 3 {
			info, err := f.Stat()
			require.NoError(t, err)
			all = append(all, info.ModTime())
			_, err = f.WriteString("b")
			require.NoError(t, err)
		}
		return all
	}
	first := times()
	require.Equal(t, first, times())
	require.True(t, first[0].Before(first[1]) && first[1].Before(first[2]))
	m := faultfs.NewMem(nil)
	memCreate(t, m, "f", "a")
	at := time.Date(2031, 5, 4, 3, 2, 1, 987, time.UTC)
	require.NoError(t, m.Chtimes("f", time.Time{}, at))
	require.NoError(t, m.Chtimes("f", at, time.Time{}), "a zero time changes nothing")
	info, err := m.Stat("f")
	require.NoError(t, err)
	require.Equal(t, at.Truncate(time.Second), info.ModTime())
}

func TestMemUmask(t *testing.T) {
	m := faultfs.NewMem(nil)
	require.Zero(t, m.SetUmask(0o027))
	_, err := m.OpenFile("f", os.O_CREATE, 0o666)
	require.NoError(t, err)
	require.NoError(t, m.Mkdir("d", 0o777))
	require.Equal(t, fs.FileMode(0o027), m.SetUmask(0))
	for name, want := range map[string]fs.FileMode{"f": 0o640, "d": fs.ModeDir | 0o750} {
		info, err := m.Stat(name)
		require.NoError(t, err)
		require.Equal(t, want, info.Mode())
	}
	require.NoError(t, m.Chmod("f", 0o666), "chmod does not ask it")
	info, err := m.Stat("f")
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o666), info.Mode())
}

func TestMemSys(t *testing.T) {
	m := faultfs.NewMem(nil)
	f := memCreate(t, m, "f", "abc")
	require.NoError(t, m.Link("f", "g"))
	info, err := m.Stat("g")
	require.NoError(t, err)
	sys, ok := info.Sys().(*image.Info)
	require.True(t, ok)
	require.Equal(t, f.(interface{ Ino() trace.Ino }).Ino(), sys.Ino)
	require.Equal(t, 2, sys.Nlink)
	require.Equal(t, "faultfs.Mem", m.Name())
}

// TestMemLongPath is PATH_MAX, 4096 with the kernel's own last byte.
func TestMemLongPath(t *testing.T) {
	m := faultfs.NewMem(nil)
	memCreate(t, m, "f", "")
	fits := strings.Repeat("/", 4094) + "f"
	_, err := m.Stat(fits)
	require.NoError(t, err)
	_, err = m.Stat("/" + fits)
	require.ErrorIs(t, err, syscall.ENAMETOOLONG)
}

// TestMemLargestFile stops where ext4 with 4 KiB blocks does, in all three places.
func TestMemLargestFile(t *testing.T) {
	const limit = 1<<44 - 4096
	m := faultfs.NewMem(nil)
	f := memCreate(t, m, "f", "")
	n, err := f.WriteAt([]byte("abcdef"), limit-4)
	require.Equal(t, 4, n)
	require.ErrorIs(t, err, syscall.EFBIG)
	info, err := f.Stat()
	require.NoError(t, err)
	require.Equal(t, int64(limit), info.Size())
	n, err = f.WriteAt([]byte("x"), math.MaxInt64)
	require.Zero(t, n)
	require.ErrorIs(t, err, syscall.EFBIG)
	require.ErrorIs(t, f.Truncate(limit+1), syscall.EFBIG)
	_, err = f.Seek(limit+1, io.SeekStart)
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = f.Seek(1, io.SeekEnd)
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = f.Seek(math.MaxInt64, io.SeekEnd)
	require.ErrorIs(t, err, syscall.EINVAL)
	p := make([]byte, 9)
	n, err = f.ReadAt(p, limit-4)
	require.Equal(t, io.EOF, err)
	require.Equal(t, "abcd", string(p[:n]))
	n, err = f.ReadAt(p, math.MaxInt64)
	require.Equal(t, io.EOF, err)
	require.Zero(t, n)
}

func TestMemRootStays(t *testing.T) {
	m := faultfs.NewMem(nil)
	memCreate(t, m, "f", "")
	for _, root := range []string{"/", "//", "."} {
		require.Error(t, m.Remove(root))
		require.Error(t, m.Rename(root, "g"))
		require.Error(t, m.Rename("f", root))
		require.Error(t, m.Mkdir(root, 0o700))
		require.NoError(t, m.MkdirAll(root, 0o700))
	}
	require.ErrorIs(t, m.Remove("/"), syscall.EBUSY)
	require.ErrorIs(t, m.RemoveAll("/.."), syscall.ENOTEMPTY)
	_, err := m.Stat("f")
	require.NoError(t, err)
	require.ErrorIs(t, m.RemoveAll("/"), syscall.EBUSY)
	_, err = m.Stat("f")
	require.ErrorIs(t, err, fs.ErrNotExist, "what is in it is gone")
	_, err = m.Stat("../../.")
	require.NoError(t, err, "above the root is the root")
}

// TestMemPlainNil: the error of an image that does nothing is never a typed nil.
func TestMemPlainNil(t *testing.T) {
	m := faultfs.NewMem(nil)
	err := m.Mkdir("d", 0o700)
	require.True(t, err == nil) //nolint:testifylint // a typed nil would pass NoError's reflection
	f, err := m.Open("none")
	require.Error(t, err)
	require.True(t, f == nil) //nolint:testifylint // as above
}

// TestMemAppenders appends from many goroutines, each through its own handle: no line may be
// lost or torn, whatever the order.
func TestMemAppenders(t *testing.T) {
	const writers, lines = 8, 50
	m := faultfs.NewMem(nil)
	var wg sync.WaitGroup
	failed := make([]error, writers)
	for w := range writers {
		wg.Go(func() {
			f, err := m.OpenFile("log", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
			for i := 0; err == nil && i < lines; i++ {
				_, err = fmt.Fprintf(f, "%d %d\n", w, i)
				if _, err2 := m.Stat("log"); err2 != nil {
					err = err2
				}
				m.Image().Hash()
			}
			if err == nil {
				err = errors.Join(f.Sync(), f.Close())
			}
			failed[w] = err
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(failed...))
	got, err := afero.ReadFile(m, "log")
	require.NoError(t, err)
	next := [writers]int{}
	for line := range strings.Lines(string(got)) {
		var w, i int
		_, err := fmt.Sscanf(line, "%d %d\n", &w, &i)
		require.NoError(t, err, line)
		require.Equal(t, next[w], i, "writer %d", w)
		next[w]++
	}
	for _, n := range next {
		require.Equal(t, lines, n)
	}
}

// BenchmarkMemOpenRead is what a recovery of a small journal costs here at least.
func BenchmarkMemOpenRead(b *testing.B) {
	m := faultfs.NewMem(nil)
	memCreate(b, m, "log", strings.Repeat("x", 2000))
	img, p := m.Image(), make([]byte, 4096)
	b.ReportAllocs()
	for b.Loop() {
		f, err := faultfs.NewMem(img).Open("/log")
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			_, err = f.Read(p)
		}
		if err = f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

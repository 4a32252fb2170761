package faultfs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// player performs random calls on a layer; their errors are part of the game.
type player struct {
	fs    *faultfs.FS
	links bool
	held  []afero.File
}

var playNames = []string{"/a", "/b", "/d", "/d/a", "/d/b", "/d/e", "/d/e/a", "/a/a", "/b/e"}

func (p *player) step(t *rapid.T) {
	name := rapid.SampledFrom(playNames).Draw(t, "name")
	other := rapid.SampledFrom(playNames).Draw(t, "other")
	switch rapid.IntRange(0, 16).Draw(t, "call") {
	case 0, 1, 2:
		flags := rapid.SampledFrom([]int{os.O_RDONLY, os.O_RDWR, os.O_WRONLY}).Draw(t, "access")
		for _, extra := range []int{os.O_CREATE, os.O_APPEND, os.O_TRUNC, os.O_EXCL, os.O_SYNC} {
			if rapid.Bool().Draw(t, "flag") {
				flags |= extra
			}
		}
		if f, err := p.fs.OpenFile(name, flags, 0o640); err == nil {
			p.held = append(p.held, f)
		}
	case 3:
		_ = p.fs.Mkdir(name, 0o750)
	case 4:
		_ = p.fs.MkdirAll(path.Join(name, "x"), 0o700)
	case 5:
		_ = p.fs.Remove(name)
	case 6:
		_ = p.fs.RemoveAll(name)
	case 7, 8:
		_ = p.fs.Rename(name, other)
	case 9:
		if p.links {
			_ = p.fs.Link(name, other)
		}
	case 10:
		_ = p.fs.Chmod(name, fs.FileMode(rapid.SampledFrom([]int{0o600, 0o644, 0o755}).Draw(t, "mode")))
	default:
		p.handle(t)
	}
}

func (p *player) handle(t *rapid.T) {
	if len(p.held) == 0 {
		return
	}
	i := rapid.IntRange(0, len(p.held)-1).Draw(t, "handle")
	f := p.held[i]
	data := []byte(rapid.StringN(0, 20, -1).Draw(t, "data"))
	off := rapid.Int64Range(-1, 40).Draw(t, "off")
	switch rapid.IntRange(0, 7).Draw(t, "on handle") {
	case 0, 1, 2:
		_, _ = f.Write(data)
		clear(data) // the log must not hold the caller's bytes
	case 3:
		_, _ = f.WriteAt(data, off)
	case 4:
		_ = f.Truncate(off)
	case 5:
		_ = f.Sync()
	case 6:
		_, _ = f.Seek(off, 0)
	default:
		_ = f.Close()
		p.held = append(p.held[:i], p.held[i+1:]...)
	}
}

// replay performs a log on img.
func replay(t require.TestingT, img *image.Image, ops []trace.Op) *image.Image {
	for i, op := range ops {
		require.NoError(t, img.Apply(op), "op %d: %v", i, op)
	}
	return img
}

func tree(img *image.Image) []string {
	var lines []string
	img.Walk(func(p string, i image.Info) bool {
		lines = append(lines, fmt.Sprintf("%s %v %v %d %q", p, i.Dir, i.Mode, i.Nlink, img.Bytes(i.Ino)))
		return true
	})
	return lines
}

// The log is what happened: performed again on a copy of the first image it makes the last one,
// with the same inode numbers, whatever the program and the faults.
func TestReplayOverMem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := image.New()
		mem := faultfs.NewMem(before)
		p := player{fs: faultfs.New(mem, faultfs.WithPlan(drawPlan(t))), links: true}
		for range rapid.IntRange(0, 60).Draw(t, "calls") {
			p.step(t)
		}
		again := replay(t, before, p.fs.Log().Ops())
		require.Equal(t, tree(mem.Image()), tree(again))
		require.Equal(t, mem.Image().Hash(), again.Hash())
		mem.Image().Walk(func(at string, i image.Info) bool {
			ino, ok := again.Lookup(at)
			require.True(t, ok && ino == i.Ino, "%s is %d, was %d", at, ino, i.Ino)
			return true
		})
	})
}

// A file below a folder that is renamed keeps its number.
func TestNumbersFollowFolders(t *testing.T) {
	f := folder(t)
	require.NoError(t, f.MkdirAll("/a/b", 0o700))
	require.NoError(t, afero.WriteFile(f, "/a/b/log", []byte("x"), 0o600))
	require.NoError(t, f.Rename("/a", "/c"))
	require.NoError(t, f.Mkdir("/a", 0o700))
	require.NoError(t, f.Chmod("/c/b/log", 0o640))
	require.NoError(t, f.Remove("/c/b/log"))
	require.NoError(t, afero.WriteFile(f, "/c/b/log", []byte("x"), 0o600))
	ops := f.Log().Ops()
	require.Equal(t, []string{
		"mkdir a", "mkdir a/b", "create a/b/log", "write a/b/log 0..1", "rename a to c", "mkdir a",
		"chmod c/b/log 0640", "remove c/b/log", "create c/b/log", "write c/b/log 0..1",
	}, story(f))
	require.Equal(t, ops[2].Ino, ops[6].Ino)
	require.Equal(t, ops[2].Ino, ops[7].Ino)
	require.Equal(t, ops[1].Ino, ops[7].Dir)
	require.NotEqual(t, ops[2].Ino, ops[8].Ino, "a new file has a new number")
	require.NotEqual(t, ops[0].Ino, ops[5].Ino)
}

// Over a real folder the layer gives the numbers itself.
func TestReplayOverFolder(t *testing.T) {
	root, runs := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		dir := path.Join(root, strconv.Itoa(runs))
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.Mkdir(path.Join(dir, "d"), 0o755))
		require.NoError(t, os.WriteFile(path.Join(dir, "d", "a"), []byte("old\n"), 0o600))
		before, err := image.FromDir(dir)
		require.NoError(t, err)
		p := player{fs: faultfs.New(afero.NewBasePathFs(afero.NewOsFs(), dir), faultfs.WithImage(before), faultfs.WithPlan(drawPlan(t)))}
		for range rapid.IntRange(0, 40).Draw(t, "calls") {
			p.step(t)
		}
		p.fs.Kill() // closes what is open
		after, err := image.FromDir(dir)
		require.NoError(t, err)
		again := replay(t, before, p.fs.Log().Ops())
		require.Equal(t, tree(after), tree(again))
		require.Equal(t, after.Hash(), again.Hash())
	})
}

package image_test

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// TestDirRoundTrip writes random trees to a real folder and reads them back.
func TestDirRoundTrip(t *testing.T) {
	top, n := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		p := pair{image.New(), newNaive()}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			p.step(t)
		}
		n++
		dir := filepath.Join(top, strconv.Itoa(n))
		require.NoError(t, p.img.WriteDir(dir))
		back, err := image.FromDir(dir)
		require.NoError(t, err)
		require.Equal(t, treeOf(p.img), treeOf(back))
		require.Equal(t, p.img.Hash(), back.Hash())
	})
}

func TestWriteDirWantsAnEmptyFolder(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mine"), []byte("x"), 0o600))
	require.ErrorContains(t, image.New().WriteDir(dir), "want an empty folder")
	_, err := image.FromDir(filepath.Join(dir, "mine"))
	require.ErrorIs(t, err, syscall.ENOTDIR)
	_, err = image.FromDir(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestFromDirRefusesLinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	_, err := image.FromDir(dir)
	require.ErrorContains(t, err, "link is neither a file nor a folder")
}

// TestWriteDirKeepsHoles writes a file of 1 TiB that weighs one chunk.
func TestWriteDirKeepsHoles(t *testing.T) {
	m := image.New()
	ino := file(m, "f", nil)
	m.WriteAt(ino, []byte("end"), 1<<40)
	m.Truncate(ino, 1<<40+100)
	dir := t.TempDir()
	require.NoError(t, m.WriteDir(dir))
	f, err := os.Open(filepath.Join(dir, "f"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	p := make([]byte, 100)
	n, err := f.ReadAt(p, 1<<40)
	require.NoError(t, err)
	require.Equal(t, 100, n)
	require.Equal(t, "end", string(p[:3]))
	_, ok := m.Child(trace.Root, "f")
	require.True(t, ok)
}

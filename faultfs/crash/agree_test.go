package crash

import (
	"path"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// fifoModels are those that the book knows.
func fifoModels() []Model {
	return []Model{Contiguous, OwnPage, Ext4Ordered, Ext4OOO, Writeback}
}

const mostStates = 400

// walked is every state of the space by hash, after checking that each is a different
// image, that each is contained, and that each can be made again from its choice.
func walked(t *rapid.T, sp *Space) map[image.Hash]*image.Image {
	all := map[image.Hash]*image.Image{}
	n := 0
	for st := range sp.All() {
		n++
		h := st.Image.Hash()
		require.NotContains(t, all, h, "two states are one image: %s (%s)", show(st.Image), st.Choice())
		all[h] = st.Image
		require.NoError(t, sp.Contains(st.Image), "%s", st.Choice())
		require.NoError(t, sp.Contains(renumbered(st.Image)), "%s under other inode numbers", st.Choice())
		again, err := sp.At(st.Choice())
		require.NoError(t, err)
		require.Equal(t, h, again.Image.Hash(), "choice %s makes %s, not %s", st.Choice(), show(again.Image), show(st.Image))
		require.Equal(t, st.Why(), again.Why())
		require.Equal(t, st.Choice(), again.Choice())
	}
	require.Equal(t, sp.Count().String(), bigOf(n).String(), "count and walk differ")
	return all
}

// renumbered is the same tree with other inode numbers, as a real file system would have.
func renumbered(img *image.Image) *image.Image {
	out := image.New()
	out.Chmod(trace.Root, 0o700)
	for range 7 {
		out.Alloc(false, 0)
	}
	inos := map[trace.Ino]trace.Ino{trace.Root: trace.Root}
	img.Walk(func(p string, info image.Info) bool {
		if p == "/" {
			return true
		}
		ino, ok := inos[info.Ino]
		if !ok {
			ino = out.Alloc(info.Dir, info.Mode)
			inos[info.Ino] = ino
			out.WriteAt(ino, img.Bytes(info.Ino), 0)
		}
		dir, _ := out.Lookup(path.Dir(p))
		out.Bind(dir, path.Base(p), ino)
		return true
	})
	return out
}

func requireSame(t *rapid.T, m Model, want, got map[image.Hash]*image.Image) {
	for h, img := range want {
		require.Contains(t, got, h, "%s: %q is missing", m, show(img))
	}
	for h, img := range got {
		require.Contains(t, want, h, "%s: %q should not be there", m, show(img))
	}
}

func TestWalkIsTheBook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := randomScript(t, 9, []trace.SyncResult{trace.SyncOK})
		tear := rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "tear")
		for _, m := range fifoModels() {
			sp, err := NewSpace(m, s.history(), s.end(), small(tear))
			require.NoError(t, err)
			if sp.Count().Cmp(bigOf(mostStates)) > 0 {
				continue
			}
			got := walked(t, sp)
			requireSame(t, m, newBook(m, s.history(), len(s.ops), int64(tear)).states(), got)
		}
	})
}

package faultfs_test

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
)

// Many goroutines at once: the log is still the one order in which everything happened, or
// performing it again would not give the same tree.
func TestConcurrentUse(t *testing.T) {
	const workers, rounds = 6, 30
	p, err := faultfs.ParsePlan("on write * 40 -> short 1\non sync * 3 -> fail-clean\non remove * 2+ -> eio")
	require.NoError(t, err)
	mem := faultfs.NewMem(nil)
	f := faultfs.New(mem, faultfs.WithPlan(p), faultfs.WithDisk(1<<20))
	shared, err := f.OpenFile("/shared", os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	require.NoError(t, err)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			own := fmt.Sprintf("/own%d", w)
			for i := range rounds {
				_, _ = fmt.Fprintf(shared, "%d.%d\n", w, i)
				f.Note("worker %d round %d", w, i)
				if h, err := f.Create(own); assert.NoError(t, err) {
					_, _ = h.Write([]byte("x"))
					_ = h.Sync()
					assert.NoError(t, h.Close())
				}
				_ = f.Rename(own, fmt.Sprintf("/new%d", (w+i)%workers))
				_ = f.Remove(fmt.Sprintf("/new%d", i%workers))
				_ = shared.Sync()
				f.Killed()
				f.Unused()
			}
		})
	}
	all.Wait()
	again := replay(t, image.New(), f.Log().Ops())
	require.Equal(t, tree(mem.Image()), tree(again))
}

// A kill in the middle of all that ends everybody.
func TestConcurrentKill(t *testing.T) {
	p, err := faultfs.ParsePlan("inside write shared 50 -> kill 2")
	require.NoError(t, err)
	mem := faultfs.NewMem(nil)
	f := faultfs.New(mem, faultfs.WithPlan(p))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for {
				h, err := f.OpenFile("/shared", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
				if err != nil {
					assert.ErrorIs(t, err, faultfs.ErrKilled)
					return
				}
				_, _ = h.Write([]byte("1234\n"))
				_ = h.Close()
			}
		})
	}
	all.Wait()
	require.Len(t, content(t, mem, "/shared"), 49*5+2)
	require.Equal(t, tree(mem.Image()), tree(replay(t, image.New(), f.Log().Ops())))
}

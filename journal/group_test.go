package journal

import (
	"io/fs"
	"runtime"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// gated holds one sync of a log back until its test lets it go.
type gated struct {
	*faultfs.FS
	hold func()
}

func (g *gated) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	f, err := g.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &gatedFile{f, g}, nil
}

type gatedFile struct {
	afero.File
	g *gated
}

func (f *gatedFile) Sync() error {
	if hold := f.g.hold; hold != nil {
		f.g.hold = nil
		hold()
	}
	return f.File.Sync()
}

// While one append syncs, the others gather, and share the next write and sync.
func TestAppendersShareASync(t *testing.T) {
	const others = 15
	for _, fails := range []bool{false, true} {
		fsys := faultfs.New(faultfs.NewMem(image.New()))
		g := &gated{FS: fsys}
		j, err := Open(g, "/s1.jsonl", Options{Create: true, AllowNoLock: true})
		require.NoError(t, err)
		from := fsys.Log().Len()
		var wg sync.WaitGroup
		errs := make([]error, others)
		g.hold = func() {
			for i := range others {
				wg.Go(func() { errs[i] = j.Append(Message("user", "together")) })
			}
			for waiting := 0; waiting < others; runtime.Gosched() {
				j.mu.Lock()
				if j.next != nil {
					waiting = len(j.next.items)
				}
				j.mu.Unlock()
			}
			if fails {
				require.NoError(t, fsys.Remove("/s1.jsonl"))
			}
		}
		err = j.Append(Message("user", "alone"))
		wg.Wait()
		if fails {
			var poisoned *PoisonedError
			require.ErrorAs(t, err, &poisoned)
			for _, err := range errs {
				require.ErrorAs(t, err, &poisoned, "what waits behind a failed sync fails too")
			}
			continue
		}
		require.NoError(t, err)
		for _, err := range errs {
			require.NoError(t, err)
		}
		writes, syncs := 0, 0
		for _, op := range fsys.Log().Ops()[from:] {
			switch op.Kind { //nolint:exhaustive // only these are counted
			case trace.Write:
				writes++
			case trace.SyncFile:
				syncs++
			}
		}
		assert.Equal(t, 2, writes)
		assert.Equal(t, 2, syncs)
		assert.EqualValues(t, others+1, j.acked.Load())
		require.NoError(t, j.Close())
	}
}

func TestCloseWaitsForWhatWasTaken(t *testing.T) {
	g := &gated{FS: faultfs.New(faultfs.NewMem(image.New()))}
	j, err := Open(g, "/s1.jsonl", Options{Create: true, AllowNoLock: true})
	require.NoError(t, err)
	var wg sync.WaitGroup
	var appended, closed error
	g.hold = func() {
		wg.Go(func() { appended = j.Append(Message("user", "waits")) })
		for waiting := false; !waiting; runtime.Gosched() {
			j.mu.Lock()
			waiting = j.next != nil && len(j.next.items) == 1
			j.mu.Unlock()
		}
		wg.Go(func() { closed = j.Close() })
		for isClosed := false; !isClosed; runtime.Gosched() {
			j.mu.Lock()
			isClosed = j.closed
			j.mu.Unlock()
		}
	}
	require.NoError(t, j.Append(Message("user", "first")))
	wg.Wait()
	require.NoError(t, appended)
	require.NoError(t, closed)
	rec, err := Recover(g, "/s1.jsonl", Options{})
	require.NoError(t, err)
	assert.Equal(t, 2, rec.Total)
	assert.Equal(t, rec.size, rec.Durable+int64(len(rec.lastLine(t, g))), "the checkpoint comes last")
}

// lastLine is the log's last line with its newline.
func (r *Recovery) lastLine(t *testing.T, fsys afero.Fs) []byte {
	t.Helper()
	b, err := afero.ReadFile(fsys, r.Path)
	require.NoError(t, err)
	for i := len(b) - 2; i >= 0; i-- {
		if b[i] == '\n' {
			return b[i+1:]
		}
	}
	return b
}

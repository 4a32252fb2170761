package faultfs_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
)

// script makes every call of the layer twice at least, in an order where none needs another to
// have gone well. What a fault fails it tries once more, so that all after it is as without.
type script struct {
	fs      *faultfs.FS
	results []result
}

// result is one call, its error, and the length of the log before and after it.
type result struct {
	call          faultfs.Call
	err           error
	before, after int
}

const logContent = "one\ntwo\nthree\n"

// scriptDisk is what the script begins on.
func scriptDisk(t *testing.T) *image.Image {
	t.Helper()
	mem := faultfs.NewMem(nil)
	for _, name := range []string{"/log", "/w1", "/w2", "/gone1", "/gone2", "/old1", "/old2"} {
		require.NoError(t, afero.WriteFile(mem, name, []byte(logContent), 0o600))
	}
	return mem.Image()
}

func (s *script) do(call faultfs.Call, perform func() error) error {
	err := s.once(call, perform)
	var fault *faultfs.FaultError
	if errors.As(err, &fault) && !errors.Is(err, faultfs.ErrKilled) && call != faultfs.CallClose {
		return s.once(call, perform)
	}
	return err
}

func (s *script) once(call faultfs.Call, perform func() error) error {
	before := s.fs.Log().Len()
	err := perform()
	s.results = append(s.results, result{call, err, before, s.fs.Log().Len()})
	return err
}

// with opens a file, lets use have it, and closes it; a killed layer opens nothing.
func (s *script) with(call faultfs.Call, name string, flag int, use func(afero.File)) {
	var f afero.File
	err := s.do(call, func() (err error) {
		f, err = s.fs.OpenFile(name, flag, 0o600)
		return err
	})
	if err != nil {
		return
	}
	use(f)
	_ = s.do(faultfs.CallClose, f.Close)
}

func (s *script) run() {
	for _, i := range []string{"1", "2"} {
		s.fs.Note("round %s", i)
		_ = s.do(faultfs.CallMkdir, func() error { return s.fs.Mkdir("/dir"+i, 0o700) })
		s.with(faultfs.CallCreate, "/new"+i, os.O_CREATE|os.O_WRONLY, func(afero.File) {})
		s.with(faultfs.CallTruncate, "/old"+i, os.O_TRUNC|os.O_RDWR, func(afero.File) {})
		s.with(faultfs.CallOpen, "/w"+i, os.O_RDWR|os.O_APPEND, func(f afero.File) {
			l := f.(faultfs.Locker)
			_ = s.do(faultfs.CallLock, l.TryLock)
			_ = s.do(faultfs.CallWrite, func() error { _, err := f.Write([]byte("more\n")); return err })
			_ = s.do(faultfs.CallSync, f.Sync)
			_ = s.do(faultfs.CallStat, func() error { _, err := f.Stat(); return err })
			_ = s.do(faultfs.CallRead, func() error { _, err := f.ReadAt(make([]byte, 3), 0); return err })
			_ = s.do(faultfs.CallTruncate, func() error { return f.Truncate(8) })
			_ = s.do(faultfs.CallUnlock, l.Unlock)
		})
		_ = s.do(faultfs.CallChmod, func() error { return s.fs.Chmod("/w"+i, 0o640) })
		_ = s.do(faultfs.CallAttr, func() error { return s.fs.Chtimes("/w"+i, time.Time{}, time.Unix(1, 0)) })
		_ = s.do(faultfs.CallLink, func() error { return s.fs.Link("/w"+i, "/link"+i) })
		_ = s.do(faultfs.CallRename, func() error { return s.fs.Rename("/link"+i, "/moved"+i) })
		_ = s.do(faultfs.CallRemove, func() error { return s.fs.Remove("/gone" + i) })
		s.with(faultfs.CallOpen, "/", os.O_RDONLY, func(f afero.File) {
			_ = s.do(faultfs.CallReadDir, func() error { _, err := f.Readdirnames(-1); return err })
			_ = s.do(faultfs.CallSyncDir, f.Sync)
		})
	}
}

// nth is the place of the second call of a kind, or of the second note.
func (s *script) nth(call faultfs.Call, n int) int {
	for i, r := range s.results {
		if r.call == call || call == faultfs.CallAny {
			if n--; n == 0 {
				return i
			}
		}
	}
	return -1
}

// perform runs the script with a plan on a disk of its own.
func perform(t *testing.T, plan string, opts ...faultfs.Option) (*script, *faultfs.Mem) {
	t.Helper()
	p, err := faultfs.ParsePlan(plan)
	require.NoError(t, err)
	mem := faultfs.NewMem(scriptDisk(t))
	s := &script{fs: faultfs.New(mem, append(opts, faultfs.WithPlan(p))...)}
	s.run()
	return s, mem
}

func content(t *testing.T, fsys afero.Fs, name string) string {
	t.Helper()
	b, err := afero.ReadFile(fsys, name)
	require.NoError(t, err)
	return string(b)
}

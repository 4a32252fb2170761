package faultfs_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
)

func TestKillByHand(t *testing.T) {
	f, mem, h := broken(t, "")
	require.NoError(t, h.(faultfs.Locker).TryLock())
	require.False(t, f.Killed())
	f.Kill()
	f.Kill()
	require.True(t, f.Killed())
	f.Note("the dead are silent")
	for name, err := range map[string]error{
		"write": func() error { _, err := h.Write([]byte("x")); return err }(),
		"read":  func() error { _, err := h.Read(make([]byte, 1)); return err }(),
		"seek":  func() error { _, err := h.Seek(0, 0); return err }(),
		"sync":  h.Sync(),
		"close": h.Close(),
		"open":  func() error { _, err := f.Open("/log"); return err }(),
		"all":   f.MkdirAll("/a/b", 0o700),
		"none":  f.RemoveAll("/log"),
	} {
		require.ErrorIs(t, err, faultfs.ErrKilled, name)
	}
	require.Equal(t, []string{"create log", "lock log"}, story(f))
	heir, err := mem.Open("/log")
	require.NoError(t, err)
	require.NoError(t, heir.(faultfs.Locker).TryLock(), "a kill lets locks go")
}

// A child that runs this very test writes until its layer ends it with SIGKILL, in the middle
// of the second write.
func TestSigKill(t *testing.T) {
	const env = "FAULTFS_TEST_SIGKILL"
	if dir := os.Getenv(env); dir != "" {
		p, err := faultfs.ParsePlan("inside write log 2 -> sigkill 3")
		require.NoError(t, err)
		f := faultfs.New(afero.NewBasePathFs(afero.NewOsFs(), dir), faultfs.WithPlan(p))
		h, err := f.Create("/log")
		require.NoError(t, err)
		for range 3 {
			_, err = h.Write([]byte("12345\n"))
			require.NoError(t, err)
		}
		return
	}
	dir := t.TempDir()
	child := exec.Command(os.Args[0], "-test.run=^TestSigKill$", "-test.v")
	child.Env = append(os.Environ(), env+"="+dir)
	out, err := child.CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, "%s", out)
	require.False(t, exit.Exited(), "it was to be ended by a signal: %v\n%s", exit, out)
	require.Equal(t, "signal: killed", exit.Error())
	written, err := os.ReadFile(filepath.Join(dir, "log"))
	require.NoError(t, err)
	require.Equal(t, "12345\n123", string(written))
}

func TestLocksOfRealFiles(t *testing.T) {
	f := folder(t)
	one, err := f.Create("/log")
	require.NoError(t, err)
	two, err := f.OpenFile("/log", os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, one.(faultfs.Locker).TryLock())
	require.ErrorIs(t, two.(faultfs.Locker).TryLock(), syscall.EWOULDBLOCK)
	require.NoError(t, one.(faultfs.Locker).Unlock())
	require.NoError(t, two.(faultfs.Locker).TryLock())
	require.NoError(t, two.Close())
	require.NoError(t, one.(faultfs.Locker).TryLock(), "Close lets a lock go")
	require.Equal(t, []string{"create log", "lock log", "unlock log", "lock log", "unlock log", "lock log"}, story(f))
}

func TestLocksThatABaseDoesNotHave(t *testing.T) {
	f := faultfs.New(synced{faultfs.NewMem(nil), new(int)})
	h, err := f.Create("/log")
	require.NoError(t, err)
	require.ErrorIs(t, h.(faultfs.Locker).TryLock(), errors.ErrUnsupported)
}

func TestNotes(t *testing.T) {
	f, _, _ := broken(t, "after note \"append 7 *\" 2 -> kill\nafter note \"*/x\" 1 -> bom in /log")
	f.Note("append %d called", 7)
	f.Note("100% sure")
	f.Note("a path /like/x")
	f.Note("append 7 acked")
	f.Note("append 8 called")
	require.True(t, f.Killed())
	require.Equal(t, []string{
		"create log", "append 7 called", "100% sure", "a path /like/x", "write log 0..3", "append 7 acked",
	}, story(f)[:6])
	require.Len(t, story(f), 6)
}

func TestDamageThatCannotBeDoneIsUnused(t *testing.T) {
	f, mem, h := broken(t, "after write log 1 -> flip 99.0\nafter write log 1 -> bom in /missing\nafter write log 2 -> delete -1 1")
	for range 2 {
		_, err := h.Write([]byte("line\n"))
		require.NoError(t, err)
	}
	require.Equal(t, "line\nline", content(t, mem, "/log"))
	require.Len(t, f.Unused(), 2)
	require.Equal(t, []string{"create log", "write log 0..5", "write log 5..10", "truncate log to 9"}, story(f))
}

func TestDamageFollowsARename(t *testing.T) {
	f, mem, h := broken(t, "after rename log 1 -> nul 0 1")
	_, err := h.Write([]byte("line\n"))
	require.NoError(t, err)
	require.NoError(t, f.Rename("/log", "/new"))
	require.Equal(t, "\x00ine\n", content(t, mem, "/new"))
}

func TestOpLimit(t *testing.T) {
	f := faultfs.New(faultfs.NewMem(nil), faultfs.WithOpLimit(3))
	h, err := f.Create("/log")
	require.NoError(t, err)
	_, err = h.Read(make([]byte, 1))
	require.Error(t, err)
	require.NotErrorIs(t, err, faultfs.ErrOpLimit)
	require.NoError(t, h.Sync())
	for range 2 {
		_, err = h.Write([]byte("x"))
		require.ErrorIs(t, err, faultfs.ErrOpLimit)
		require.ErrorIs(t, h.Sync(), faultfs.ErrOpLimit)
	}
	require.Equal(t, []string{"create log", "sync log"}, story(f))
}

// A slow call is slow alone: others pass it.
func TestSlowLetsOthersPass(t *testing.T) {
	started, goOn := make(chan time.Duration), make(chan struct{})
	f, _, h := broken(t, "on read log 1 -> slow 5s", faultfs.WithSleep(func(d time.Duration) {
		started <- d
		<-goOn
	}))
	_, err := h.Write([]byte("text"))
	require.NoError(t, err)
	read := make(chan string)
	go func() {
		b := make([]byte, 4)
		n, _ := h.ReadAt(b, 0)
		read <- string(b[:n])
	}()
	require.Equal(t, 5*time.Second, <-started)
	_, err = f.Stat("/log")
	require.NoError(t, err)
	close(goOn)
	require.Equal(t, "text", <-read)
}

// A call that is slow afterwards is done before its caller hears of it, and others see that.
func TestSlowAfterACall(t *testing.T) {
	started, goOn := make(chan time.Duration), make(chan struct{})
	f, _, h := broken(t, "after sync log 1 -> slow 1s", faultfs.WithSleep(func(d time.Duration) {
		started <- d
		<-goOn
	}))
	done := make(chan error)
	go func() { done <- h.Sync() }()
	<-started
	_, err := h.Write([]byte("meanwhile"))
	require.NoError(t, err)
	close(goOn)
	require.NoError(t, <-done)
	require.Equal(t, []string{"create log", "sync log", "write log 0..9"}, story(f))
}

func TestFaultErrorsLookLikeTheKernels(t *testing.T) {
	f, _, _ := broken(t, "on open * 1 -> eacces")
	_, err := f.Open("/log")
	require.ErrorIs(t, err, fs.ErrPermission)
	var p *fs.PathError
	require.ErrorAs(t, err, &p)
	require.Equal(t, fs.PathError{Op: "open", Path: "/log", Err: syscall.EACCES}, *p)
	require.EqualError(t, err, "open /log: permission denied (injected by: on open * 1 -> eacces)")
}

func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		match, path string
		want        bool
	}{
		{"*", "/", true},
		{"*", "/a/b", true},
		{"*.jsonl", "/a/b.jsonl", true},
		{"*.jsonl", "/a/b.jsonl.tmp", false},
		{"/a/*", "/a/b", true},
		{"/a/*", "/a/b/c", false},
		{"/a/**", "/a/b/c", true},
		{"**/c", "/a/b/c", true},
		{"/**/log.*", "/a/b/log.x", true},
		{"/**/log.*", "/log.x", false},
		{"lo?", "/x/log", true},
		{"[a-c]*", "/x/big", true},
		{"[a-c]*", "/b/dig", false},
		{"", "/", true},
		{"/", "/", true},
	} {
		rule := faultfs.Rule{When: faultfs.Before, Call: faultfs.CallStat, Match: c.match, Fault: faultfs.Fault{Kind: faultfs.Kill}}
		f := faultfs.New(faultfs.NewMem(nil), faultfs.WithPlan(faultfs.Plan{Rules: []faultfs.Rule{rule}}))
		_, _ = f.Stat(c.path)
		require.Equal(t, c.want, f.Killed(), "%q on %q", c.match, c.path)
	}
}

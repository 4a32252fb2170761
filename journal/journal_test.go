package journal_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/journal"
)

const logPath = "/home/projects/garden/s1.jsonl"

func fixedNow() time.Time { return time.Date(2026, 8, 20, 9, 0, 0, 0, time.UTC) }

func options(mod ...func(*journal.Options)) journal.Options {
	opt := journal.Options{Root: "/", Create: true, Now: fixedNow}
	for _, m := range mod {
		m(&opt)
	}
	return opt
}

func watermark(o *journal.Options) { o.Contract = journal.Watermark }
func segments(n int) func(*journal.Options) {
	return func(o *journal.Options) { o.SegmentLines = n }
}

func open(t require.TestingT, fsys afero.Fs, opt journal.Options) *journal.Journal {
	j, err := journal.Open(fsys, logPath, opt)
	require.NoError(t, err)
	return j
}

func user(i int) journal.Event { return journal.Message("user", fmt.Sprintf("water bed %d", i)) }

// filled is a log with n messages; closed adds the checkpoint.
func filled(t require.TestingT, n int, closed bool, opt journal.Options) *faultfs.Mem {
	mem := faultfs.NewMem(image.New())
	j := open(t, mem, opt)
	for i := range n {
		require.NoError(t, j.Append(user(i)))
	}
	if closed {
		require.NoError(t, j.Close())
	}
	return mem
}

// crashed is a copy of the files: no handle and no lock lives on in it.
func crashed(m *faultfs.Mem) *faultfs.Mem { return faultfs.NewMem(m.Image()) }

func read(t require.TestingT, fsys afero.Fs, name string) []byte {
	b, err := afero.ReadFile(fsys, name)
	require.NoError(t, err)
	return b
}

// with is a file system whose log has these bytes.
func with(t require.TestingT, b []byte) *faultfs.Mem {
	mem := faultfs.NewMem(image.New())
	require.NoError(t, mem.MkdirAll(filepath.Dir(logPath), 0o700))
	require.NoError(t, afero.WriteFile(mem, logPath, b, 0o600))
	return mem
}

func contents(events []journal.Event) []string {
	out := []string{}
	for i := range events {
		text, _ := events[i].Text("content")
		out = append(out, text)
	}
	return out
}

func TestOpenAppendReopen(t *testing.T) {
	onDisk := func(t *testing.T) (afero.Fs, string, string) {
		t.Helper()
		dir := t.TempDir()
		return afero.NewOsFs(), filepath.Join(dir, "a", "b", "s1.jsonl"), dir
	}
	inMemory := func(*testing.T) (afero.Fs, string, string) { return faultfs.NewMem(image.New()), logPath, "/" }
	for name, place := range map[string]func(*testing.T) (afero.Fs, string, string){"disk": onDisk, "memory": inMemory} {
		t.Run(name, func(t *testing.T) {
			fsys, path, root := place(t)
			opt := journal.Options{Root: root, Create: true, Now: fixedNow}
			_, err := journal.Recover(fsys, path, opt)
			require.ErrorIs(t, err, fs.ErrNotExist)
			_, err = journal.Open(fsys, path, journal.Options{})
			require.ErrorIs(t, err, fs.ErrNotExist)
			_, err = fsys.Stat(filepath.Dir(path))
			require.ErrorIs(t, err, fs.ErrNotExist, "not found makes nothing")

			j, err := journal.Open(fsys, path, opt)
			require.NoError(t, err)
			assert.True(t, j.Recovered().Empty)
			seq, err := j.AppendAt(user(1), journal.Reasoning("which beds?"), journal.FunctionCall("read", []byte(`{"path":"beds"}`), "c1"))
			require.NoError(t, err)
			assert.Equal(t, int64(1), seq)
			require.NoError(t, j.Append(journal.FunctionCallResult("c1", []byte(`"dry"`)), journal.FileSnapshot("beds", "9b"), journal.AITitle("Beds")))
			require.NoError(t, j.Append())
			require.NoError(t, j.Sync())
			require.NoError(t, j.Close())
			require.ErrorIs(t, j.Close(), journal.ErrClosed)
			require.ErrorIs(t, j.Append(user(2)), journal.ErrClosed)

			j, err = journal.Open(fsys, path, opt)
			require.NoError(t, err)
			rec := j.Recovered()
			assert.Equal(t, 6, rec.Total)
			assert.Equal(t, 7, rec.Lines, "and the checkpoint")
			assert.Equal(t, "s1", rec.Session)
			assert.Equal(t, "Beds", rec.Title)
			assert.Equal(t, []journal.Snapshot{{Path: "beds", Hash: "9b", Sequence: 5}}, rec.Snapshots)
			assert.Nil(t, rec.Tail)
			assert.Zero(t, rec.Unchecked)
			var types []string
			for i := range rec.Events {
				e := &rec.Events[i]
				types = append(types, e.Type)
				assert.True(t, e.Checked)
				assert.Equal(t, fmt.Sprintf("transcript:s1:%d", i+1), e.EventID())
				assert.Equal(t, "2026-08-20T09:00:00Z", e.RecordedAt)
			}
			assert.Equal(t, []string{"message", "reasoning", "function_call", "function_call_result", "file-history-snapshot", "ai-title"}, types)
			assert.Equal(t, `{"name":"read","arguments":{"path":"beds"},"callId":"c1"}`, string(rec.Events[2].Payload))
			require.NoError(t, j.Close())
			again, err := journal.Recover(fsys, path, opt)
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(rec.Events, again.Events, cmp.AllowUnexported(journal.Event{})))
			assert.Equal(t, 7, again.Lines, "a close with nothing appended writes no checkpoint")
		})
	}
}

func TestAppendRefusesWithoutWriting(t *testing.T) {
	mem := faultfs.NewMem(image.New())
	j := open(t, mem, options(func(o *journal.Options) { o.MaxLine = 2000 }))
	require.NoError(t, j.Append(user(1)))
	before := mem.Image().Hash()
	for _, tt := range []struct {
		reason string
		event  journal.Event
		want   string
	}{
		{"no type", journal.Event{}, "no type"},
		{"the journal's own type", journal.Event{Type: "checkpoint"}, "use Checkpoint"},
		{"a type that JSON cannot say", journal.Event{Type: "caf\xe9"}, "not UTF-8"},
		{"a text that JSON cannot say", journal.Message("user", "caf\xe9"), "content is not UTF-8"},
		{"S-12: a member of the envelope", journal.Event{Type: "x", Payload: []byte(`{"sequence":9}`)}, `"sequence"`},
		{"the same in other letters", journal.Event{Type: "x", Payload: []byte(`{"Sequence":9}`)}, `"Sequence"`},
		{"the same by escape", journal.Event{Type: "x", Payload: []byte(`{"\u0063rc":9}`)}, `"crc"`},
		{"no object", journal.Event{Type: "x", Payload: []byte(`[1]`)}, "not a JSON object"},
		{"two objects", journal.Event{Type: "x", Payload: []byte(`{}{}`)}, "behind the end"},
		{"arguments that are no JSON", journal.FunctionCall("f", []byte("{"), "c"), "payload of function_call"},
		{"a key twice", journal.Event{Type: "x", Payload: []byte(`{"a":1,"a":2}`)}, "twice"},
	} {
		err := j.Append(user(2), tt.event)
		require.ErrorIs(t, err, journal.ErrEvent, tt.reason)
		require.ErrorContains(t, err, tt.want, tt.reason)
	}
	var large *journal.TooLargeError
	require.ErrorAs(t, j.Append(journal.Message("user", strings.Repeat("x", 2000))), &large)
	assert.Equal(t, before, mem.Image().Hash())
	require.NoError(t, j.Append(user(2)), "the journal goes on")
	require.NoError(t, j.Close())
	rec, err := journal.Recover(mem, logPath, options(func(o *journal.Options) { o.MaxLine = 2000 }))
	require.NoError(t, err)
	assert.Equal(t, []string{"water bed 1", "water bed 2"}, contents(rec.Events))
	_, err = journal.Recover(mem, logPath, options(func(o *journal.Options) { o.MaxLine = 50 }))
	require.ErrorAs(t, err, &large)
	require.NotErrorIs(t, err, journal.ErrCorrupt)
}

func TestWhiteSpaceOfAPayloadIsNotWritten(t *testing.T) {
	mem := faultfs.NewMem(image.New())
	j := open(t, mem, options())
	require.NoError(t, j.Append(journal.Event{Type: "x", Payload: []byte("{ \"a b\" : [1,\n 2.50 ] ,\t\"c\":\"\\u0041 \"}")}))
	require.NoError(t, j.Close())
	rec, err := journal.Recover(mem, logPath, options())
	require.NoError(t, err)
	assert.Equal(t, `{"a b":[1,2.50],"c":"\u0041 "}`, string(rec.Events[0].Payload))
}

func TestModesUnderAnyUmask(t *testing.T) {
	for _, umask := range []fs.FileMode{0, 0o022, 0o077, 0o777} {
		mem := faultfs.NewMem(image.New())
		mem.SetUmask(umask)
		j := open(t, mem, options(segments(2)))
		for i := range 5 {
			require.NoError(t, j.Append(user(i)))
		}
		mem.Image().Walk(func(path string, info image.Info) bool {
			want := fs.FileMode(0o600)
			if info.Dir {
				want = 0o700
			}
			assert.Equal(t, want, info.Mode.Perm(), "%s under %o", path, umask)
			return true
		})
		torn := crashed(mem)
		torn.SetUmask(umask)
		name := "/home/projects/garden/s1_3.jsonl"
		require.NoError(t, afero.WriteFile(torn, name, append(read(t, torn, name), "{\"sch"...), 0o600))
		require.NoError(t, open(t, torn, options()).Close())
		_, err := torn.Stat(name + ".tail-" + fmt.Sprint(len(read(t, mem, name))))
		require.NoError(t, err)
		torn.Image().Walk(func(path string, info image.Info) bool {
			assert.True(t, info.Dir || info.Mode.Perm() == 0o600, "%s under %o", path, umask)
			return true
		})
	}
}

func TestOneWriter(t *testing.T) {
	for name, fsys := range map[string]afero.Fs{"memory": faultfs.NewMem(image.New()), "disk": afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())} {
		t.Run(name, func(t *testing.T) {
			opt := options(segments(2))
			j := open(t, fsys, opt)
			for i := range 5 { // the lock is on the first segment, whichever is written to
				require.NoError(t, j.Append(user(i)))
			}
			_, err := journal.Open(fsys, logPath, opt)
			var locked *journal.LockedError
			require.ErrorAs(t, err, &locked)
			rec, err := journal.Recover(fsys, logPath, opt)
			require.NoError(t, err, "readers need no lock")
			assert.Equal(t, 5, rec.Total)
			require.NoError(t, j.Append(user(5)))
			require.NoError(t, j.Close())
			require.NoError(t, open(t, fsys, opt).Close())
		})
	}
}

// lockless is a file system without locks.
type lockless struct{ afero.Fs }

func (l lockless) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	f, err := l.Fs.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return struct{ afero.File }{f}, nil
}

func TestWhatTheFileSystemLacksIsSaid(t *testing.T) {
	fsys := lockless{faultfs.NewMem(image.New())}
	_, err := journal.Open(fsys, logPath, options())
	var lacks *journal.UnsupportedError
	require.ErrorAs(t, err, &lacks)
	require.ErrorContains(t, err, "AllowNoLock")
	j := open(t, fsys, options(func(o *journal.Options) { o.AllowNoLock = true }))
	require.NoError(t, j.Append(user(1)))
	require.NoError(t, j.Close())
}

func TestAppendersAtTheSameTimeKeepTheirOrder(t *testing.T) {
	mem := faultfs.NewMem(image.New())
	j := open(t, mem, options(segments(50)))
	const n = 16
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			for k := range 20 {
				assert.NoError(t, j.Append(user(i*100+k)))
			}
		})
	}
	wg.Wait()
	require.NoError(t, j.Close())
	rec, err := journal.Recover(mem, logPath, options())
	require.NoError(t, err)
	require.Equal(t, n*20, rec.Total)
	next := map[int]int{}
	for _, text := range contents(rec.Events) {
		var v int
		_, err := fmt.Sscanf(text, "water bed %d", &v)
		require.NoError(t, err)
		require.Equal(t, next[v/100], v%100)
		next[v/100]++
	}
}

func TestAnEventIsCopiedWhenItIsTaken(t *testing.T) {
	payload := []byte(`{"content":"before"}`)
	mem := faultfs.NewMem(image.New())
	spy := &writeSpy{Mem: mem, do: func() { copy(payload, `{"content":"after!"}`) }}
	j := open(t, spy, options(func(o *journal.Options) { o.AllowNoLock = true }))
	require.NoError(t, j.Append(journal.Event{Type: "x", Payload: payload}))
	require.Equal(t, `{"content":"after!"}`, string(payload))
	rec, err := journal.Recover(mem, logPath, options())
	require.NoError(t, err)
	assert.Equal(t, []string{"before"}, contents(rec.Events))
}

// writeSpy calls do in front of every write, and has no locks.
type writeSpy struct {
	*faultfs.Mem
	do     func()
	synced func() // in front of every sync of a file, if set
}

func (s *writeSpy) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	f, err := s.Mem.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &spiedFile{f, s}, nil
}

type spiedFile struct {
	afero.File
	spy *writeSpy
}

func (f *spiedFile) Write(p []byte) (int, error) {
	f.spy.do()
	return f.File.Write(p)
}

func (f *spiedFile) Sync() error {
	if f.spy.synced != nil {
		f.spy.synced()
	}
	return f.File.Sync()
}

func TestARefusedOpenChangesNothing(t *testing.T) {
	whole := read(t, filled(t, 5, true, options()), logPath)
	damaged := bytes.Replace(whole, []byte("water bed 2"), []byte("water bed 3"), 1)
	for name, mem := range map[string]*faultfs.Mem{"damaged": with(t, damaged), "another session": with(t, whole)} {
		fsys := faultfs.New(mem)
		_, err := journal.Open(fsys, logPath, options(func(o *journal.Options) { o.Session = "other" }))
		require.ErrorIs(t, err, journal.ErrCorrupt, name)
		for _, op := range fsys.Log().Ops() {
			require.False(t, op.Changes(), "%s: %s", name, op)
		}
		require.NoError(t, faultfs.NewMem(mem.Image()).Remove(logPath))
		_, err = journal.Open(mem, logPath, options(func(o *journal.Options) { o.Session = "other" }))
		require.NotErrorIs(t, err, journal.ErrClosed, "the lock was let go")
		var locked *journal.LockedError
		require.NotErrorAs(t, err, &locked, "the lock was let go")
	}
}

func TestOpenSyncsEveryFolderUpToTheRoot(t *testing.T) {
	mem := faultfs.NewMem(image.New())
	for range 2 { // at the creation, and at every later open
		fsys := faultfs.New(mem)
		j := open(t, fsys, options())
		var synced []string
		for _, op := range fsys.Log().Ops() {
			if op.Kind == trace.SyncDir {
				synced = append(synced, op.Path)
			}
		}
		assert.Equal(t, []string{"/home/projects/garden", "/home/projects", "/home", "/"}, synced)
		require.NoError(t, j.Close())
	}
	_, err := journal.Open(mem, logPath, options(func(o *journal.Options) { o.Root = "/elsewhere" }))
	require.ErrorContains(t, err, "is not above")
	fresh := faultfs.New(faultfs.NewMem(image.New()))
	open(t, fresh, options(func(o *journal.Options) { o.Root = "" }))
	var synced []string
	for _, op := range fresh.Log().Ops() {
		if op.Kind == trace.SyncDir {
			synced = append(synced, op.Path)
		}
	}
	assert.Contains(t, synced, "/", "the name of a folder that was made must be durable, whatever the root")
}

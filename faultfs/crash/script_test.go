package crash

import (
	"path"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// script builds histories by path, the way a recorder would.
type script struct {
	base *image.Image
	live *image.Image
	ops  []trace.Op
	gone []trace.Ino // files that lost their last name; a program may still hold them open
}

func newScript() *script {
	s := &script{base: image.New()}
	s.live = s.base.Clone()
	return s
}

// durable makes what was done so far the base of the history.
func (s *script) durable() *script {
	s.base, s.ops = s.live.Clone(), nil
	return s
}

func (s *script) history() *History { return &History{Base: s.base, Ops: s.ops} }

func (s *script) end() Cut { return Cut{At: len(s.ops)} }

func (s *script) do(op trace.Op) *script {
	if op.Changes() {
		if err := s.live.Apply(op); err != nil {
			panic(err)
		}
	}
	s.ops = append(s.ops, op)
	return s
}

func (s *script) ino(p string) trace.Ino {
	ino, ok := s.live.Lookup(p)
	if !ok {
		panic("no such path: " + p)
	}
	return ino
}

func (s *script) next() trace.Ino { return s.live.Clone().Alloc(false, 0) }

func (s *script) create(p string) *script {
	return s.do(trace.Op{Kind: trace.Create, Ino: s.next(), Dir: s.ino(path.Dir(p)), Path: p, Mode: 0o600})
}

func (s *script) mkdir(p string) *script {
	return s.do(trace.Op{Kind: trace.Mkdir, Ino: s.next(), Dir: s.ino(path.Dir(p)), Path: p, Mode: 0o700})
}

func (s *script) write(p string, off int64, data string) *script {
	return s.do(trace.Op{Kind: trace.Write, Ino: s.ino(p), Path: p, Off: off, Data: []byte(data), Len: len(data)})
}

func (s *script) size(p string) int64 {
	info, _ := s.live.Stat(s.ino(p))
	return info.Size
}

func (s *script) append(p, data string) *script { return s.write(p, s.size(p), data) }

func (s *script) truncate(p string, size int64) *script {
	return s.do(trace.Op{Kind: trace.Truncate, Ino: s.ino(p), Path: p, Size: size})
}

func (s *script) rename(from, to string) *script {
	target, over := s.live.Lookup(to)
	if over {
		s.gone = append(s.gone, target)
	}
	return s.do(trace.Op{
		Kind: trace.Rename, Ino: s.ino(from), Dir: s.ino(path.Dir(from)), Path: from,
		Dir2: s.ino(path.Dir(to)), Path2: to, Target: target,
	})
}

func (s *script) link(from, to string) *script { //nolint:unparam // a script reads like the calls that it stands for
	return s.do(trace.Op{
		Kind: trace.Link, Ino: s.ino(from), Dir: s.ino(path.Dir(from)), Path: from,
		Dir2: s.ino(path.Dir(to)), Path2: to,
	})
}

func (s *script) remove(p string) *script {
	s.gone = append(s.gone, s.ino(p))
	return s.do(trace.Op{Kind: trace.Remove, Ino: s.ino(p), Dir: s.ino(path.Dir(p)), Path: p})
}

func (s *script) chmod(p string, mode uint32) *script {
	return s.do(trace.Op{Kind: trace.Chmod, Ino: s.ino(p), Dir: s.ino(path.Dir(p)), Path: p, Mode: modeOf(mode)})
}

func (s *script) sync(p string) *script { return s.syncAs(p, trace.SyncOK) }

func (s *script) syncAs(p string, r trace.SyncResult) *script {
	op := trace.Op{Kind: trace.SyncFile, Ino: s.ino(p), Path: p, Result: r}
	if info, _ := s.live.Stat(op.Ino); info.Dir {
		op.Kind = trace.SyncDir
	}
	switch r {
	case trace.SyncFailClean, trace.SyncFailRO, trace.SyncFailShutdown, trace.SyncFailFalse:
		op.Err = "input/output error"
	default:
	}
	return s.do(op)
}

// show is the visible tree as text: "a=…; d/; d/b=…", NUL as a dot.
func show(img *image.Image) string {
	text := ""
	img.Walk(func(p string, info image.Info) bool {
		if p == "/" {
			return true
		}
		if text != "" {
			text += "; "
		}
		if info.Dir {
			text += p[1:] + "/"
			return true
		}
		text += p[1:] + "="
		for _, b := range img.Bytes(info.Ino) {
			if b == 0 {
				b = '.'
			}
			text += string(rune(b))
		}
		return true
	})
	return text
}

// small are the options of tests: pages of 4 bytes.
func small(tear int) Options { return Options{Tear: tear, page: 4} }

// shown is every state of a space as text, each once, in walking order.
func shown(t require.TestingT, m Model, h *History, cut Cut, o Options) []string {
	if h, ok := t.(*testing.T); ok {
		h.Helper()
	}
	sp, err := NewSpace(m, h, cut, o)
	require.NoError(t, err)
	var all []string
	for st := range sp.All() {
		all = append(all, show(st.Image))
	}
	require.Equal(t, sp.Count().String(), bigOf(len(all)).String(), "count and walk of %s differ", m)
	return all
}

// randomScript draws a history that a real program could have made: two or three names, a
// folder, small writes, and syncs of every kind that results allows.
func randomScript(t *rapid.T, most int, results []trace.SyncResult) *script {
	s := newScript()
	if rapid.Bool().Draw(t, "base") {
		s.create("/a").write("/a", 0, rapid.StringMatching(`[abD-F]{0,7}`).Draw(t, "old"))
		if rapid.Bool().Draw(t, "folder") {
			s.mkdir("/d")
		}
		s.durable()
	}
	paths := []string{"/a", "/b", "/d/c"}
	n := rapid.IntRange(1, most).Draw(t, "ops")
	for range n {
		s.randomOp(t, rapid.SampledFrom(paths).Draw(t, "path"), results)
	}
	return s
}

func (s *script) randomOp(t *rapid.T, p string, results []trace.SyncResult) {
	if len(s.gone) > 0 && rapid.IntRange(0, 5).Draw(t, "orphan") == 0 {
		op := trace.Op{Kind: trace.Write, Ino: s.gone[0], Path: "/gone", Data: []byte("zz"), Len: 2}
		if rapid.Bool().Draw(t, "sync") {
			op = trace.Op{Kind: trace.SyncFile, Ino: s.gone[0], Path: "/gone"}
		}
		s.do(op)
		return
	}
	dir := path.Dir(p)
	if _, ok := s.live.Lookup(dir); !ok {
		s.mkdir(dir)
		return
	}
	if _, ok := s.live.Lookup(p); !ok {
		s.create(p)
		return
	}
	data := func() string { return rapid.StringMatching(`[a-c]{1,5}`).Draw(t, "data") }
	switch rapid.IntRange(0, 11).Draw(t, "kind") {
	case 0, 1, 2, 3:
		s.append(p, data())
	case 4:
		s.write(p, rapid.Int64Range(0, 9).Draw(t, "off"), data())
	case 5:
		s.truncate(p, rapid.Int64Range(0, 7).Draw(t, "size"))
	case 6:
		to := rapid.SampledFrom([]string{"/a", "/b"}).Draw(t, "to")
		if to != p {
			s.rename(p, to)
		}
	case 7:
		s.remove(p)
	case 8:
		s.chmod(p, rapid.SampledFrom([]uint32{0o600, 0o640}).Draw(t, "mode"))
	case 9:
		s.sync(dir)
	case 10:
		s.syncAs(p, rapid.SampledFrom(results).Draw(t, "result"))
	default:
		s.sync(p)
	}
}

package image_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// TestApply performs one recorded life, step by step.
func TestApply(t *testing.T) {
	m := image.New()
	for _, s := range []struct {
		op   trace.Op
		want []string // of /, without the root's own line
	}{
		{trace.Op{Kind: trace.Mkdir, Ino: 2, Dir: 1, Path: "/d", Mode: 0o700}, []string{"/d folder 700"}},
		{trace.Op{Kind: trace.Create, Ino: 3, Dir: 2, Path: "/d/f", Mode: 0o600}, []string{"/d folder 700", `/d/f 600 0 ""`}},
		{trace.Op{Kind: trace.Write, Ino: 3, Path: "/d/f", Data: []byte("abc"), Len: 3}, []string{"/d folder 700", `/d/f 600 3 "abc"`}},
		{trace.Op{Kind: trace.Write, Ino: 3, Off: 3, Data: []byte("d"), Len: 9, Err: "no space left"}, []string{"/d folder 700", `/d/f 600 4 "abcd"`}},
		{trace.Op{Kind: trace.Write, Ino: 3, Off: 4, Len: 9, Err: "input/output error"}, []string{"/d folder 700", `/d/f 600 4 "abcd"`}},
		{trace.Op{Kind: trace.Truncate, Ino: 3, Size: 2}, []string{"/d folder 700", `/d/f 600 2 "ab"`}},
		{trace.Op{Kind: trace.Truncate, Ino: 3, Size: 0, Err: "input/output error"}, []string{"/d folder 700", `/d/f 600 2 "ab"`}},
		{trace.Op{Kind: trace.SyncFile, Ino: 3}, []string{"/d folder 700", `/d/f 600 2 "ab"`}},
		{trace.Op{Kind: trace.Note, Text: "append 1 acked"}, []string{"/d folder 700", `/d/f 600 2 "ab"`}},
		{trace.Op{Kind: trace.Link, Ino: 3, Dir: 2, Path: "/d/f", Dir2: 1, Path2: "/g"}, []string{"/d folder 700", `/d/f 600 2 "ab"`, `/g 600 2 "ab"`}},
		{trace.Op{Kind: trace.Chmod, Ino: 3, Mode: 0o640}, []string{"/d folder 700", `/d/f 640 2 "ab"`, `/g 640 2 "ab"`}},
		{trace.Op{Kind: trace.Rename, Ino: 3, Dir: 2, Path: "/d/f", Dir2: 1, Path2: "/h"}, []string{"/d folder 700", `/g 640 2 "ab"`, `/h 640 2 "ab"`}},
		{trace.Op{Kind: trace.Remove, Ino: 3, Dir: 1, Path: "/g"}, []string{"/d folder 700", `/h 640 2 "ab"`}},
		{trace.Op{Kind: trace.Create, Ino: 9, Dir: 1, Path: "/n", Mode: 0o600}, []string{"/d folder 700", `/h 640 2 "ab"`, `/n 600 0 ""`}},
		{trace.Op{Kind: trace.Rename, Ino: 9, Dir: 1, Path: "/n", Dir2: 1, Path2: "/h", Target: 3}, []string{"/d folder 700", `/h 600 0 ""`}},
		{trace.Op{Kind: trace.Write, Ino: 3, Data: []byte("z"), Len: 1}, []string{"/d folder 700", `/h 600 0 ""`}},
	} {
		require.NoError(t, m.Apply(s.op), s.op)
		require.Equal(t, s.want, treeOf(m)[1:], s.op)
	}
	require.Equal(t, "zb", string(m.Bytes(3)), "an open handle still wrote to the replaced file")
}

// TestApplyRefuses gives ops that do not fit: each names its reason and changes nothing.
func TestApplyRefuses(t *testing.T) {
	m := image.New()
	file(m, "f", []byte("x"))
	before := m.Hash()
	for _, c := range []struct {
		op   trace.Op
		want string
	}{
		{trace.Op{Kind: trace.Create, Ino: 2, Dir: 1, Path: "/g"}, "inode 2 is taken"},
		{trace.Op{Kind: trace.Create, Dir: 1, Path: "/g"}, "inode 0 is taken"},
		{trace.Op{Kind: trace.Mkdir, Ino: 5, Dir: 7, Path: "/q/g"}, "no folder 7"},
		{trace.Op{Kind: trace.Mkdir, Ino: 5, Dir: 2, Path: "/f/g"}, "no folder 2"},
		{trace.Op{Kind: trace.Write, Ino: 8, Path: "/g", Data: []byte("x")}, "no inode 8"},
		{trace.Op{Kind: trace.Write, Ino: 1, Path: "/", Data: []byte("x")}, "inode 1 is a folder"},
		{trace.Op{Kind: trace.Write, Ino: 2, Path: "/f", Data: []byte("x"), Off: -1}, "offset -1"},
		{trace.Op{Kind: trace.Truncate, Ino: 2, Path: "/f", Size: -1}, "size -1"},
		{trace.Op{Kind: trace.Rename, Ino: 2, Dir: 1, Path: "/g", Dir2: 1, Path2: "/h"}, `no name "g"`},
		{trace.Op{Kind: trace.Rename, Ino: 2, Dir: 1, Path: "/f", Dir2: 2, Path2: "/f/h"}, "no folder 2"},
		{trace.Op{Kind: trace.Remove, Ino: 3, Dir: 1, Path: "/f"}, `no name "f" for inode 3`},
		{trace.Op{Kind: trace.Link, Ino: 3, Dir: 1, Path: "/f", Dir2: 1, Path2: "/h"}, "no inode 3"},
		{trace.Op{Kind: trace.Chmod, Ino: 3}, "no inode 3"},
	} {
		require.ErrorContains(t, m.Apply(c.op), c.want)
		require.Equal(t, before, m.Hash(), c.op)
	}
}

package image_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// A rename between two names of one file does nothing, as in the kernel: both names stay.
func TestApplyRenameOntoItself(t *testing.T) {
	m := image.New()
	for _, op := range []trace.Op{
		{Kind: trace.Create, Ino: 2, Dir: 1, Path: "/a", Mode: 0o600},
		{Kind: trace.Link, Ino: 2, Dir: 1, Path: "/a", Dir2: 1, Path2: "/b"},
		{Kind: trace.Rename, Ino: 2, Dir: 1, Path: "/a", Dir2: 1, Path2: "/b", Target: 2},
	} {
		require.NoError(t, m.Apply(op))
	}
	for _, name := range []string{"/a", "/b"} {
		ino, ok := m.Lookup(name)
		require.True(t, ok, name)
		require.Equal(t, trace.Ino(2), ino)
	}
}

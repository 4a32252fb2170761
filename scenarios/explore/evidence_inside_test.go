package explore

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// TestCommonPrefix compares a file with what was written, over the borders of the pieces in
// which it is read.
func TestCommonPrefix(t *testing.T) {
	const long = 5000
	whole := bytes.Repeat([]byte("0123456789"), long/10)
	prefix := func(state, want []byte) int64 {
		img := image.New()
		ino := img.Alloc(false, 0o600)
		img.WriteAt(ino, state, 0)
		img.Bind(trace.Root, "log", ino)
		info, ok := img.Stat(ino)
		require.True(t, ok)
		return commonPrefix(img, info, want)
	}
	for _, n := range []int{0, 1, 511, 1023, 1024, 1025, 2047, 2048, 4999} {
		flipped := bytes.Clone(whole)
		flipped[n] ^= 0x80
		assert.EqualValues(t, n, prefix(flipped, whole), "byte %d differs", n)
		assert.EqualValues(t, n, prefix(whole[:n], whole), "the state ends at %d", n)
		assert.EqualValues(t, n, prefix(whole, whole[:n]), "%d bytes were written", n)
	}
	assert.EqualValues(t, long, prefix(whole, whole))
}

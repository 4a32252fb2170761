package crash

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNarrowedNames: a hundred whole-file saves without a folder sync have more choices of
// names than anybody can list. The space says that it takes the telling ones.
func TestNarrowedNames(t *testing.T) {
	s := newScript().create("/s").append("/s", "0").durable()
	for i := range 100 {
		tmp := fmt.Sprintf("/t%d", i)
		s.create(tmp).append(tmp, fmt.Sprint(i)).sync(tmp).rename(tmp, "/s")
	}
	sp, err := NewSpace(PosixWorst, s.history(), s.end(), Options{})
	require.NoError(t, err)
	assert.Contains(t, sp.Narrowed(), "only each prefix of the changes, each alone and all but each")
	n := 0
	for st := range sp.All() {
		require.NoError(t, sp.Contains(st.Image))
		n++
	}
	assert.Equal(t, sp.Count().String(), bigOf(n).String())
	assert.Greater(t, n, 300)
	require.NoError(t, sp.Contains(s.live), "all new is one of them")
	assert.NoError(t, sp.Contains(s.base), "all old is one of them")

	sp, err = NewSpace(OwnPage, s.history(), s.end(), Options{})
	require.NoError(t, err)
	assert.Empty(t, sp.Narrowed())
}

// TestNarrowedWrites: forty unsynced writes that all overlap in one sector.
func TestNarrowedWrites(t *testing.T) {
	s := newScript().create("/a").append("/a", ramp(400)).durable()
	for i := range 40 {
		s.write("/a", int64(i), ramp(200+i))
	}
	sp, err := NewSpace(PosixWorst, s.history(), s.end(), Options{})
	require.NoError(t, err)
	assert.Contains(t, sp.Narrowed(), "writes that overlap in bytes 0 to 278")
	require.NoError(t, sp.Contains(s.live))
	require.NoError(t, sp.Contains(s.base))
	n := 0
	for range sp.All() {
		n++
	}
	assert.Equal(t, sp.Count().String(), bigOf(n).String())
	assert.Greater(t, n, 100)
}

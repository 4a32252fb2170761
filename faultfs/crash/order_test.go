package crash

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/faultfs/trace"
)

// contained is an error if the narrow model has a state that the wide one has not.
func contained(t require.TestingT, narrow, wide Model, s *script, tear int) error {
	a, err := NewSpace(narrow, s.history(), s.end(), small(tear))
	require.NoError(t, err)
	b, err := NewSpace(wide, s.history(), s.end(), small(tear))
	require.NoError(t, err)
	if a.Count().Cmp(bigOf(200)) > 0 {
		return nil
	}
	for st := range a.All() {
		if err := b.Contains(st.Image); err != nil {
			return err
		}
	}
	return nil
}

func TestOrderHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := randomScript(t, 9, []trace.SyncResult{trace.SyncOK, trace.SyncLied, trace.SyncFailFalse, trace.SyncFailShutdown})
		tear := rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "tear")
		for _, m := range Models() {
			for _, w := range Order(m) {
				if m == Prefix && tear != 4 {
					continue
				}
				require.NoError(t, contained(t, m, w, s, tear), "%s in %s", m, w)
			}
		}
	})
}

// TestOrderIsFull shows, for each pair that the table leaves out, a history on which the
// first has a state that the second has not.
func TestOrderIsFull(t *testing.T) {
	histories := []*script{
		newScript().create("/a").append("/a", "ab").durable().append("/a", "cdefghij"),
		newScript().create("/a").append("/a", "ab").durable().append("/a", "cd").append("/a", "efghij"),
		newScript().create("/a").append("/a", "x").create("/b"),
		newScript().create("/a").append("/a", "x").sync("/a"),
		newScript().create("/a").append("/a", "old").create("/t").durable().append("/t", "new").rename("/t", "/a"),
		newScript().create("/a").create("/b").durable().append("/a", "x").append("/b", "y"),
		newScript().create("/a").durable().append("/a", "x").append("/a", "y"),
	}
	for _, a := range Models() {
		for _, b := range Models() {
			if a == b || Weaker(a, b) || a == Kill || b == Kill || a == LyingFlush || b == LyingFlush {
				continue
			}
			shown := false
			for _, s := range histories {
				shown = shown || contained(t, a, b, s, 4) != nil
			}
			require.True(t, shown, "%s may be in %s", a, b)
		}
	}
}

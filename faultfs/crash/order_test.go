package crash

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/faultfs/trace"
)

// contained is an error if the narrow model has a state that the wide one has not.
func contained(t *rapid.T, narrow, wide Model, s *script, tear int) error {
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
		s := randomScript(t, 9, append(trace.SyncResults(), trace.SyncOK))
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

// TestOrderIsFull finds, for each pair that the table leaves out, a history that shows why.
func TestOrderIsFull(t *testing.T) {
	known := map[[2]Model]bool{}
	rapid.Check(t, func(t *rapid.T) {
		s := randomScript(t, 9, []trace.SyncResult{trace.SyncOK})
		for _, a := range Models() {
			for _, b := range Models() {
				pair := [2]Model{a, b}
				if a == b || Weaker(a, b) || known[pair] || a == Kill || b == Kill || a == LyingFlush || b == LyingFlush {
					continue
				}
				if contained(t, a, b, s, 4) != nil {
					known[pair] = true
				}
			}
		}
	})
	for _, a := range Models() {
		for _, b := range Models() {
			if a != b && !Weaker(a, b) && a != Kill && b != Kill && a != LyingFlush && b != LyingFlush && !known[[2]Model{a, b}] {
				t.Logf("%s may be in %s", a, b)
			}
		}
	}
}

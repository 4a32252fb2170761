package faultfs_test

import (
	"os"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
)

func TestSweepIsEverywhereOnceAndSticky(t *testing.T) {
	rule, err := faultfs.ParseRule("on any * 1 -> eio")
	require.NoError(t, err)
	var plans []string
	var ends []bool // whether the program got to its end
	n := faultfs.Sweep(rule, func(p faultfs.Plan) *faultfs.FS {
		f := faultfs.New(faultfs.NewMem(nil), faultfs.WithPlan(p))
		plans = append(plans, p.Rules[0].Nth.String())
		ends = append(ends, afero.WriteFile(f, "/a", []byte("x"), 0o600) == nil)
		return f
	})
	require.Equal(t, 3, n, "open, write, close")
	require.Equal(t, []string{"1", "*", "2", "2+", "3", "3+", "4"}, plans)
	require.Equal(t, []bool{false, false, false, false, false, false, true}, ends)

	require.Zero(t, faultfs.Sweep(rule, func(faultfs.Plan) *faultfs.FS { return nil }))
}

// One untouched run tells how far each sweep would go.
func TestCallsOfCountsWhatASweepReaches(t *testing.T) {
	var rules []faultfs.Rule
	for _, text := range []string{"on any ** 1 -> eio", "on write ** 2+ -> full", "on sync ** 1 -> fail-clean", "on syncdir ** 1 -> eio", "on write other 1 -> eio"} {
		rule, err := faultfs.ParseRule(text)
		require.NoError(t, err)
		rules = append(rules, rule)
	}
	work := func(p faultfs.Plan) *faultfs.FS {
		f := faultfs.New(faultfs.NewMem(nil), faultfs.WithPlan(p))
		h, err := f.OpenFile("/log", os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return f
		}
		for range 3 {
			_, _ = h.WriteString("x")
			_ = h.Sync()
		}
		_ = h.Close()
		if d, err := f.Open("/"); err == nil {
			_ = d.Sync()
			_ = d.Close()
		}
		return f
	}
	counts := faultfs.CallsOf(rules, work)
	require.Equal(t, []int{11, 3, 3, 1, 0}, counts)
	for i, rule := range rules {
		require.Equal(t, faultfs.Sweep(rule, work), counts[i], rule)
	}
	require.Nil(t, faultfs.CallsOf(rules, func(faultfs.Plan) *faultfs.FS { return nil }))
}

func TestStruckIsWhereTheFirstFaultWas(t *testing.T) {
	f, _, h := broken(t, "on read log 1 -> eio\non sync log 1 -> eio")
	require.Equal(t, -1, f.Struck())
	_, err := h.WriteString("x")
	require.NoError(t, err)
	at := f.Log().Len()
	_, err = h.Read(make([]byte, 1))
	require.Error(t, err)
	require.Equal(t, at, f.Struck(), "a read leaves no op, and is counted all the same")
	require.Error(t, h.Sync())
	require.Equal(t, at, f.Struck())
}

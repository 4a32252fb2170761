package faultfs_test

import (
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

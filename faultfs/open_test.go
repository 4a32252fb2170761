package faultfs_test

import (
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
)

// An open is one call for rules and the log: what it does to the file says which.
func TestOpensAreCreatesTruncatesOrOpens(t *testing.T) {
	const rw = os.O_RDWR
	for _, c := range []struct {
		name string
		flag int
		call faultfs.Call
		err  error
	}{
		{"/log", os.O_RDONLY, faultfs.CallOpen, nil},
		{"/log", rw | os.O_CREATE, faultfs.CallOpen, nil},
		{"/log", rw | os.O_CREATE | os.O_TRUNC, faultfs.CallTruncate, nil},
		{"/log", rw | os.O_TRUNC, faultfs.CallTruncate, nil},
		{"/log", rw | os.O_TRUNC | os.O_EXCL, faultfs.CallTruncate, nil},
		{"/log", rw | os.O_CREATE | os.O_TRUNC | os.O_EXCL, faultfs.CallOpen, fs.ErrExist},
		{"/empty", rw | os.O_TRUNC, faultfs.CallOpen, nil},
		{"/new", rw | os.O_CREATE | os.O_TRUNC, faultfs.CallCreate, nil},
		{"/new", rw | os.O_CREATE | os.O_EXCL, faultfs.CallCreate, nil},
		{"/new", rw, faultfs.CallOpen, fs.ErrNotExist},
		{"/none/new", rw | os.O_CREATE, faultfs.CallCreate, fs.ErrNotExist},
	} {
		for _, call := range []faultfs.Call{faultfs.CallOpen, faultfs.CallCreate, faultfs.CallTruncate} {
			mem := faultfs.NewMem(scriptDisk(t))
			require.NoError(t, func() error { _, err := mem.Create("/empty"); return err }())
			rule := faultfs.Rule{When: faultfs.After, Call: call, Match: "*", Fault: faultfs.Fault{Kind: faultfs.Kill}}
			f := faultfs.New(mem, faultfs.WithPlan(faultfs.Plan{Rules: []faultfs.Rule{rule}}))
			_, err := f.OpenFile(c.name, c.flag, 0o600)
			require.Equal(t, call == c.call, f.Killed(), "%s %#x is a %s", c.name, c.flag, c.call)
			if call != c.call {
				require.ErrorIs(t, err, c.err)
			}
			recorded := 0
			if c.call != faultfs.CallOpen && c.err == nil {
				recorded = 1
			}
			require.Equal(t, recorded, f.Log().Len(), "%s %#x", c.name, c.flag)
		}
	}
}

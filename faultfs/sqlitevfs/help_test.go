package sqlitevfs_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/sqlitevfs"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// register makes fsys known for the length of a test.
func register(t *testing.T, fsys afero.Fs) *sqlitevfs.VFS {
	t.Helper()
	v := sqlitevfs.Register(fsys)
	t.Cleanup(v.Unregister)
	return v
}

// open opens a database and performs statements on it.
func open(t *testing.T, v *sqlitevfs.VFS, name string, sql ...string) *sqlite3.Conn {
	t.Helper()
	c, err := sqlite3.Open(v.URI(name))
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	for _, s := range sql {
		require.NoError(t, c.Exec(s), s)
	}
	return c
}

// disk is a fresh one, with a layer over it that records.
func disk() *faultfs.FS { return faultfs.New(faultfs.NewMem(image.New())) }

// did is what happened on a disk from op number n on, locks apart: a line for each run of like ops.
func did(fsys *faultfs.FS, n int) []string {
	var out []string
	for _, op := range fsys.Log().Ops()[n:] {
		if op.Kind != trace.Note && op.Kind != trace.Lock && op.Kind != trace.Unlock {
			out = append(out, fmt.Sprintf("%s %s", op.Kind, op.Path))
		}
	}
	return slices.Compact(out)
}

// column is the first column of a query, as text.
func column(c *sqlite3.Conn, query string) (out []string, err error) {
	s, _, err := c.Prepare(query)
	if err != nil {
		return nil, err
	}
	for s.Step() {
		out = append(out, s.ColumnText(0))
	}
	err = s.Err()
	if closed := s.Close(); err == nil {
		err = closed
	}
	return out, err
}

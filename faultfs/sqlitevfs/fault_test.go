package sqlitevfs_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"syscall"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
)

// The names that SQLite has for what a file system says.
func TestFaultsHaveTheirCodes(t *testing.T) {
	for _, c := range []struct {
		rule string
		want error
		os   error
	}{
		{"on write app.db 1 -> enospc 100", sqlite3.FULL, syscall.ENOSPC},
		{"on write app.db-journal 1 -> enospc", sqlite3.FULL, syscall.ENOSPC},
		{"on write app.db * -> full", sqlite3.FULL, syscall.ENOSPC},
		{"on write app.db 1 -> eio", sqlite3.IOERR_WRITE, syscall.EIO},
		{"on write app.db 1 -> short 0 silent", sqlite3.FULL, io.ErrShortWrite},
		{"on sync app.db 1 -> fail-clean", sqlite3.IOERR_FSYNC, syscall.EIO},
		{"on sync app.db-journal 1 -> eio", sqlite3.IOERR_FSYNC, syscall.EIO},
		{"on syncdir * 1 -> eio", sqlite3.IOERR_DIR_FSYNC, syscall.EIO},
		{"on remove app.db-journal 1 -> eio", sqlite3.IOERR_DELETE, syscall.EIO},
		{"on create app.db-journal 1 -> eio", sqlite3.CANTOPEN, syscall.EIO},
		{"on create app.db-journal 1 -> eacces", sqlite3.READONLY_DIRECTORY, syscall.EACCES},
	} {
		plan, err := faultfs.ParsePlan(c.rule)
		require.NoError(t, err)
		mem := faultfs.NewMem(nil)
		require.NoError(t, open(t, register(t, mem), "/app.db", "CREATE TABLE t(a)").Close())
		v := register(t, faultfs.New(mem, faultfs.WithPlan(plan)))
		db := open(t, v, "/app.db", "PRAGMA journal_mode=delete", "PRAGMA synchronous=extra")
		err = db.Exec("INSERT INTO t VALUES(1)")
		require.ErrorIs(t, err, c.want, c.rule)
		require.ErrorIs(t, v.TakeError(), c.os, c.rule)
		require.NoError(t, v.TakeError(), "it was taken")
	}
}

// A write or a read that the file system cuts in the middle, without an error, is continued: the
// program never hears of it.
func TestShortReadsAndWritesAreContinued(t *testing.T) {
	plan, err := faultfs.ParsePlan("on write * 3+ -> short 100 silent\non read * * -> short 70")
	require.NoError(t, err)
	fsys := faultfs.New(faultfs.NewMem(nil), faultfs.WithPlan(plan))
	v := register(t, fsys)
	require.NoError(t, open(t, v, "/app.db", "CREATE TABLE t(a)", "INSERT INTO t VALUES(hex(zeroblob(9000)))").Close())
	assert.Empty(t, fsys.Unused())
	rows, err := column(open(t, v, "/app.db"), "SELECT length(a) || integrity_check FROM t, pragma_integrity_check")
	require.NoError(t, err)
	assert.Equal(t, []string{"18000ok"}, rows)
}

// modes are the settings under which a commit that returned must be there.
func modes() map[string][]string {
	return map[string][]string{
		"delete":   {"PRAGMA journal_mode=delete", "PRAGMA synchronous=extra"},
		"truncate": {"PRAGMA journal_mode=truncate", "PRAGMA synchronous=full"},
		"persist":  {"PRAGMA journal_mode=persist", "PRAGMA synchronous=full"},
		"wal":      {"PRAGMA locking_mode=exclusive", "PRAGMA journal_mode=wal", "PRAGMA synchronous=full"},
	}
}

// Every call fails once, or from then on. SQLite says so and never panics, and the database
// opens cleanly afterwards, with every row whose commit had returned, and no half of one.
func TestFaultsAreErrorsAndTheDatabaseStaysWhole(t *testing.T) {
	rules := []string{"on any * 1 -> eio", "on write * 1 -> enospc 7", "on write * 1 -> full", "on sync * 1 -> fail-false"}
	for name, pragmas := range modes() {
		for _, text := range rules {
			rule, err := faultfs.ParseRule(text)
			require.NoError(t, err)
			if testing.Short() && rule.Fault.Kind != faultfs.EIO {
				continue
			}
			failed := 0
			n := faultfs.Sweep(rule, func(p faultfs.Plan) *faultfs.FS {
				mem := faultfs.NewMem(nil)
				fsys := faultfs.New(mem, faultfs.WithPlan(p))
				acked, tried, err := insertRows(t, fsys, pragmas)
				if err != nil {
					failed++
				}
				fsys.Kill()
				holds(t, mem, acked, tried, fmt.Sprintf("%s, %s", name, p))
				return fsys
			})
			assert.Greater(t, n, 3, "%s, %s: the fault was nearly nowhere", name, text)
			assert.Positive(t, failed, "%s, %s: nobody noticed", name, text)
		}
	}
}

// insertRows does a few transactions of two rows each, and goes on behind errors.
func insertRows(t *testing.T, fsys *faultfs.FS, pragmas []string) (acked []string, tried int, failed error) {
	t.Helper()
	c, err := sqlite3.Open(register(t, fsys).URI("/app.db"))
	if err != nil {
		return nil, 0, err
	}
	defer func() { failed = errors.Join(failed, c.Close()) }()
	for _, s := range append(slices.Clip(pragmas), "CREATE TABLE IF NOT EXISTS t(a)") {
		if err := c.Exec(s); err != nil {
			return nil, 0, err
		}
	}
	for tried = 1; tried <= 3; tried++ {
		err := c.Exec(fmt.Sprintf("BEGIN; INSERT INTO t VALUES('%d.1'); INSERT INTO t VALUES('%d.2'); COMMIT", tried, tried))
		if err != nil {
			failed = errors.Join(failed, err)
			if !c.GetAutocommit() {
				failed = errors.Join(failed, c.Exec("ROLLBACK"))
			}
			continue
		}
		acked = append(acked, fmt.Sprintf("%d.1", tried), fmt.Sprintf("%d.2", tried))
	}
	return acked, tried, failed
}

// holds reopens the database and looks whether it is whole, and every acknowledged row in it.
func holds(t *testing.T, mem *faultfs.Mem, acked []string, tried int, what string) {
	t.Helper()
	c := open(t, register(t, mem), "/app.db", "PRAGMA locking_mode=exclusive")
	defer func() { require.NoError(t, c.Close()) }()
	whole, err := column(c, "PRAGMA integrity_check")
	require.NoError(t, err, what)
	require.Equal(t, []string{"ok"}, whole, what)
	rows, err := column(c, "SELECT a FROM t")
	if len(acked) > 0 || err == nil {
		require.NoError(t, err, what)
	}
	for _, a := range acked {
		require.Contains(t, rows, a, what)
	}
	for n := 1; n <= tried; n++ {
		one, two := slices.Contains(rows, fmt.Sprintf("%d.1", n)), slices.Contains(rows, fmt.Sprintf("%d.2", n))
		require.Equal(t, one, two, "%s: half of transaction %d is there: %q", what, n, rows)
	}
	require.Len(t, slices.Compact(slices.Clone(rows)), len(rows), what)
}

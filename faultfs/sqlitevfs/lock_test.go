package sqlitevfs_test

import (
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
)

// The connections of one VFS read together, and one of them writes when no one else reads.
func TestReadersAndOneWriterInOneProcess(t *testing.T) {
	v := register(t, disk())
	a := open(t, v, "/app.db", "PRAGMA journal_mode=delete", "CREATE TABLE t(a)", "INSERT INTO t VALUES(1)")
	b := open(t, v, "/app.db")
	c := open(t, v, "/app.db")
	reads := func(c *sqlite3.Conn) error {
		_, err := column(c, "SELECT a FROM t")
		return err
	}

	require.NoError(t, a.Exec("BEGIN"))
	require.NoError(t, reads(a)) // SHARED, and kept
	require.NoError(t, b.Exec("BEGIN IMMEDIATE"))
	require.NoError(t, reads(c), "a reader comes in beside RESERVED")
	require.ErrorIs(t, c.Exec("BEGIN IMMEDIATE"), sqlite3.BUSY, "there is one RESERVED")
	require.NoError(t, b.Exec("INSERT INTO t VALUES(2)"))
	require.ErrorIs(t, b.Exec("COMMIT"), sqlite3.BUSY, "a reader is still there")
	require.ErrorIs(t, reads(c), sqlite3.BUSY, "PENDING lets no new reader in")
	require.NoError(t, reads(a), "and the old one go on")
	require.NoError(t, a.Exec("COMMIT"))
	require.NoError(t, b.Exec("COMMIT"), "EXCLUSIVE, now that nobody reads")
	require.NoError(t, reads(c))
	require.NoError(t, c.Exec("INSERT INTO t VALUES(3)"))
	require.NoError(t, reads(a))
}

// A transaction that is given up gives its locks up.
func TestLocksGoWithTheirConnection(t *testing.T) {
	v := register(t, disk())
	a := open(t, v, "/app.db", "PRAGMA journal_mode=delete", "CREATE TABLE t(a)", "BEGIN EXCLUSIVE", "INSERT INTO t VALUES(1)")
	b := open(t, v, "/app.db")
	require.ErrorIs(t, b.Exec("BEGIN IMMEDIATE"), sqlite3.BUSY)
	require.NoError(t, a.Close())
	rows, err := column(b, "SELECT a FROM t")
	require.NoError(t, err)
	assert.Empty(t, rows, "it was not committed")
	require.NoError(t, b.Exec("BEGIN IMMEDIATE"))
}

// Another process, here a second VFS, is kept out as long as anybody in this one holds a lock,
// also when the connection that came first has gone.
func TestOtherProcessesAreKeptOut(t *testing.T) {
	fsys := disk()
	v, other := register(t, fsys), register(t, fsys)
	a := open(t, v, "/app.db", "PRAGMA journal_mode=delete", "CREATE TABLE t(a)")
	b := open(t, v, "/app.db")
	x := open(t, other, "/app.db")
	reads := func(c *sqlite3.Conn) error {
		_, err := column(c, "SELECT a FROM t")
		return err
	}
	require.NoError(t, a.Exec("BEGIN"))
	require.NoError(t, reads(a))
	require.NoError(t, b.Exec("BEGIN"))
	require.NoError(t, reads(b))
	require.ErrorIs(t, reads(x), sqlite3.BUSY)
	require.NoError(t, a.Close())
	require.ErrorIs(t, reads(x), sqlite3.BUSY, "b still reads")
	require.NoError(t, b.Exec("COMMIT"))
	require.NoError(t, reads(x))
	require.NoError(t, x.Exec("BEGIN IMMEDIATE"))
	require.ErrorIs(t, reads(b), sqlite3.BUSY)
	require.NoError(t, x.Close())
	require.NoError(t, reads(b))
}

// A process that was killed holds no locks, and its half transaction is rolled back.
func TestTheKilledHoldNoLocks(t *testing.T) {
	mem := faultfs.NewMem(nil)
	killed := faultfs.New(mem)
	a := open(t, register(t, killed), "/app.db", "PRAGMA journal_mode=delete", "CREATE TABLE t(a)", "INSERT INTO t VALUES(1)",
		"PRAGMA cache_size=2", "BEGIN EXCLUSIVE", "UPDATE t SET a=zeroblob(30000)")
	killed.Kill()
	require.Error(t, a.Exec("COMMIT"))
	rows, err := column(open(t, register(t, faultfs.New(mem)), "/app.db"), "SELECT a FROM t")
	require.NoError(t, err)
	assert.Equal(t, []string{"1"}, rows)
}

// A file system without locks is used as it is: who registers it sees to it that nobody else
// writes.
func TestFileSystemsWithoutLocks(t *testing.T) {
	v := register(t, afero.NewBasePathFs(afero.NewOsFs(), t.TempDir()))
	a := open(t, v, "/app.db", "PRAGMA journal_mode=delete", "CREATE TABLE t(a)", "BEGIN IMMEDIATE")
	b := open(t, v, "/app.db")
	require.ErrorIs(t, b.Exec("BEGIN IMMEDIATE"), sqlite3.BUSY, "in one process the locks hold all the same")
	require.NoError(t, a.Exec("COMMIT"))
	require.NoError(t, b.Exec("BEGIN IMMEDIATE"))
}

// A lock that cannot be asked for is an error, not "busy", which would be waited for.
func TestALockThatFailsIsNotBusy(t *testing.T) {
	plan, err := faultfs.ParsePlan("on lock app.db 1 -> eio")
	require.NoError(t, err)
	c := open(t, register(t, faultfs.New(faultfs.NewMem(nil), faultfs.WithPlan(plan))), "/app.db")
	require.ErrorIs(t, c.Exec("CREATE TABLE t(a)"), sqlite3.IOERR_LOCK)
	require.NoError(t, c.Exec("CREATE TABLE t(a)"))
}

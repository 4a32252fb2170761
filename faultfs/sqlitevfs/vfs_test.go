package sqlitevfs_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
)

// What each mode writes and syncs, in which order, for one committed row. The order is what every
// crash state follows from.
func TestCommitsWriteAndSyncInOrder(t *testing.T) {
	// The pages as they were, then their number, then the pages as they are.
	rollback := func(before, after string) []string {
		all := before + "write J, sync J, " + after + "write J, sync J, write D, sync D"
		return strings.Split(all, ", ")
	}
	for name, mode := range map[string]struct {
		pragmas string
		want    []string
	}{
		"delete, full":   {"journal_mode=delete; synchronous=full", append(rollback("create J, ", "syncdir /, "), "remove J")},
		"delete, extra":  {"journal_mode=delete; synchronous=extra", append(rollback("create J, ", "syncdir /, "), "remove J", "syncdir /")},
		"truncate, full": {"journal_mode=truncate; synchronous=full", append(rollback("", "syncdir /, "), "truncate J", "sync J")},
		"persist, full":  {"journal_mode=persist; synchronous=full", append(rollback("", "syncdir /, "), "write J", "sync J")},
		"wal, full":      {"locking_mode=exclusive; journal_mode=wal; synchronous=full", []string{"write W", "sync W"}},
		"wal, normal":    {"locking_mode=exclusive; journal_mode=wal; synchronous=normal", []string{"write W"}},
		"delete, off":    {"journal_mode=delete; synchronous=off", []string{"create J", "write J", "write D", "remove J"}},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := disk()
			c := open(t, register(t, fsys), "/app.db")
			for p := range strings.SplitSeq(mode.pragmas, "; ") {
				require.NoError(t, c.Exec("PRAGMA "+strings.TrimPrefix(p, "PRAGMA ")))
			}
			require.NoError(t, c.Exec("CREATE TABLE r(n INTEGER PRIMARY KEY, v)"))
			require.NoError(t, c.Exec("INSERT INTO r(v) VALUES('first')"))
			before := fsys.Log().Len()
			require.NoError(t, c.Exec("INSERT INTO r(v) VALUES('second')"))
			names := strings.NewReplacer("/app.db-journal", "J", "/app.db-wal", "W", "/app.db", "D")
			got := did(fsys, before)
			for i := range got {
				got[i] = names.Replace(got[i])
			}
			assert.Equal(t, mode.want, got)
			require.NoError(t, c.Close())

			again := open(t, register(t, fsys), "/app.db", "PRAGMA locking_mode=exclusive")
			rows, err := column(again, "SELECT v FROM r ORDER BY n")
			require.NoError(t, err)
			assert.Equal(t, []string{"first", "second"}, rows)
		})
	}
}

func TestPathsWithOddLettersAreFound(t *testing.T) {
	fsys := disk()
	require.NoError(t, fsys.MkdirAll("/a b/ü?#%", 0o700))
	v := register(t, fsys)
	name := "/a b/ü?#%/x&y=1.db"
	require.NoError(t, open(t, v, name, "CREATE TABLE t(a)").Close())
	info, err := fsys.Stat(name)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	rows, err := column(open(t, v, "/a b/./ü?#%/../ü?#%/x&y=1.db"), "SELECT name FROM sqlite_schema")
	require.NoError(t, err)
	assert.Equal(t, []string{"t"}, rows)
}

func TestOpeningSaysWhatIsWrong(t *testing.T) {
	fsys := disk()
	v := register(t, fsys)
	require.NoError(t, fsys.Mkdir("/folder", 0o700))
	require.NoError(t, afero.WriteFile(fsys, "/text", []byte(strings.Repeat("no database ", 100)), 0o600))
	for name, want := range map[string]error{
		"/folder":      sqlite3.CANTOPEN_ISDIR,
		"/nowhere/app": sqlite3.CANTOPEN,
		"/text":        sqlite3.NOTADB,
	} {
		c, err := sqlite3.Open(v.URI(name))
		if err == nil {
			err = c.Exec("CREATE TABLE t(a)")
			_ = c.Close()
		}
		require.ErrorIs(t, err, want, name)
	}
	_, err := sqlite3.OpenFlags(v.URI("/absent"), sqlite3.OPEN_READWRITE|sqlite3.OPEN_URI)
	require.ErrorIs(t, err, sqlite3.CANTOPEN)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = sqlite3.Open("file:/app.db?vfs=afero-none")
	require.Error(t, err, "a VFS that is not registered")
}

// A database that may not be written is read, and says why it is not written.
func TestReadOnlyDatabases(t *testing.T) {
	fsys := disk()
	v := register(t, fsys)
	require.NoError(t, open(t, v, "/app.db", "CREATE TABLE t(a)", "INSERT INTO t VALUES(7)").Close())
	deny, err := faultfs.ParsePlan("on open app.db * -> eacces")
	require.NoError(t, err)
	c := open(t, register(t, opener{fsys, faultfs.New(fsys, faultfs.WithPlan(deny))}), "/app.db")
	rows, err := column(c, "SELECT a FROM t")
	require.NoError(t, err)
	assert.Equal(t, []string{"7"}, rows)
	require.ErrorIs(t, c.Exec("INSERT INTO t VALUES(8)"), sqlite3.READONLY)
}

// opener is a file system that lets nobody write: such opens go to denied.
type opener struct {
	afero.Fs
	denied afero.Fs
}

func (o opener) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	if flag&(os.O_RDWR|os.O_WRONLY) != 0 {
		return o.denied.OpenFile(name, flag, perm)
	}
	return o.Fs.OpenFile(name, flag, perm)
}

// A database whose file was replaced under its handle is not written any more: its journal
// would roll back the wrong file.
func TestAReplacedDatabaseIsNotWritten(t *testing.T) {
	fsys := disk()
	c := open(t, register(t, fsys), "/app.db", "PRAGMA journal_mode=delete", "CREATE TABLE t(a)")
	require.NoError(t, fsys.Rename("/app.db", "/moved.db"))
	require.ErrorIs(t, c.Exec("INSERT INTO t VALUES(1)"), sqlite3.READONLY_DBMOVED)
	require.NoError(t, afero.WriteFile(fsys, "/app.db", nil, 0o600))
	require.ErrorIs(t, c.Exec("INSERT INTO t VALUES(1)"), sqlite3.READONLY_DBMOVED)
	require.NoError(t, fsys.Rename("/moved.db", "/app.db"))
	require.NoError(t, c.Exec("INSERT INTO t VALUES(1)"))
}

// Without the claim that overwriting is safe, SQLite journals whole sectors.
func TestPowersafeOverwriteCanBeTakenBack(t *testing.T) {
	for uri, want := range map[string]bool{"": true, "&psow=0": false, "&psow=1": true} {
		v := register(t, disk())
		c, err := sqlite3.Open(v.URI("/app.db") + uri)
		require.NoError(t, err)
		got, err := c.FileControl("main", sqlite3.FCNTL_POWERSAFE_OVERWRITE)
		require.NoError(t, err)
		assert.Equal(t, want, got, uri)
		require.NoError(t, c.Close())
	}
}

// Sorters and temporary tables that grow out of their memory leave nothing on the disk.
func TestTemporaryFilesAreNoFiles(t *testing.T) {
	fsys := disk()
	c := open(t, register(t, fsys), "/app.db", "PRAGMA temp_store=file", "PRAGMA cache_size=10",
		"CREATE TEMP TABLE big AS SELECT value v, randomblob(900) b FROM generate_series(1, 400)",
		"CREATE INDEX temp.i ON big(b)", "BEGIN", "CREATE TABLE t(a)", "SAVEPOINT s",
		"INSERT INTO t SELECT b FROM big ORDER BY b", "ROLLBACK TO s", "COMMIT")
	rows, err := column(c, "SELECT count(*) FROM big")
	require.NoError(t, err)
	assert.Equal(t, []string{"400"}, rows)
	for _, s := range did(fsys, 0) {
		assert.Regexp(t, `^\w+ /(app\.db(-journal)?)?$`, s)
	}
}

func TestURIsNameTheirVFS(t *testing.T) {
	a, b := register(t, disk()), register(t, disk())
	assert.NotEqual(t, a.Name(), b.Name())
	assert.Equal(t, "file:/app.db?vfs="+a.Name(), a.URI("/app.db"))
	require.NoError(t, open(t, a, "/app.db", "CREATE TABLE t(a)").Close())
	rows, err := column(open(t, b, "/app.db"), "SELECT name FROM sqlite_schema")
	require.NoError(t, err)
	assert.Empty(t, rows, "each VFS has its own files")
}

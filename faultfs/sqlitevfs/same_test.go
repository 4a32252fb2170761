package sqlitevfs_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/faultfs/sqlitevfs"
)

// The same statements on this VFS and on the library's own, on real files, give the same errors,
// the same rows, and in the end the same bytes of the database.
func TestSameAsTheOrdinaryVFS(t *testing.T) {
	for _, mode := range []string{"delete", "truncate", "persist", "wal"} {
		t.Run(mode, func(t *testing.T) {
			folder := t.TempDir()
			round := 0
			rapid.Check(t, func(t *rapid.T) {
				round++
				file := filepath.Join(folder, fmt.Sprintf("%d.db", round))
				fsys := disk()
				v := sqlitevfs.Register(fsys)
				defer v.Unregister()
				pair := pair{mode, v.URI("/app.db"), "file:" + filepath.ToSlash(file), nil, nil}
				pair.open(t)
				script := rapid.SliceOfN(statement(), 1, 12).Draw(t, "script")
				for _, s := range script {
					if s == "REOPEN" {
						pair.reopen(t)
						continue
					}
					pair.exec(t, s)
					pair.sameRows(t)
				}
				pair.close(t)
				want, err := os.ReadFile(file)
				require.NoError(t, err)
				got, err := afero.ReadFile(fsys, "/app.db")
				require.NoError(t, err)
				require.Equal(t, sha256.Sum256(want), sha256.Sum256(got), "the databases differ: %d bytes, %d bytes", len(want), len(got))
			})
		})
	}
}

// statement draws one statement of SQL.
func statement() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		id := rapid.IntRange(1, 12).Draw(t, "id")
		size := rapid.SampledFrom([]int{0, 1, 40, 900, 5000, 20_000}).Draw(t, "size")
		return rapid.SampledFrom([]string{
			fmt.Sprintf("INSERT INTO t VALUES(%d, hex(zeroblob(%d)))", id, size),
			fmt.Sprintf("INSERT OR REPLACE INTO t VALUES(%d, zeroblob(%d))", id, size),
			fmt.Sprintf("UPDATE t SET v=zeroblob(%d) WHERE id<=%d", size, id),
			fmt.Sprintf("UPDATE OR ABORT t SET id=%d WHERE id>=%d", id, id-1),
			fmt.Sprintf("DELETE FROM t WHERE id=%d", id),
			"BEGIN", "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK", "SAVEPOINT s", "ROLLBACK TO s", "RELEASE s",
			"CREATE INDEX IF NOT EXISTS i ON t(v)", "DROP INDEX IF EXISTS i", "VACUUM", "REOPEN", "PRAGMA cache_size=2",
			"PRAGMA wal_checkpoint", "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA integrity_check", "nonsense",
		}).Draw(t, "sql")
	})
}

// pair is a database here and its like on real files.
type pair struct {
	mode, uri, like string
	here, there     *sqlite3.Conn
}

func (p *pair) open(t require.TestingT) {
	var err error
	p.here, err = sqlite3.Open(p.uri)
	require.NoError(t, err)
	p.there, err = sqlite3.Open(p.like)
	require.NoError(t, err)
	require.NoError(t, p.there.Exec("PRAGMA synchronous=off")) // real disks are slow, and the bytes do not depend on it
	for _, s := range []string{"PRAGMA locking_mode=exclusive", "PRAGMA journal_mode=" + p.mode, "CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, v)"} {
		if p.mode != "wal" {
			s = strings.ReplaceAll(s, "exclusive", "normal")
		}
		p.exec(t, s)
	}
}

func (p *pair) exec(t require.TestingT, sql string) {
	got, want := p.here.Exec(sql), p.there.Exec(sql)
	require.Equal(t, fmt.Sprint(want), fmt.Sprint(got), sql)
	require.Equal(t, p.there.GetAutocommit(), p.here.GetAutocommit(), sql)
}

func (p *pair) sameRows(t require.TestingT) {
	const dump = "SELECT id || ':' || typeof(v) || ':' || length(v) || ':' || quote(substr(v, 1, 9)) FROM t ORDER BY id"
	got, err := column(p.here, dump)
	require.NoError(t, err)
	want, err := column(p.there, dump)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func (p *pair) close(t require.TestingT) {
	require.NoError(t, errors.Join(p.here.Close(), p.there.Close()))
}

func (p *pair) reopen(t require.TestingT) {
	p.close(t)
	p.open(t)
}

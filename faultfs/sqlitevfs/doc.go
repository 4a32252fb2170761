// Package sqlitevfs lets SQLite work on any [afero.Fs]: its databases, rollback journals and
// write-ahead logs are files of that file system, and every write, truncate, remove and sync of
// SQLite is a call of it. Over package faultfs SQLite is thus recorded, broken and crashed like
// any other journal.
//
//	disk := faultfs.New(faultfs.NewMem(image.New()))
//	v := sqlitevfs.Register(disk)
//	defer v.Unregister()
//	db, err := sqlite3.Open(v.URI("/data/app.db"))
//
// # What SQLite asks for, and what it gets
//
// The calls are those of https://sqlite.org/c3ref/io_methods.html and
// https://sqlite.org/c3ref/vfs.html, performed as SQLite's own VFS for unix performs them:
//
//   - A sync, whatever its flags (SQLITE_SYNC_NORMAL, _FULL, _DATAONLY), is one Sync of the file.
//     The first sync of a rollback journal, super-journal or write-ahead log that was opened with
//     SQLITE_OPEN_CREATE also syncs its folder: a journal that is not found after a crash cannot
//     roll back. The folders above it are the application's to sync.
//   - A delete with syncDir syncs the folder behind the removal. SQLite asks for that with
//     PRAGMA synchronous=EXTRA only, see https://sqlite.org/pragma.html#pragma_synchronous.
//   - A read that ends early is filled with zeros and is SQLITE_IOERR_SHORT_READ. Short reads and
//     writes in the middle of a file are continued, as read(2) and write(2) must be.
//   - ENOSPC and EDQUOT are SQLITE_FULL; a folder in a file's place is SQLITE_CANTOPEN_ISDIR;
//     everything else is the SQLITE_IOERR_ code of the call, with the file system's error in it,
//     for errors.Is. What SQLite forgets of it, [VFS.TakeError] still knows.
//   - A database is opened for reading where it may not be written.
//   - SQLITE_IOCAP_POWERSAFE_OVERWRITE is claimed, as by the VFS for unix: a write that is cut by a
//     power failure harms no byte outside its range. Every persistence model of package crash
//     keeps that. "psow=0" in the URI takes the claim back (https://sqlite.org/psow.html).
//   - There is no shared memory. A write-ahead log needs PRAGMA locking_mode=EXCLUSIVE before its
//     first use, see https://sqlite.org/wal.html#noshm.
//   - Temporary files (sorters, statement journals, temporary tables) stay in memory: nothing of
//     them is promised to survive anything.
//
// # Locks
//
// Between the connections of one registered VFS the five lock states of
// https://sqlite.org/lockingv3.html hold: many readers, one writer, a pending writer that lets
// no new reader in. Towards everybody else (another process, another VFS on the same files) there
// is one exclusive lock, taken through the file's TryLock, if it has one, as long as any
// connection holds any lock: reading keeps others out too, as under SQLite's own VFS
// "unix-flock". So a file system is registered once in a process. Nothing waits: a lock that
// cannot be had at once is SQLITE_BUSY.
package sqlitevfs

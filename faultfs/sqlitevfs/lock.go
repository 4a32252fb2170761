package sqlitevfs

import (
	"errors"
	"sync"
	"syscall"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// locks are the locks on the databases of a VFS, by path.
type locks struct {
	mu sync.Mutex
	of map[string]*lock
}

// lock is the state of one database among the connections of this VFS. While anybody holds any of
// it, outer keeps everybody else out.
type lock struct {
	shared   int   // connections that hold SHARED or more
	reserved *file // who is going to write
	pending  *file // who waits for the readers to go; nobody new may read
	outer    *file // on whose handle that lock is: the connection's that came first
	orphan   bool  // SQLite has closed it, and its handle lives on for the lock's sake
}

// locker is what a file offers that can be locked against other processes.
type locker interface {
	TryLock() error
	Unlock() error
}

// Lock takes a higher lock, or says SQLITE_BUSY at once.
func (f *file) Lock(want vfs.LockLevel) error {
	if f.held >= want {
		return nil
	}
	if f.readOnly && want >= vfs.LOCK_RESERVED {
		return sqlite3.IOERR_LOCK
	}
	t := &f.vfs.locks
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.of[f.name]
	if l == nil {
		l = &lock{}
	}
	switch want {
	case vfs.LOCK_SHARED:
		if l.pending != nil {
			return sqlite3.BUSY
		}
		if err := f.lockOuter(l); err != nil {
			return err
		}
		l.shared++
	case vfs.LOCK_RESERVED:
		if l.reserved != nil {
			return sqlite3.BUSY
		}
		l.reserved = f
	default: // EXCLUSIVE
		if l.reserved != nil && l.reserved != f || l.pending != nil && l.pending != f {
			return sqlite3.BUSY
		}
		l.pending, f.held = f, vfs.LOCK_PENDING // kept when the readers are still there, so that they run out
		if l.shared > 1 {
			return sqlite3.BUSY
		}
	}
	if t.of == nil {
		t.of = map[string]*lock{}
	}
	t.of[f.name], f.held = l, want
	return nil
}

// lockOuter keeps other processes out, when the first connection of this one comes in.
func (f *file) lockOuter(l *lock) error {
	outer, ok := f.base.(locker)
	if !ok || l.shared > 0 {
		return nil
	}
	err := outer.TryLock()
	switch {
	case err == nil:
		l.outer = f
		return nil
	case errors.Is(err, errors.ErrUnsupported):
		return nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		return vfs.SystemError(err, sqlite3.BUSY)
	}
	return f.vfs.fail(err, sqlite3.IOERR_LOCK)
}

// unlockOuter lets others in, when the last connection of this process has gone out.
func (l *lock) unlockOuter() error {
	if l.outer == nil {
		return nil
	}
	err := l.outer.base.(locker).Unlock()
	if l.orphan {
		err = errors.Join(err, l.outer.base.Close())
	}
	return l.outer.vfs.fail(err, sqlite3.IOERR_UNLOCK)
}

// closeBase closes the handle, unless the lock of connections that go on hangs on it.
func (f *file) closeBase() error {
	t := &f.vfs.locks
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.of[f.name]; l != nil && l.outer == f {
		l.orphan = true
		return nil
	}
	return f.base.Close()
}

// Unlock goes down to SHARED or NONE.
func (f *file) Unlock(want vfs.LockLevel) error {
	if f.held <= want {
		return nil
	}
	t := &f.vfs.locks
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.of[f.name]
	if l.reserved == f {
		l.reserved = nil
	}
	if l.pending == f {
		l.pending = nil
	}
	f.held = want
	if want != vfs.LOCK_NONE {
		return nil
	}
	if l.shared--; l.shared > 0 {
		return nil
	}
	delete(t.of, f.name)
	return l.unlockOuter()
}

// CheckReservedLock says whether any connection is going to write. Nobody outside can be: whoever
// asks holds the outer lock.
func (f *file) CheckReservedLock() (bool, error) {
	t := &f.vfs.locks
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.of[f.name]
	return l != nil && l.reserved != nil, nil
}

// LockState is the lock that this connection holds.
func (f *file) LockState() vfs.LockLevel { return f.held }

package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/spf13/afero"
)

// Journal is a log that is open for writing. Its methods may be called from several goroutines;
// appends that wait at the same time share one sync.
type Journal struct {
	fsys    afero.Fs
	path    string
	opt     Options
	session string
	rec     *Recovery
	first   afero.File // segment 1, which has the lock

	mu     sync.Mutex
	next   *group // taken, and not yet begun to be written
	check  checker
	closed bool
	poison error

	turn    chan struct{} // held by the one who writes; what follows is theirs
	file    afero.File    // the newest segment
	name    string        // its path
	number  int
	base    int64 // its first byte, from the start of segment 1
	size    int64 // its bytes, all of them on disk
	lines   int   // in it
	seq     int64
	prev    uint32
	vouched bool // the last line is a checkpoint, or there is no line
	out     []byte

	acked atomic.Int64 // sequence of the last line that is on disk
}

// Open opens a journal for writing: it takes the lock, verifies every line, keeps the bytes of
// a torn tail in a sidecar, cuts the tail, and syncs file and folders. If it fails before the
// cut, no byte and no name has changed. The errors are those of [Recover], and [*LockedError],
// [*UnsupportedError] and what the file system said.
func Open(fsys afero.Fs, path string, opt Options) (*Journal, error) {
	if err := errors.Join(opt.fill(), opt.root(path)); err != nil {
		return nil, err
	}
	j := &Journal{fsys: fsys, path: path, opt: opt, turn: make(chan struct{}, 1)}
	dir := filepath.Dir(path)
	top := dir
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) {
		f, top, err = j.create(err)
	}
	if err != nil {
		return nil, err
	}
	j.first, j.file = f, f
	if err = lock(f, path, &j.opt); err == nil {
		err = j.load(top)
	}
	if err != nil {
		return nil, errors.Join(err, j.closeFiles())
	}
	return j, nil
}

// create makes an absent journal, if that is what was asked for. absent is the error that said
// so.
func (j *Journal) create(absent error) (f afero.File, top string, err error) {
	_, err = countSegments(j.fsys, j.path)
	switch {
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return nil, "", errors.Join(err, errIf(err == nil, absent))
	case !j.opt.Create:
		return nil, "", absent
	}
	if err := j.nameSession(); err != nil {
		return nil, "", err
	}
	if name := stem(j.path); segmentSuffix(name) {
		return nil, "", fmt.Errorf("journal: %s: a new session cannot be called %q: the file would be taken for a later segment of another one", j.path, name)
	}
	dir := filepath.Dir(j.path)
	if top, err = makeFolders(j.fsys, dir); err != nil {
		return nil, "", err
	}
	if f, err = createFile(j.fsys, j.path); errors.Is(err, fs.ErrExist) {
		f, err = j.fsys.OpenFile(j.path, os.O_RDWR|os.O_APPEND, 0) // another writer was faster
	}
	return f, top, err
}

// nameSession gives an empty log the name of its file.
func (j *Journal) nameSession() error {
	if j.session = j.opt.Session; j.session == "" {
		j.session = stem(j.path)
	}
	if j.session == "" || !plainText([]byte(j.session)) {
		return fmt.Errorf("journal: %s: the file's name cannot be a session's (quotes, backslashes, control characters): set Session", j.path)
	}
	return nil
}

// load verifies the log, repairs its end, and makes all of it durable.
func (j *Journal) load(top string) error {
	n, err := countSegments(j.fsys, j.path)
	if err != nil {
		return err
	}
	s := newScan(j.path, &j.opt, nil)
	s.rec.Segments = n
	for k := 1; k <= n; k++ {
		if k > 1 {
			if err := j.openSegment(k); err != nil {
				return err
			}
		}
		if err := s.segment(j.file, k); err != nil {
			return err
		}
	}
	j.rec = s.done()
	j.name, j.number, j.base, j.size = s.path, n, s.base, s.end-s.base
	j.lines, j.seq, j.prev = s.lines, s.seq, s.prev
	j.vouched = s.vouched == s.end || s.end == 0
	j.acked.Store(s.seq)
	if j.session = s.session; j.session == "" {
		if err := j.nameSession(); err != nil {
			return err
		}
	}
	if !plainText([]byte(j.session)) {
		return fmt.Errorf("journal: %s: another writer's session %q needs escapes, and lines of this format have none there: it can be read, but not appended to", j.path, j.session)
	}
	if err := repair(j.fsys, j.file, j.rec.Tail, &j.opt); err != nil {
		return err
	}
	if err := rewrite(j.fsys, j.name, max(j.rec.Durable-j.base, 0), j.size); err != nil {
		return fmt.Errorf("journal: %s: writing again what nothing vouches for: %w", j.name, err)
	}
	if t := j.rec.Tail; t != nil && t.Kind == TailComplete {
		j.size++
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("journal: syncing %s: %w", j.name, err)
	}
	if err := syncNames(j.fsys, filepath.Dir(j.path), top, &j.opt); err != nil {
		return err
	}
	return j.still(j.size)
}

// openSegment goes on to the file of segment k.
func (j *Journal) openSegment(k int) error {
	f, err := j.fsys.OpenFile(segmentPath(j.path, k), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	return j.follow(f)
}

// follow makes f the file that is written to. The first one stays open: it has the lock.
func (j *Journal) follow(f afero.File) error {
	old := j.file
	j.file = f
	if old == j.first {
		return nil
	}
	return old.Close()
}

// Recovered is what Open found, and what is in front of everything appended since.
func (j *Journal) Recovered() *Recovery { return j.rec }

// Session is the session of the log.
func (j *Journal) Session() string { return j.session }

// Append adds events: one write, and one sync, after which it returns. Nil means that all of
// them are on disk, with every name that leads to them. Events of one call stand together, in
// their order; after a crash in the call, any prefix of them may be there. An error means that
// they are not acknowledged: after [ErrEvent] and [*TooLargeError] nothing was written, after a
// [*PoisonedError] they may or may not be there when the journal is opened again, and after
// other errors they were taken back. The events are the caller's again when Append has begun.
func (j *Journal) Append(events ...Event) error {
	_, err := j.AppendAt(events...)
	return err
}

// AppendAt is Append, and gives the sequence of the first event.
func (j *Journal) AppendAt(events ...Event) (sequence int64, err error) {
	if len(events) == 0 {
		return 0, nil
	}
	g, at, err := j.take(events)
	if err != nil {
		return 0, err
	}
	if err := j.commit(g); err != nil {
		return 0, err
	}
	return g.first + int64(at), nil
}

// Sync waits for the appends that are on their way. There is nothing else to do: what Append
// acknowledged is on disk.
func (j *Journal) Sync() error {
	j.mu.Lock()
	g, err := j.next, j.usable()
	j.mu.Unlock()
	if err != nil {
		return err
	}
	if g != nil {
		return j.commit(g)
	}
	j.turn <- struct{}{}
	defer func() { <-j.turn }()
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.usable()
}

// Checkpoint writes a line that vouches for everything acknowledged so far, if the last line
// does not do so already: damage to it is then told from a crash, whatever comes.
func (j *Journal) Checkpoint() error {
	j.turn <- struct{}{}
	defer func() { <-j.turn }()
	j.mu.Lock()
	err := j.usable()
	j.mu.Unlock()
	if err != nil || j.vouched {
		return err
	}
	return j.checkpoint()
}

// Close writes a checkpoint if something was appended since the last one, and lets lock and
// files go. A poisoned journal writes nothing more. Appends that have begun are waited for;
// later ones, and a second Close, are [ErrClosed].
func (j *Journal) Close() error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return ErrClosed
	}
	j.closed = true
	g := j.next
	j.mu.Unlock()
	if g != nil {
		_ = j.commit(g) // its callers are told
	}
	j.turn <- struct{}{}
	defer func() { <-j.turn }() // who comes later finds the journal closed
	var err error
	if j.poison == nil && !j.vouched {
		err = j.checkpoint()
	}
	return errors.Join(err, j.closeFiles())
}

func (j *Journal) closeFiles() error {
	var err error
	if j.file != j.first {
		err = j.file.Close()
	}
	return errors.Join(err, j.first.Close())
}

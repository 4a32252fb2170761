package broken

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"syscall"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/scenarios/target"
)

// mistake is the name of the bug that a journal has; empty is none.
type mistake string

// form is how a journal writes a line, and reads its file back: the records, where the accepted
// lines end, and how many bytes there are.
type form struct {
	line func(m mistake, seq int, at int64, record []byte) []byte
	load func(m mistake, fsys afero.Fs, path string) (records [][]byte, good, size int64, err error)
}

// appending is a journal that appends lines of a form to one file.
func appending(f form, bug string) target.Subject {
	m := mistake(bug)
	return target.Subject{
		Open:    func(fsys afero.Fs, name string) (target.Journal, error) { return f.open(m, fsys, name) },
		Recover: func(fsys afero.Fs, name string) (target.Recovered, error) { return f.recover(m, fsys, name) },
	}
}

// journal is an open line journal for one writer.
type journal struct {
	mistake
	form form
	fsys afero.Fs
	name string
	file afero.File
	seq  int
	size int64 // of the file, as far as this journal knows
	owed bool  // EarlyAck: a sync; LateNewline: a newline
	own  bool  // LockFile: the lock file is this journal's
	bad  error // a write or a sync that failed: nothing is acknowledged any more
}

func (f form) open(m mistake, fsys afero.Fs, name string) (target.Journal, error) {
	if err := fsys.MkdirAll(path.Dir(name), 0o700); err != nil {
		return nil, err
	}
	file, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{mistake: m, form: f, fsys: fsys, name: name, file: file}
	if err := j.begin(); err != nil {
		return nil, errors.Join(err, j.unlock(), file.Close())
	}
	return j, nil
}

// begin takes the lock before it reads: what stands in the file then is nobody else's.
func (j *journal) begin() error {
	if err := j.lock(); err != nil {
		return err
	}
	records, good, size, err := j.form.load(j.mistake, j.fsys, j.name)
	if err != nil {
		return err
	}
	if last := len(records); j.mistake == NotIdempotent && size > good && last > 0 {
		good -= int64(len(lineOf(j.mistake, last, 0, records[last-1])))
		records = records[:last-1]
	}
	if j.seq = len(records); j.mistake == SequenceReused && j.seq > 0 {
		j.seq--
	}
	if err := j.repair(j.fsys, j.name, good, size); err != nil {
		return err
	}
	if j.size = good; j.mistake == GluedTail {
		j.size = size
	}
	return j.still()
}

// lock takes the writer's lock of a file that has one. It goes with the process.
func (j *journal) lock() error {
	switch j.mistake {
	case SecondOpener:
		return nil
	case LockFile:
		f, err := j.fsys.OpenFile(j.name+".lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		j.own = true
		return f.Close()
	}
	l, ok := j.file.(interface{ TryLock() error })
	if !ok {
		return nil // a file system without locks: its users see to it that there is one writer
	}
	return l.TryLock()
}

// unlock removes the lock file of LockFile. A true lock goes with its handle.
func (j *journal) unlock() error {
	if !j.own {
		return nil
	}
	return j.fsys.Remove(j.name + ".lock")
}

// still makes sure that the open file is the one under its name, and ends where this journal
// ended it: nobody renamed, replaced, cut or wrote it.
func (j *journal) still() error {
	if j.mistake == StaleHandle {
		return nil
	}
	open, err := j.file.Stat()
	if err != nil {
		return err
	}
	named, err := j.fsys.Stat(j.name)
	switch {
	case err != nil:
		return err
	case os.SameFile(open, open) && !os.SameFile(open, named): // not every file system tells its files apart
		return fmt.Errorf("%s: another file stands in its place", j.name)
	case open.Size() != j.size || named.Size() != j.size:
		return fmt.Errorf("%s: %d bytes where %d were written: somebody else writes it", j.name, named.Size(), j.size)
	}
	return nil
}

// repair cuts the tail and makes what was read durable: bytes, then names.
func (j *journal) repair(fsys afero.Fs, name string, good, size int64) error {
	if size > good && j.mistake != GluedTail {
		if err := j.file.Truncate(good); err != nil {
			return err
		}
	}
	if err := j.renew(fsys, name, good); err != nil {
		return err
	}
	if unsynced := j.mistake == CutNotSynced && size > good || (j.mistake == NoSyncAtOpen || j.mistake == WatermarkCached) && size == good; !unsynced {
		if err := j.file.Sync(); err != nil {
			return err
		}
	}
	if j.mistake == NoDirSync {
		return nil
	}
	return syncNames(fsys, name)
}

// syncNames makes a file's name durable, and those of all folders above it.
func syncNames(fsys afero.Fs, name string) error {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if err := syncDir(fsys, dir); err != nil {
			return err
		}
		if dir == "/" || dir == "." {
			return nil
		}
	}
}

// renew writes the last line again, as it is. If its sync failed in the session before, the kernel
// may have dropped it and show it all the same, and no later sync would write it. The lines in front
// of it were synced before it was written.
func (j *journal) renew(fsys afero.Fs, name string, good int64) (err error) {
	if good == 0 {
		return nil
	}
	file, err := fsys.OpenFile(name, os.O_RDWR, 0) // a handle that appends cannot write in the middle
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	data := make([]byte, good)
	if _, err := io.ReadFull(file, data); err != nil {
		return err
	}
	last := bytes.LastIndexByte(data[:good-1], '\n') + 1
	if j.mistake == RewritesLine {
		if err := file.Truncate(int64(last)); err != nil {
			return err
		}
	}
	n, err := file.WriteAt(data[last:], int64(last))
	if err == nil && n < len(data)-last {
		err = io.ErrShortWrite
	}
	return err
}

func syncDir(fsys afero.Fs, name string) error {
	dir, err := fsys.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Append writes one line and syncs it. When that fails, nobody knows what is on the disk: the
// journal takes nothing more until it is opened again.
func (j *journal) Append(record []byte) error {
	if j.bad != nil {
		return j.bad
	}
	if err := refuse(record); err != nil {
		return err
	}
	if j.mistake == Surrogate {
		record = decoded(record)
	}
	err := j.append(record)
	if j.mistake != DebrisLeft || !errors.Is(err, syscall.ENOSPC) {
		j.bad = err
	}
	return err
}

// refuse says why a record cannot be kept: it has to be a JSON object on one line.
func refuse(record []byte) error {
	if !json.Valid(record) || record[0] != '{' || bytes.IndexByte(record, '\n') >= 0 {
		return errors.New("a record is a JSON object on one line")
	}
	return nil
}

// decoded is a record that went through a decoder, if it has an escape that the decoder may
// put something else in place of.
func decoded(record []byte) []byte {
	var value any
	if !bytes.Contains(record, []byte(`\ud`)) || json.Unmarshal(record, &value) != nil {
		return record
	}
	again, err := json.Marshal(value)
	if err != nil {
		return record
	}
	return again
}

func (j *journal) append(record []byte) error {
	line := j.form.line(j.mistake, j.seq+1, j.size, record)
	if j.mistake == LateNewline {
		line = line[:len(line)-1]
		if j.owed {
			line = append([]byte{'\n'}, line...)
		}
		j.owed = true
	}
	if j.mistake == EarlyAck {
		if err := j.payDebt(); err != nil {
			return err
		}
		j.owed = true
	}
	if err := j.write(line); err != nil {
		return err
	}
	j.seq++
	if j.mistake == LostFsync || j.mistake == EarlyAck {
		return nil
	}
	if err := j.sync(); err != nil {
		return err
	}
	return j.still()
}

// write writes a line, all of it.
func (j *journal) write(line []byte) error {
	n, err := j.file.Write(line)
	j.size += int64(n)
	if err == nil && n < len(line) && j.mistake != ShortWrite {
		err = io.ErrShortWrite
	}
	return err
}

// sync makes what was written durable. When it fails, what it should have written may be gone
// from the page cache's list of work, so that the next one succeeds and writes nothing.
func (j *journal) sync() error {
	err := j.file.Sync()
	switch {
	case err != nil && j.mistake == FsyncIgnored:
		return nil
	case err != nil && j.mistake == FsyncRetried:
		return j.file.Sync()
	}
	return err
}

// payDebt does the sync that EarlyAck put off.
func (j *journal) payDebt() error {
	if !j.owed {
		return nil
	}
	j.owed = false
	return j.file.Sync()
}

// Compact writes the three markers, the commit point first.
func (j *journal) Compact(compacted, worldState, turnContext []byte) error {
	order := [][]byte{compacted, worldState, turnContext}
	if j.mistake == MarkersSwapped {
		order[0], order[1] = order[1], order[0]
	}
	for _, r := range order {
		if err := j.Append(r); err != nil {
			return err
		}
	}
	return nil
}

// CancelCompact begins a compaction and gives it up in front of its commit point, when nothing is
// written yet.
func (j *journal) CancelCompact(compacted []byte) error {
	if j.mistake == KeptCancel {
		return j.Append(compacted)
	}
	return j.bad
}

// Sync has nothing left to do: Append syncs.
func (j *journal) Sync() error { return j.bad }

// Close pays what the mistakes put off, and closes the file.
func (j *journal) Close() error {
	var err error
	switch {
	case j.bad != nil:
	case j.mistake == LateNewline && j.owed:
		if _, err = j.file.Write([]byte{'\n'}); err == nil {
			err = j.file.Sync()
		}
	case j.mistake == EarlyAck:
		err = j.payDebt()
	}
	return errors.Join(err, j.unlock(), j.file.Close())
}

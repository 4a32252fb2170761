package scenarios_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"testing"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/scenarios"
)

// A journal of your own, the smallest that keeps its promises, and the test that plugs it
// in. README.md shows the test.

func TestUnplug(t *testing.T) {
	contract := scenarios.Lines()
	contract.Writers = scenarios.WritersTrusted // one process writes, and nobody else touches the file
	scenarios.Run(t, scenarios.Subject{
		Open: func(fsys afero.Fs, path string) (scenarios.Journal, error) { return Open(fsys, path) },
		Recover: func(fsys afero.Fs, path string) (scenarios.Recovered, error) {
			records, tail, err := Load(fsys, path)
			return scenarios.Recovered{
				Records: records,
				Tail:    scenarios.Tail{Offset: tail.Offset, Length: tail.Length},
			}, err
		},
		Corrupt: func(err error) bool { return errors.Is(err, ErrCorrupt) },
	}, scenarios.With(contract), scenarios.Seed(1, 16), scenarios.Budget(1000))
}

// ErrCorrupt is a line that is there whole and wrong.
var ErrCorrupt = errors.New("damaged line")

// Tail is an unterminated last line: an append that a crash interrupted.
type Tail struct{ Offset, Length int64 }

// Load reads a file of lines: a number from 1, a tab, a JSON object, a newline.
func Load(fsys afero.Fs, name string) (records [][]byte, tail Tail, err error) {
	data, err := afero.ReadFile(fsys, name)
	if err != nil {
		return nil, tail, err
	}
	for n := 1; ; n++ {
		line, rest, whole := bytes.Cut(data[tail.Offset:], []byte("\n"))
		if !whole {
			tail.Length = int64(len(line))
			return records, tail, nil
		}
		record, ok := bytes.CutPrefix(line, fmt.Appendf(nil, "%d\t", n))
		if !ok || !json.Valid(record) {
			return nil, tail, fmt.Errorf("%s: line %d, byte %d: %w", name, n, tail.Offset, ErrCorrupt)
		}
		records = append(records, record)
		tail.Offset = int64(len(data) - len(rest))
	}
}

// Log is a file of lines, open for appending.
type Log struct {
	file afero.File
	next int
	bad  error // what failed: nothing is appended behind it
}

// Open opens or makes a log. A tail is cut, and everything is on disk, names too, before the
// first append.
func Open(fsys afero.Fs, name string) (*Log, error) {
	records, tail, err := Load(fsys, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := fsys.MkdirAll(path.Dir(name), 0o700); err != nil {
		return nil, err
	}
	file, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := renew(file, tail); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	for dir := name; ; dir = path.Dir(dir) { // the file, its folder, and every folder above
		if err := sync(fsys, dir); err != nil {
			return nil, errors.Join(err, file.Close())
		}
		if dir == "/" {
			return &Log{file: file, next: len(records) + 1}, nil
		}
	}
}

// renew cuts the tail and writes the lines again, as they are: what a failed sync has dropped still
// reads well, and no later sync would write it. It leaves the file at its end.
func renew(file afero.File, tail Tail) error {
	if tail.Length > 0 {
		if err := file.Truncate(tail.Offset); err != nil {
			return err
		}
	}
	lines := make([]byte, tail.Offset)
	if _, err := io.ReadFull(file, lines); err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return write(file, lines)
}

func write(file afero.File, data []byte) error {
	n, err := file.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	return err
}

func sync(fsys afero.Fs, name string) error {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Append adds a record. When it returns nil the record is on disk. After an error the log must be
// opened again.
func (l *Log) Append(record []byte) error {
	if !json.Valid(record) || bytes.IndexByte(record, '\n') >= 0 {
		return errors.New("a record is JSON on one line")
	}
	if l.bad == nil {
		l.bad = write(l.file, fmt.Appendf(nil, "%d\t%s\n", l.next, record))
	}
	if l.bad == nil {
		l.next++
		l.bad = l.file.Sync()
	}
	return l.bad
}

// Sync has nothing to do.
func (l *Log) Sync() error { return l.bad }

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }

package broken

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/scenarios/target"
)

// header is the first line of a snapshot: a file that was replaced as a whole is never empty.
const header = `{"snapshot":1}` + "\n"

// snapshot is a journal whose file holds the header and a line for each record, as the line
// journal has them. Each append writes the whole of it into a file beside it, syncs that, renames
// it into place and syncs the folder. It trusts its callers to be the only writer.
type snapshot struct {
	mistake
	fsys    afero.Fs
	name    string
	records [][]byte
	bad     error // a save that failed: nothing is acknowledged any more
}

// replacing is the snapshot journal.
func replacing(bug string) target.Subject {
	m := mistake(bug)
	return target.Subject{
		Open: func(fsys afero.Fs, name string) (target.Journal, error) { return openSnapshot(m, fsys, name) },
		Recover: func(fsys afero.Fs, name string) (target.Recovered, error) {
			records, err := loadSnapshot(fsys, name)
			if err != nil {
				return target.Recovered{}, err
			}
			return target.Recovered{Records: records, View: fold(records)}, nil
		},
	}
}

// openSnapshot reads what is there and saves it once more, so that it is durable.
func openSnapshot(m mistake, fsys afero.Fs, name string) (target.Journal, error) {
	records, err := loadSnapshot(fsys, name)
	if m == EmptyIsNew && errors.Is(err, errEmpty) {
		err = os.ErrNotExist
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if err := fsys.MkdirAll(path.Dir(name), 0o700); err != nil {
		return nil, err
	}
	s := &snapshot{mistake: m, fsys: fsys, name: name, records: records}
	if err := s.save(); err != nil {
		return nil, err
	}
	return s, syncNames(fsys, name)
}

// errEmpty is a snapshot of no bytes.
var errEmpty = &lineError{line: 1, cause: "the file is empty, and a snapshot never is"}

// loadSnapshot reads the file at path: all of it, or an error.
func loadSnapshot(fsys afero.Fs, path string) ([][]byte, error) {
	data, err := afero.ReadFile(fsys, path)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, errEmpty
	}
	rest, ok := bytes.CutPrefix(data, []byte(header))
	if !ok {
		return nil, &lineError{path, 1, 0, "no header"}
	}
	var records [][]byte
	for len(rest) > 0 {
		at := int64(len(data) - len(rest))
		line, after, ended := bytes.Cut(rest, []byte{'\n'})
		record, cause := parseLine(line, len(records)+1, false)
		if !ended {
			cause = "not ended by a newline"
		}
		if cause != "" {
			return nil, &lineError{path, len(records) + 2, at, cause}
		}
		records, rest = append(records, record), after
	}
	return records, nil
}

// save replaces the file by the records as they are now.
func (s *snapshot) save() error {
	data := []byte(header)
	for i, r := range s.records {
		data = append(data, lineOf(s.mistake, i+1, 0, r)...)
	}
	if s.mistake == TruncatesInPlace {
		if err := write(s.fsys, s.name, data, true); err != nil {
			return err
		}
		return syncDir(s.fsys, path.Dir(s.name))
	}
	fresh := s.name + ".new"
	if err := write(s.fsys, fresh, data, s.mistake != RenameFirst); err != nil {
		return err
	}
	if err := s.fsys.Rename(fresh, s.name); err != nil {
		return err
	}
	if s.mistake == RenameFirst {
		if err := syncDir(s.fsys, s.name); err != nil { // a file's handle syncs as a folder's does
			return err
		}
	}
	return syncDir(s.fsys, path.Dir(s.name))
}

// write writes a whole file, and syncs it.
func write(fsys afero.Fs, name string, data []byte, synced bool) (err error) {
	file, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	n, err := file.Write(data)
	switch {
	case err != nil:
		return err
	case n < len(data):
		return io.ErrShortWrite
	case synced:
		return file.Sync()
	}
	return nil
}

// Append saves the history with one record more.
func (s *snapshot) Append(record []byte) error {
	if s.bad != nil {
		return s.bad
	}
	if err := refuse(record); err != nil {
		return err
	}
	s.records = append(s.records, bytes.Clone(record))
	s.bad = s.save()
	return s.bad
}

// Compact appends the three markers, the commit point first.
func (s *snapshot) Compact(compacted, worldState, turnContext []byte) error {
	for _, r := range [][]byte{compacted, worldState, turnContext} {
		if err := s.Append(r); err != nil {
			return err
		}
	}
	return nil
}

// Sync has nothing left to do: Append saves.
func (s *snapshot) Sync() error { return s.bad }

// Close has nothing to let go.
func (s *snapshot) Close() error { return nil }

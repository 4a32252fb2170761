// Package shoebox is a small wrong journal by somebody else: all notes in one JSON array, which
// each save writes over the old one, in place.
package shoebox

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"

	"github.com/spf13/afero"
)

// Shoebox is open for writing.
type Shoebox struct {
	fsys  afero.Fs
	name  string
	notes []json.RawMessage
}

// Read gives the notes of a file.
func Read(fsys afero.Fs, name string) (notes []json.RawMessage, err error) {
	data, err := afero.ReadFile(fsys, name)
	if err != nil || len(data) == 0 {
		return nil, err
	}
	return notes, json.Unmarshal(data, &notes)
}

// Open opens or makes a shoebox.
func Open(fsys afero.Fs, name string) (*Shoebox, error) {
	notes, err := Read(fsys, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := fsys.MkdirAll(path.Dir(name), 0o700); err != nil {
		return nil, err
	}
	return &Shoebox{fsys, name, notes}, nil
}

// Save adds a note and writes the file.
func (s *Shoebox) Save(note []byte) error {
	s.notes = append(s.notes, append(json.RawMessage(nil), note...))
	data, err := json.Marshal(s.notes)
	if err != nil {
		return err
	}
	f, err := s.fsys.OpenFile(s.name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

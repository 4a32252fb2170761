package notebook_test

import (
	"errors"
	"testing"

	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/scenarios"

	"example.org/plugin/notebook"
)

// journal is a notebook as the suite wants it.
type journal struct{ *notebook.Notebook }

func (j journal) Append(record []byte) error { return j.Add(record) }
func (j journal) Sync() error                { return j.Flush() }

// count is a second reader, that only counts.
func count(fsys afero.Fs, path string) (scenarios.Reading, error) {
	notes, _, _, err := notebook.Read(fsys, path)
	return scenarios.Reading{Count: len(notes)}, err
}

var subject = scenarios.Subject{
	Name: "notebook",
	Path: "/home/me/notes.txt",
	Open: func(fsys afero.Fs, path string) (scenarios.Journal, error) {
		n, err := notebook.Open(fsys, path)
		if err != nil {
			return nil, err
		}
		return journal{n}, nil
	},
	Recover: func(fsys afero.Fs, path string) (scenarios.Recovered, error) {
		notes, tail, length, err := notebook.Read(fsys, path)
		return scenarios.Recovered{Records: notes, Tail: scenarios.Tail{Offset: tail, Length: length}}, err
	},
	Corrupt: func(err error) bool { return errors.Is(err, notebook.ErrDamaged) },
	Readers: []scenarios.Reader{{Name: "count", Read: count}},
}

// contract is what the notebook promises, as data.
var contract = scenarios.Contract{
	Name:    "notebook",
	AckOn:   scenarios.AckSync,
	Refuse:  scenarios.RefuseTerminated,
	Detect:  scenarios.DetectBytes,
	Writers: scenarios.WritersTrusted, // the program that uses it sees to that
}

func TestUnplug(t *testing.T) {
	scenarios.Run(t, subject, scenarios.With(contract), scenarios.Seed(1, 16), scenarios.Budget(1000))
}

func TestNoSyncIsBlind(t *testing.T) {
	scenarios.RunWeakened(t, subject, scenarios.With(contract), scenarios.Seed(1, 12), scenarios.Budget(300))
}

func TestMachine(t *testing.T) {
	rapid.Check(t, scenarios.Machine(subject, scenarios.With(contract)))
}

func FuzzMachine(f *testing.F) {
	scenarios.Fuzz(f, subject, scenarios.With(contract))
}

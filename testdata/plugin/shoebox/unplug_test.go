package shoebox_test

import (
	"testing"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/scenarios"

	"example.org/plugin/shoebox"
)

type journal struct{ *shoebox.Shoebox }

func (j journal) Append(record []byte) error { return j.Save(record) }
func (j journal) Sync() error                { return nil }
func (j journal) Close() error               { return nil }

// This test fails, and is meant to: the file is empty between the truncation and the write, and
// its name is never synced.
func TestUnplug(t *testing.T) {
	scenarios.Run(t, scenarios.Subject{
		Name: "shoebox",
		Path: "/home/me/notes.json",
		Open: func(fsys afero.Fs, path string) (scenarios.Journal, error) {
			s, err := shoebox.Open(fsys, path)
			if err != nil {
				return nil, err
			}
			return journal{s}, nil
		},
		Recover: func(fsys afero.Fs, path string) (scenarios.Recovered, error) {
			notes, err := shoebox.Read(fsys, path)
			if err != nil {
				return scenarios.Recovered{}, err
			}
			r := scenarios.Recovered{}
			for _, n := range notes {
				r.Records = append(r.Records, n)
			}
			return r, nil
		},
	}, scenarios.With(scenarios.AtomicReplace()), scenarios.Seed(1, 6), scenarios.Budget(200), scenarios.Models("kill", "synced"))
}

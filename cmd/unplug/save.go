package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/unplug-go/unplug/scenarios/report"
)

// checkOut holds, before a long run, that findings can go to a folder of that name.
func checkOut(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case dir == "":
		return errors.New("--out: empty, want the name of a folder")
	case err == nil && !info.IsDir():
		return fmt.Errorf("--out %s: is a file, want a folder or a new name", dir)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("--out %s: %w", dir, plain(err))
	}
	return nil
}

// save writes each finding's repro file into dir and says in the report how to rerun it.
// What cannot be saved is noted in the report: the findings count all the same.
func (a *app) save(rep *report.Report, dir string) {
	for i := range rep.Violations {
		f := &rep.Violations[i]
		if f.File == nil {
			continue
		}
		path := filepath.Join(dir, f.File.Name())
		if err := write(path, f.File.String()); err != nil {
			rep.Notes = append(rep.Notes, fmt.Sprintf("could not save %s: %v", f.ID, err))
			continue
		}
		f.Repro = path
		f.Rerun = a.self + " replay " + quoteArg(path)
	}
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

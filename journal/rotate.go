package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// Rotate begins a new segment now, unless the newest one is empty.
func (j *Journal) Rotate() error {
	j.turn <- struct{}{}
	defer func() { <-j.turn }()
	j.mu.Lock()
	err := j.usable()
	j.mu.Unlock()
	if err != nil || j.size == 0 {
		return err
	}
	return j.rotate()
}

// rotate ends a segment with a synced checkpoint, makes the next file, syncs it and its folder,
// and goes on there: the existence of a segment vouches for all of the one before. The turn is
// held.
func (j *Journal) rotate() error {
	if !j.vouched {
		if err := j.checkpoint(); err != nil {
			return err
		}
	}
	name := segmentPath(j.path, j.number+1)
	f, err := createFile(j.fsys, name)
	if err != nil {
		err = fmt.Errorf("journal: beginning segment %d: %w", j.number+1, err)
		if _, there := j.fsys.Stat(name); !errors.Is(there, fs.ErrNotExist) {
			return j.fail(err) // a later file says that nothing is appended to this one any more
		}
		return err
	}
	if err := f.Sync(); err != nil {
		return j.fail(errors.Join(fmt.Errorf("journal: syncing %s: %w", name, err), f.Close()))
	}
	if err := syncFolder(j.fsys, filepath.Dir(name), &j.opt); err != nil {
		return j.fail(errors.Join(err, f.Close()))
	}
	if err := j.follow(f); err != nil {
		return j.fail(err)
	}
	j.name, j.number = name, j.number+1
	j.base, j.size, j.lines = j.end(), 0, 0
	return nil
}

// segmentSuffix reports whether a stem reads as that of a later segment.
func segmentSuffix(stem string) bool {
	i := strings.LastIndexByte(stem, '_')
	return i > 0 && segmentOf(stem[:i], stem) > 1
}

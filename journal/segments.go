package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/afero"
)

// segmentPath is the file of segment k: the path itself, then <stem>_2<ext> and so on.
func segmentPath(path string, k int) string {
	if k == 1 {
		return path
	}
	ext := filepath.Ext(path)
	return strings.TrimSuffix(path, ext) + "_" + strconv.Itoa(k) + ext
}

// segmentOf gives the number of the segment that a file of the journal's folder is, or 0.
func segmentOf(path, name string) int {
	ext := filepath.Ext(path)
	rest, ok := strings.CutPrefix(name, stem(path))
	if !ok {
		return 0
	}
	if rest == ext {
		return 1
	}
	if rest, ok = strings.CutSuffix(rest, ext); !ok || len(rest) < 2 || rest[0] != '_' || rest[1] == '0' {
		return 0
	}
	k, err := strconv.Atoi(rest[1:])
	if err != nil || k < 2 || strconv.Itoa(k) != rest[1:] {
		return 0
	}
	return k
}

// countSegments lists the journal's folder. An absent journal is fs.ErrNotExist; a segment that
// is missing in front of another one is damage.
func countSegments(fsys afero.Fs, path string) (int, error) {
	dir, err := fsys.Open(filepath.Dir(path))
	if err != nil {
		return 0, err
	}
	names, err := dir.Readdirnames(-1)
	if err = errors.Join(err, dir.Close()); err != nil {
		return 0, fmt.Errorf("journal: listing the segments of %s: %w", path, err)
	}
	count, newest := 0, 0
	for _, name := range names {
		if k := segmentOf(path, name); k > 0 {
			count++
			newest = max(newest, k)
		}
	}
	switch {
	case count == 0:
		return 0, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	case count < newest:
		missing := 1
		for have := map[int]bool{}; missing <= newest; missing++ {
			if len(have) == 0 {
				for _, name := range names {
					have[segmentOf(path, name)] = true
				}
			}
			if !have[missing] {
				break
			}
		}
		return 0, &CorruptError{
			Path: segmentPath(path, missing), Line: 1, Vouched: true,
			Cause: fmt.Sprintf("the file is missing, and a later one, %s, is there", filepath.Base(segmentPath(path, newest))),
		}
	default:
		return count, nil
	}
}

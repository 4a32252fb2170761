package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/afero"
)

// sidecars is how many tails of one offset are kept apart.
const sidecars = 1000

// repair ends the newest file where its accepted lines end: the tail's bytes go to a sidecar
// first, the cut is synced before anything is appended (with one sync for both, a torn page
// can forge a line that verifies), and a whole line gets the newline that it lacks.
func repair(fsys afero.Fs, f afero.File, t *Tail, opt *Options) error {
	if t == nil {
		return nil
	}
	if t.Kind == TailComplete {
		if n, err := f.Write([]byte{'\n'}); err != nil || n != 1 {
			return fmt.Errorf("journal: %s: ending the last line: %w", t.Path, errors.Join(err, errIf(n != 1, io.ErrShortWrite)))
		}
		return nil // the caller syncs
	}
	if !opt.NoSidecar {
		if err := keepTail(fsys, f, t, opt); err != nil {
			return fmt.Errorf("journal: %s: keeping the torn tail: %w", t.Path, err)
		}
	}
	if err := f.Truncate(t.Offset); err != nil {
		return fmt.Errorf("journal: %s: cutting the torn tail: %w", t.Path, err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("journal: %s: syncing the cut: %w", t.Path, err)
	}
	return nil
}

// rewrite puts the bytes of a file between two offsets in their place once more. After an fsync
// that failed, the kernel takes pages for clean that never reached the disk: they read well, a
// later sync leaves them out and succeeds, and a power cut leaves a hole in front of lines that
// were acknowledged since. No reader can see that, so what no line vouches for is made dirty again
// before the sync on which the next promise rests. The bytes are the same, so that a crash in
// between leaves nothing new. The handle is another one, since appending ones cannot write in
// the middle.
func rewrite(fsys afero.Fs, path string, from, to int64) (err error) {
	if from >= to {
		return nil
	}
	f, err := fsys.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buf := make([]byte, min(to-from, chunk))
	for from < to {
		b := buf[:min(to-from, int64(len(buf)))]
		if _, err := io.ReadFull(io.NewSectionReader(fully{f}, from, int64(len(b))), b); err != nil {
			return err
		}
		if n, err := f.WriteAt(b, from); err != nil || n < len(b) {
			return errors.Join(err, errIf(n < len(b), io.ErrShortWrite))
		}
		from += int64(len(b))
	}
	return nil
}

func errIf(cond bool, err error) error {
	if cond {
		return err
	}
	return nil
}

// keepTail copies the tail to <file>.tail-<offset>, or to the next name of that form which is
// free or holds the same bytes.
func keepTail(fsys afero.Fs, f afero.File, t *Tail, opt *Options) error {
	name := t.Path + ".tail-" + strconv.FormatInt(t.Offset, 10)
	for k := 1; k <= sidecars; k++ {
		path := name
		if k > 1 {
			path += "-" + strconv.Itoa(k)
		}
		side, err := createFile(fsys, path)
		if errors.Is(err, fs.ErrExist) {
			if side, err = sameTail(fsys, path, f, t); side == nil && err == nil {
				continue
			}
			if err == nil { // the sync that should have put it on disk may have failed, and dropped it
				err = rewrite(fsys, path, 0, t.Length)
			}
		} else if err == nil {
			_, err = io.CopyBuffer(side, io.NewSectionReader(fully{f}, t.Offset, t.Length), pieceOf(t.Length))
		}
		if err != nil {
			return errors.Join(err, closeIf(side))
		}
		if err := errors.Join(side.Sync(), side.Close()); err != nil {
			return err
		}
		return syncFolder(fsys, filepath.Dir(path), opt)
	}
	return fmt.Errorf("%s and %d more of its kind are there already: move them away", name, sidecars-1)
}

func closeIf(f afero.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

// sameTail opens a sidecar that an earlier repair left, if it holds the tail's bytes.
func sameTail(fsys afero.Fs, path string, f afero.File, t *Tail) (afero.File, error) {
	side, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := side.Stat()
	if err != nil || info.Size() != t.Length {
		return nil, errors.Join(err, side.Close())
	}
	same, err := sameBytes(io.NewSectionReader(fully{side}, 0, t.Length), io.NewSectionReader(fully{f}, t.Offset, t.Length), t.Length)
	if err != nil || !same {
		return nil, errors.Join(err, side.Close())
	}
	return side, nil
}

// pieceOf is a buffer to take n bytes through: no more than they are, since most tails are short.
func pieceOf(n int64) []byte { return make([]byte, min(max(n, 1), 32<<10)) }

func sameBytes(a, b io.Reader, n int64) (bool, error) {
	x, y := pieceOf(n), pieceOf(n)
	for {
		n, errA := io.ReadFull(a, x)
		m, errB := io.ReadFull(b, y)
		if !bytes.Equal(x[:n], y[:m]) {
			return false, nil
		}
		end := errors.Is(errA, io.EOF) || errors.Is(errA, io.ErrUnexpectedEOF)
		switch {
		case end && (errors.Is(errB, io.EOF) || errors.Is(errB, io.ErrUnexpectedEOF)):
			return true, nil
		case errA != nil || errB != nil:
			return false, errors.Join(errA, errB)
		}
	}
}

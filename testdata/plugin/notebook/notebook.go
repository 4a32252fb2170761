// Package notebook is a small journal by somebody else: a line is a checksum, a number and the
// text of one note.
//
//	1f0c22ab 7 {"note":"water the basil"}
//
// Add buffers; what Flush returned nil for is on disk. An unterminated last line is what an
// interrupted Flush left: Open cuts it.
package notebook

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/spf13/afero"
)

// ErrDamaged is a line that is whole and not what was written.
var ErrDamaged = errors.New("damaged note")

// ErrBroken is what a notebook says after a write or a sync has failed: open it again.
var ErrBroken = errors.New("an earlier write failed: open the notebook again")

// Notebook is open for writing.
type Notebook struct {
	file   afero.File
	next   int
	unsent []byte
	broken bool
}

// Read gives the notes of a file, and where an unterminated last line begins and how long it is.
func Read(fsys afero.Fs, name string) (notes [][]byte, tail, length int64, err error) {
	data, err := afero.ReadFile(fsys, name)
	if err != nil {
		return nil, 0, 0, err
	}
	for len(data) > 0 {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			return notes, tail, int64(len(line)), nil
		}
		var note []byte
		if len(line) > 9 {
			note, whole = bytes.CutPrefix(line[9:], fmt.Appendf(nil, "%d ", len(notes)+1))
		}
		if !whole || len(line) <= 9 || !bytes.Equal(line, format(len(notes)+1, note)) {
			return nil, tail, 0, fmt.Errorf("%s: line %d, byte %d: %w", name, len(notes)+1, tail, ErrDamaged)
		}
		notes = append(notes, note)
		tail += int64(len(line)) + 1
		data = rest
	}
	return notes, tail, 0, nil
}

func format(number int, note []byte) []byte {
	body := fmt.Appendf(nil, "%d %s", number, note)
	return fmt.Appendf(nil, "%08x %s", crc32.ChecksumIEEE(body), body)
}

// Open opens or makes a notebook.
func Open(fsys afero.Fs, name string) (*Notebook, error) {
	notes, tail, length, err := Read(fsys, name)
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
	n := &Notebook{file: file, next: len(notes) + 1}
	if length > 0 {
		err = file.Truncate(tail)
	}
	if err == nil {
		err = renew(file, tail)
	}
	for dir := path.Dir(name); err == nil; dir = path.Dir(dir) {
		if err = sync(fsys, dir); dir == "/" {
			break
		}
	}
	if err = errors.Join(err, file.Sync()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return n, nil
}

// renew writes what was read again, as it is: if its sync failed in the session before, the kernel
// may show it and never write it. It leaves the file at its end.
func renew(file afero.File, size int64) error {
	data := make([]byte, size)
	if _, err := io.ReadFull(file, data); err != nil {
		return err
	}
	n, err := file.WriteAt(data, 0)
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

// Add takes a note of one line.
func (n *Notebook) Add(note []byte) error {
	if bytes.IndexByte(note, '\n') >= 0 {
		return errors.New("a note is one line")
	}
	n.unsent = append(append(n.unsent, format(n.next, note)...), '\n')
	n.next++
	return nil
}

// Flush makes every note that was added durable.
func (n *Notebook) Flush() error {
	if n.broken {
		return ErrBroken
	}
	n.broken = true
	if len(n.unsent) > 0 {
		if k, err := n.file.Write(n.unsent); err != nil || k < len(n.unsent) {
			return errors.Join(err, ErrBroken)
		}
	}
	if err := n.file.Sync(); err != nil {
		return err
	}
	n.unsent, n.broken = n.unsent[:0], false
	return nil
}

// Close flushes and closes.
func (n *Notebook) Close() error {
	if n.broken {
		return n.file.Close()
	}
	return errors.Join(n.Flush(), n.file.Close())
}

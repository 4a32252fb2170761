package broken

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/scenarios/target"
)

// readers are the ways in which the line journal reads itself back beside Recover: a list that
// counts, and the last records. Both take the file line by line and hold no more than they need.
func (m mistake) readers() []target.Reader {
	return []target.Reader{
		{Name: "count", Read: func(fsys afero.Fs, path string) (target.Reading, error) {
			return m.stream(fsys, path, -1)
		}},
		{Name: "tail 3", Read: func(fsys afero.Fs, path string) (target.Reading, error) {
			return m.stream(fsys, path, 3)
		}},
	}
}

// stream reads line by line, counts, and keeps the last n records; none if n is negative.
func (m mistake) stream(fsys afero.Fs, path string, n int) (target.Reading, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return target.Reading{}, err
	}
	if m == ScannerReader && n >= 0 {
		out, err := scanned(bufio.NewScanner(f), path, n)
		return out, errors.Join(err, f.Close())
	}
	out, err := m.lines(bufio.NewReader(f), path, n)
	return out, errors.Join(err, f.Close())
}

func (m mistake) lines(in *bufio.Reader, path string, n int) (target.Reading, error) {
	out := target.Reading{Limit: max(n, 0)}
	if n >= 0 {
		out.Last = [][]byte{}
	}
	var at int64
	for line := 1; ; line++ {
		text, err := in.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF): // what stands behind the last newline is a tail
			out.Tail = &target.Tail{}
			if len(text) > 0 {
				out.Tail = &target.Tail{Offset: at, Length: int64(len(text)), Kind: "unterminated"}
			}
			return out, nil
		case err != nil:
			return target.Reading{}, fmt.Errorf("%s: byte %d: %w", path, at, err)
		}
		record, cause := parseLine(bytes.TrimSuffix(text, []byte("\n")), out.Count+1, m == SkipsBadLine)
		switch {
		case cause == "":
			out.Count++
			if n >= 0 {
				out.Last = append(out.Last, record)[max(len(out.Last)+1-n, 0):]
			}
		case m != SkipsBadLine:
			return target.Reading{}, &lineError{path, line, at, cause}
		}
		at += int64(len(text))
	}
}

// scanned is lines with the mistakes of a bufio.Scanner.
func scanned(in *bufio.Scanner, path string, n int) (target.Reading, error) {
	out := target.Reading{Limit: n, Last: [][]byte{}, Tail: &target.Tail{}}
	for in.Scan() {
		record, cause := parseLine(bytes.Clone(in.Bytes()), out.Count+1, false)
		if cause != "" {
			return target.Reading{}, &lineError{path, out.Count + 1, 0, cause}
		}
		out.Count++
		out.Last = append(out.Last, record)[max(len(out.Last)+1-n, 0):]
	}
	return out, in.Err()
}

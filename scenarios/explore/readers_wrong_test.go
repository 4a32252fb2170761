package explore_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/scenarios/broken"
	"github.com/unplug-go/unplug/scenarios/target"
)

// read is a way to read the line journal.
type read func(f afero.Fs, path string) (target.Reading, error)

// wrongReaders are readers that are each wrong in one way, of kinds that are found in the field,
// beside a Recover that is right.
func wrongReaders() []wrongReader {
	return []wrongReader{
		{"a bufio.Scanner: an unterminated line is a line, and one of 64 KiB is the end", "UP213", "plain", reading(func(file afero.File) (target.Reading, error) {
			var out target.Reading
			for s := bufio.NewScanner(file); s.Scan(); {
				out.Count++
			}
			return out, nil
		})},
		{"a read error is the end", "UP213", "on ", reading(func(file afero.File) (target.Reading, error) {
			data, _ := io.ReadAll(file)
			return rightly(data)
		})},
		{"a log that cannot be opened is an empty one", "UP213", "on open", func(f afero.Fs, path string) (target.Reading, error) {
			data, err := afero.ReadFile(f, path)
			if failed, ok := errors.AsType[*fs.PathError](err); ok && failed.Op == "open" && !errors.Is(err, fs.ErrNotExist) {
				return target.Reading{Last: [][]byte{}}, nil
			}
			return after(err, data, rightly)
		}},
		{"a tail that trusts an unterminated line", "UP213", "plain", whole(func(data []byte) (target.Reading, error) {
			lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
			return target.Reading{Count: -1, Last: [][]byte{recordOf(lines[len(lines)-1])}, Limit: 1}, nil
		})},
		{"a list that counts newlines", "UP213", "plain", whole(func(data []byte) (target.Reading, error) {
			return target.Reading{Count: bytes.Count(data, []byte("\n"))}, nil
		})},
		{"one read is the whole file", "UP213", "on read * * -> short", reading(func(file afero.File) (target.Reading, error) {
			data := make([]byte, 1<<20)
			n, err := file.Read(data)
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return after(err, data[:n], rightly)
		})},
		{"what has grown since the size was asked for is damage", "UP213", "grow", func(f afero.Fs, path string) (target.Reading, error) {
			info, err := f.Stat(path)
			if err != nil {
				return target.Reading{}, err
			}
			data, err := afero.ReadFile(f, path)
			if err == nil && int64(len(data)) != info.Size() {
				err = broken.ErrCorrupt
			}
			return after(err, data, rightly)
		}},
		{"a reader that repairs", "UP208", "plain", func(f afero.Fs, path string) (target.Reading, error) {
			data, err := afero.ReadFile(f, path)
			if n := len(data); n > 0 && data[n-1] != '\n' {
				err = afero.WriteFile(f, path, data[:bytes.LastIndexByte(data, '\n')+1], 0o600)
			}
			return after(err, data, rightly)
		}},
		{"a missing log is an empty one", "UP213", "plain", func(f afero.Fs, path string) (target.Reading, error) {
			data, err := afero.ReadFile(f, path)
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return after(err, data, rightly)
		}},
		{"a bad line is the end", "UP213", "plain", whole(func(data []byte) (target.Reading, error) {
			out, err := rightly(data)
			if errors.Is(err, broken.ErrCorrupt) {
				return target.Reading{Last: [][]byte{}}, nil
			}
			return out, err
		})},
		{"a panic on a long line", "UP213", "plain", whole(func(data []byte) (target.Reading, error) {
			var line [64 << 10]byte
			for text := range bytes.SplitSeq(data, []byte("\n")) {
				copy(line[:len(text)], text)
			}
			return rightly(data)
		})},
	}
}

type wrongReader struct {
	name string
	rule string // that catches it
	done string // how the probe begins that does
	read read
}

// reading opens the log and hands it on.
func reading(use func(file afero.File) (target.Reading, error)) read {
	return func(f afero.Fs, path string) (target.Reading, error) {
		file, err := f.Open(path)
		if err != nil {
			return target.Reading{}, err
		}
		out, err := use(file)
		return out, errors.Join(err, file.Close())
	}
}

// whole reads the log and hands its bytes on.
func whole(use func(data []byte) (target.Reading, error)) read {
	return func(f afero.Fs, path string) (target.Reading, error) {
		data, err := afero.ReadFile(f, path)
		return after(err, data, use)
	}
}

func after(err error, data []byte, use func(data []byte) (target.Reading, error)) (target.Reading, error) {
	if err != nil {
		return target.Reading{}, err
	}
	return use(data)
}

// recordOf is the record of a line of the line journal, nil if it is none.
func recordOf(line []byte) []byte {
	var l struct {
		Record json.RawMessage `json:"record"`
	}
	if json.Unmarshal(line, &l) != nil {
		return nil
	}
	return l.Record
}

// rightly is what a right reader says of a log with these bytes.
func rightly(data []byte) (target.Reading, error) {
	good, mem := broken.Subject(""), faultfs.NewMem(nil)
	if err := errors.Join(mem.MkdirAll("/journal", 0o700), afero.WriteFile(mem, good.File(), data, 0o600)); err != nil {
		return target.Reading{}, err
	}
	r, err := good.Recover(mem, good.File())
	return target.Reading{Count: len(r.Records), Last: r.Records, Tail: &r.Tail}, err
}

package explore_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/scenarios/target"
)

var errSum = errors.New("bad sum line")

// sums is a journal of lines with a checksum, for damage to a closed log. It finds every damaged
// byte that stands in front of its last line; with a mistake it forgives one kind.
type sums struct{ mistake string }

func (s sums) subject() target.Subject {
	return target.Subject{
		Name: "sums", Open: s.open, Recover: s.recover,
		Corrupt: func(err error) bool { return errors.Is(err, errSum) },
	}
}

// sumLine is {"sum":"…","seq":1,"record":{…}}: the sum covers what stands behind it.
func sumLine(seq int, record []byte) []byte {
	rest := fmt.Sprintf(`"seq":%d,"record":%s}`, seq, record)
	return fmt.Appendf(nil, "{\"sum\":\"%08x\",%s\n", crc32.ChecksumIEEE([]byte(rest)), rest)
}

// parse checks one line.
func (s sums) parse(line []byte) (seq int, record []byte, err error) {
	var l struct {
		Sum    string          `json:"sum"`
		Seq    int             `json:"seq"`
		Record json.RawMessage `json:"record"`
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", errSum, err)
	}
	switch s.mistake {
	case "sum ignored":
		return l.Seq, l.Record, nil
	case "sum of what was decoded":
		line = sumLine(l.Seq, l.Record)
		line = line[:len(line)-1]
	}
	const head = len(`{"sum":"00000000",`)
	if len(line) < head || !bytes.HasPrefix(line, fmt.Appendf(nil, `{"sum":"%08x",`, crc32.ChecksumIEEE(line[head:]))) || l.Sum != string(line[8:16]) {
		return 0, nil, errSum
	}
	return l.Seq, l.Record, nil
}

// before forgives what can be mended in front of the parsing.
func (s sums) before(data []byte) []byte {
	switch s.mistake {
	case "bom stripped":
		return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	case "cr stripped":
		return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	case "blank lines skipped":
		return append(bytes.TrimLeft(data, "\n")[:0:0], bytes.ReplaceAll(bytes.TrimLeft(data, "\n"), []byte("\n\n"), []byte("\n"))...)
	case "objects instead of lines":
		var out []byte
		for dec := json.NewDecoder(bytes.NewReader(data)); ; {
			var one json.RawMessage
			if err := dec.Decode(&one); err != nil {
				if errors.Is(err, io.EOF) {
					return out
				}
				return data
			}
			out = append(append(out, one...), '\n')
		}
	}
	return data
}

// load reads the log.
func (s sums) load(data []byte) (records [][]byte, good int, err error) {
	var seqs []int
	for {
		line, _, ok := bytes.Cut(data[good:], []byte("\n"))
		if !ok {
			break
		}
		seq, record, err := s.parse(line)
		switch {
		case err != nil && s.mistake == "lines with NULs skipped" && bytes.IndexByte(line, 0) >= 0:
		case err != nil:
			return nil, 0, err
		case s.mistake == "sorted by number", seq == len(seqs)+1,
			seq > len(seqs) && (s.mistake == "gaps accepted" || s.mistake == "lines with NULs skipped"):
			records, seqs = append(records, record), append(seqs, seq)
		case s.mistake == "a number seen before skipped" && seq <= len(seqs):
		case s.mistake == "a line like the last one skipped" && seq == len(seqs) && bytes.Equal(record, records[seq-1]):
		case s.mistake == "a log that begins anew taken" && seq == 1:
			records, seqs = [][]byte{record}, []int{1}
		default:
			return nil, 0, fmt.Errorf("%w: number %d, want %d", errSum, seq, len(seqs)+1)
		}
		good += len(line) + 1
	}
	if s.mistake == "sorted by number" {
		sorted := make([][]byte, 0, len(records))
		for seq := 1; seq <= len(seqs); seq++ {
			i := slices.Index(seqs, seq)
			if i < 0 {
				return nil, 0, errSum
			}
			sorted = append(sorted, records[i])
		}
		records = sorted
	}
	return records, good, nil
}

func (s sums) recover(fsys afero.Fs, name string) (r target.Recovered, err error) {
	data, err := afero.ReadFile(fsys, name)
	if err != nil {
		return r, err
	}
	data = s.before(data)
	records, good, err := s.load(data)
	if err != nil {
		return target.Recovered{}, err
	}
	r.Records = records
	switch {
	case good == len(data):
	case s.mistake == "a torn line refused":
		return target.Recovered{}, errSum
	case strings.HasPrefix(s.mistake, "replaced"): // there is never a tail
	default:
		r.Tail = target.Tail{Offset: int64(good), Length: int64(len(data) - good), Kind: "unterminated"}
	}
	return r, nil
}

func (s sums) open(fsys afero.Fs, name string) (target.Journal, error) {
	if err := fsys.MkdirAll(path.Dir(name), 0o700); err != nil {
		return nil, err
	}
	w := &sumsWriter{}
	if r, err := s.recover(fsys, name); err == nil {
		w.seq = len(r.Records)
	} else if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var err error
	w.file, err = fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	return w, err
}

// sumsWriter appends. It is not crashed here, so it does not cut tails.
type sumsWriter struct {
	file afero.File
	seq  int
}

func (w *sumsWriter) Append(record []byte) error {
	w.seq++
	if _, err := w.file.Write(sumLine(w.seq, record)); err != nil {
		return err
	}
	return w.file.Sync()
}

func (w *sumsWriter) Sync() error  { return w.file.Sync() }
func (w *sumsWriter) Close() error { return w.file.Close() }

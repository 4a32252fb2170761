package broken

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/scenarios/target"
)

// ErrCorrupt is a line that is not what was written and is not an unterminated tail.
var ErrCorrupt = errors.New("damaged line")

// lineError says where.
type lineError struct {
	path   string
	line   int
	offset int64
	cause  string
}

func (e *lineError) Error() string {
	return fmt.Sprintf("%s: line %d, byte %d: %s", e.path, e.line, e.offset, e.cause)
}

func (e *lineError) Unwrap() error { return ErrCorrupt }

// lines is the form of the line journal.
func lines() form { return form{line: lineOf, load: loadLines} }

// lineOf is a record as a line.
func lineOf(_ mistake, seq int, _ int64, record []byte) []byte {
	return fmt.Appendf(nil, `{"seq":%d,"record":%s}`+"\n", seq, record)
}

// loadLines reads the file at path: its records and where the accepted lines end.
func loadLines(j mistake, fsys afero.Fs, path string) (records [][]byte, good, size int64, err error) {
	data, err := afero.ReadFile(fsys, path)
	if err != nil && (j != ReadErrorIsEnd || errors.Is(err, fs.ErrNotExist)) {
		return nil, 0, 0, err
	}
	size = int64(len(data))
	for line := 1; ; line++ {
		end := bytes.IndexByte(data[good:], '\n')
		if end < 0 {
			if half, ok := halfLine(data[good:]); ok && j == HalfLine {
				return append(records, half), size, size, nil
			}
			return records, good, size, nil
		}
		record, cause := parseLine(data[good:good+int64(end)], len(records)+1, j == SkipsBadLine)
		switch {
		case cause == "":
			records = append(records, record)
		case j != SkipsBadLine:
			return nil, good, size, &lineError{path, line, good, cause}
		}
		good += int64(end) + 1
	}
}

// halfLine is what is there of the record of an unterminated line.
func halfLine(line []byte) (record []byte, ok bool) {
	_, record, ok = bytes.Cut(line, []byte(`,"record":`))
	if whole, found := bytes.CutSuffix(record, []byte("}")); found && json.Valid(whole) {
		record = whole
	}
	return record, ok
}

// parseLine gives the record of one line, or why it is not one.
func parseLine(line []byte, seq int, anySeq bool) (record []byte, cause string) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"seq":`))
	if !ok {
		return nil, "does not begin with a sequence number"
	}
	number, rest, ok := bytes.Cut(rest, []byte(`,"record":`))
	if n, err := strconv.Atoi(string(number)); !ok || err != nil || n != seq && !anySeq {
		return nil, fmt.Sprintf("want sequence %d", seq)
	}
	record, ok = bytes.CutSuffix(rest, []byte("}"))
	if !ok || !json.Valid(record) {
		return nil, "not a JSON object"
	}
	return record, ""
}

// Recover reads the journal back without writing.
func (f form) recover(j mistake, fsys afero.Fs, path string) (target.Recovered, error) {
	records, good, size, err := f.load(j, fsys, path)
	if err != nil {
		return target.Recovered{}, err
	}
	out := target.Recovered{Records: records, View: fold(records)}
	if size > good && j == RecoveryWrites {
		return out, cut(fsys, path, good)
	}
	if size > good {
		out.Tail = target.Tail{Offset: good, Length: size - good, Kind: "unterminated"}
	}
	return out, nil
}

// cut makes a file shorter.
func cut(fsys afero.Fs, path string, size int64) error {
	file, err := fsys.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Truncate(size), file.Close())
}

// fold is the state after the last compaction.
func fold(records [][]byte) *target.View {
	view := &target.View{}
	for _, r := range records {
		switch markerOf(r) {
		case "compacted":
			var c struct {
				History []json.RawMessage `json:"replacement_history"`
			}
			*view = target.View{}
			if json.Unmarshal(r, &c) == nil {
				for _, h := range c.History {
					view.History = append(view.History, h)
				}
			}
		case "world_state":
			view.WorldState = r
		case "turn_context":
			view.TurnContext = r
		default:
			view.History = append(view.History, r)
		}
	}
	return view
}

// markerOf names the compaction marker that bytes hold, a record's or a line's.
func markerOf(b []byte) string {
	for _, name := range []string{"compacted", "world_state", "turn_context"} {
		if bytes.Contains(b[:min(len(b), 64)], []byte(`{"type":"`+name+`"`)) {
			return name
		}
	}
	return ""
}

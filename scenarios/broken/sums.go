package broken

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strconv"

	"github.com/spf13/afero"
)

// sums is the form of the journal with checksums. A line is
//
//	{"seq":1,"durable":0,"record":{…},"crc":"0a1b2c3d"}
//
// crc is the CRC-32C of the bytes in front of it; durable is how many bytes of the file were
// known to be on the disk when the line was written: all in front of it, since each append
// syncs. So a line that is whole says of what stands in front of it that it was whole once. A bad
// place that no line behind it speaks of may be what a crash left of an append, and is a tail.
func sums() form { return form{line: sumOf, load: loadSums} }

// sumMember is what stands in front of the checksum.
const sumMember = `,"crc":"`

func sumOf(m mistake, seq int, at int64, record []byte) []byte {
	if m == WatermarkZero {
		at = 0
	}
	line := fmt.Appendf(nil, `{"seq":%d,"durable":%d,"record":%s`, seq, at, record)
	return fmt.Appendf(line, `,"crc":"%08x"}`+"\n", checksum(line))
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// loadSums reads the file at path.
func loadSums(m mistake, fsys afero.Fs, path string) (records [][]byte, good, size int64, err error) {
	data, err := afero.ReadFile(fsys, path)
	if err != nil {
		return nil, 0, 0, err
	}
	size = int64(len(data))
	for good < size {
		line, _, ended := bytes.Cut(data[good:], []byte{'\n'})
		l, ok := m.parseSum(line)
		if !ok || !ended || l.seq != len(records)+1 {
			break
		}
		records = append(records, l.record)
		good += int64(len(line)) + 1
	}
	if good < size && vouched(data, good) {
		return nil, good, size, &lineError{path, len(records) + 1, good, "damaged, and a line behind it says that it was on the disk"}
	}
	return records, good, size, nil
}

// sumLine is what a line says.
type sumLine struct {
	seq     int
	durable int64
	record  []byte
}

// parseSum reads one line; false if it is not as it was written.
func (m mistake) parseSum(line []byte) (l sumLine, ok bool) {
	if m == SumReencoded {
		return reencoded(line)
	}
	at := bytes.LastIndex(line, []byte(sumMember))
	if at < 0 || string(line[at+len(sumMember):]) != fmt.Sprintf(`%08x"}`, checksum(line[:at])) {
		return l, false
	}
	head := line[:at]
	seq, rest, _ := bytes.Cut(bytes.TrimPrefix(head, []byte(`{"seq":`)), []byte(`,"durable":`))
	durable, record, _ := bytes.Cut(rest, []byte(`,"record":`))
	l.seq, _ = strconv.Atoi(string(seq)) // the checksum is right, so it is what was written
	l.durable, _ = strconv.ParseInt(string(durable), 10, 64)
	l.record = record
	return l, json.Valid(record)
}

// reencoded is parseSum with the checksum of the value that a decoder made of the line, encoded
// once more: what the decoder overlooks, the checksum does not see.
func reencoded(line []byte) (l sumLine, ok bool) {
	var v struct {
		Seq     int             `json:"seq"`
		Durable int64           `json:"durable"`
		Record  json.RawMessage `json:"record"`
		Sum     string          `json:"crc"`
	}
	if json.Unmarshal(line, &v) != nil {
		return l, false
	}
	again := sumOf("", v.Seq, v.Durable, v.Record)
	return sumLine{v.Seq, v.Durable, v.Record}, bytes.HasSuffix(again, []byte(sumMember+v.Sum+"\"}\n"))
}

// vouched reports whether a whole line at or behind a bad place says that the place was on the disk:
// the line that moved there when the one in front of it was lost says so too. It
// is looked for everywhere, not at the beginnings of lines only: a newline may have been lost.
func vouched(data []byte, bad int64) bool {
	begin := []byte(`{"seq":`)
	for at := int(bad); ; at++ {
		i := bytes.Index(data[min(at, len(data)):], begin)
		if i < 0 {
			return false
		}
		at += i
		line, _, _ := bytes.Cut(data[at:], []byte{'\n'})
		for end := len(line); end > 0; end = bytes.LastIndex(line[:end], []byte(sumMember)) { // a line may be glued to another
			if l, ok := mistake("").parseSum(line[:min(end+len(sumMember)+len(`01234567"}`), len(line))]); ok && l.durable > bad {
				return true
			}
		}
	}
}

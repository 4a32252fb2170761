package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Version is the trace format that [Encode] writes and the newest that [Decode] reads.
const Version = 1

type header struct {
	Unplug  string `json:"unplug"`
	Version int    `json:"version"`
}

// FormatError says where a trace file is wrong.
type FormatError struct {
	Line  int // from 1
	Cause error
}

// Error gives line and cause.
func (e *FormatError) Error() string { return fmt.Sprintf("trace line %d: %v", e.Line, e.Cause) }

// Unwrap gives the cause.
func (e *FormatError) Unwrap() error { return e.Cause }

// ErrVersion is the cause when a trace was written by a newer unplug.
var ErrVersion = errors.New("written by a newer unplug: upgrade unplug to read it")

// Encode writes ops as JSON lines, header first. Names and texts must be UTF-8: JSON has no
// other, and would change them in silence.
func Encode(w io.Writer, ops []Op) error {
	bw := bufio.NewWriter(w)
	enc := json.NewEncoder(bw)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(header{"trace", Version}); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	for i, op := range ops {
		if s, ok := op.notUTF8(); ok {
			return fmt.Errorf("trace: op %d: %q is not UTF-8: a trace file cannot hold it", i, s)
		}
		if err := enc.Encode(op); err != nil {
			return fmt.Errorf("trace: %w", err)
		}
	}
	return bw.Flush()
}

// notUTF8 finds a string of op that JSON would change.
func (o Op) notUTF8() (string, bool) {
	for _, s := range [...]string{o.Path, o.Path2, string(o.Result), o.Err, o.Fault, o.Text} {
		if !utf8.ValidString(s) {
			return s, true
		}
	}
	return "", false
}

// Decode reads what [Encode] wrote. Errors are of type [*FormatError]: a missing header, an
// unknown member or kind, a second value in a line, a newer version, an unterminated last line.
func Decode(r io.Reader) ([]Op, error) {
	br := bufio.NewReader(r)
	var ops []Op
	for line := 1; ; line++ {
		raw, err := br.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(raw) == 0 && line > 1 {
			return ops, nil
		}
		if errors.Is(err, io.EOF) {
			err = errors.New("the last line does not end: the file was cut")
		}
		if err != nil {
			return ops, &FormatError{line, err}
		}
		if line == 1 {
			err = decodeHeader(raw)
		} else {
			var op Op
			if err = decodeStrict(raw, &op); err == nil && op.Kind == KindNone {
				err = errors.New("the op has no kind")
			}
			if err == nil {
				ops = append(ops, op)
			}
		}
		if err != nil {
			return ops, &FormatError{line, err}
		}
	}
}

func decodeHeader(raw []byte) error {
	var h header
	if err := decodeStrict(raw, &h); err != nil || h.Unplug != "trace" || h.Version < 1 {
		return errors.New(`not a trace: want {"unplug":"trace","version":1}`)
	}
	if h.Version > Version {
		return fmt.Errorf("version %d: %w", h.Version, ErrVersion)
	}
	return nil
}

func decodeStrict(raw []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value in the line")
	}
	return nil
}

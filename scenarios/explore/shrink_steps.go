package explore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/unplug-go/unplug/scenarios/workload"
)

// tinyPrograms are small workloads made of a program's own steps, the smallest first: none at
// all, one step of each kind with short records, pairs of these, and the last steps as they are.
func tinyPrograms(p workload.Program) []workload.Program {
	var kinds workload.Program
	for _, k := range []workload.Kind{workload.Append, workload.Sync, workload.Reopen, workload.Batch, workload.Compact} {
		if i := slices.IndexFunc(p, func(s workload.Step) bool { return s.Kind == k }); i >= 0 {
			kinds = append(kinds, shorten(p[i], 0))
		}
	}
	out := []workload.Program{{}}
	for _, s := range kinds {
		out = append(out, workload.Program{s})
	}
	for _, a := range kinds {
		for _, b := range kinds {
			if a.Kind == b.Kind { // no record stands twice in a program
				b = shorten(second(p, b.Kind), 0)
			}
			if b.Kind != "" {
				out = append(out, workload.Program{a, b})
			}
		}
	}
	for n := 1; n < len(p); n *= 2 {
		out = append(out, p[len(p)-n:])
	}
	return out
}

// second is the second step of a kind; the zero step if there is none.
func second(p workload.Program, k workload.Kind) workload.Step {
	seen := false
	for _, s := range p {
		if s.Kind == k && seen {
			return s
		}
		seen = seen || s.Kind == k
	}
	return workload.Step{}
}

// lessOne are the attempts with one thing less: a crash, a rule of the plan, a step, a record.
func lessOne(a attempt) []attempt {
	var out []attempt
	for i := range a.program {
		b := a
		b.program = slices.Delete(slices.Clone(a.program), i, i+1)
		out = append(out, b)
	}
	for i := range a.crashes {
		if len(a.crashes) > 1 {
			b := a
			b.crashes = slices.Delete(slices.Clone(a.crashes), i, i+1)
			out = append(out, b)
		}
	}
	for i := range a.plan {
		b := a
		b.plan = slices.Delete(slices.Clone(a.plan), i, i+1)
		out = append(out, b)
	}
	for i, s := range a.program {
		for k := range s.Records {
			if s.Kind == workload.Batch && len(s.Records) > 1 {
				t := s
				t.Records = slices.Delete(slices.Clone(s.Records), k, k+1)
				out = append(out, a.with(i, t))
			}
		}
	}
	return out
}

// simpler are the attempts with the same steps and simpler ones among them: an append for a
// batch of one, one replacement in a compaction, short records.
func simpler(a attempt) []attempt {
	var out []attempt
	for i, s := range a.program {
		if s.Kind == workload.Batch && len(s.Records) == 1 {
			t := s
			t.Kind = workload.Append
			out = append(out, a.with(i, t))
		}
		if len(s.Replaces) > 1 {
			if t, ok := oneReplacement(s); ok {
				out = append(out, a.with(i, t))
			}
		}
	}
	for i, s := range a.program {
		for _, n := range []int{0, 64, 256, 512, 1024, 4096} {
			t := shorten(s, n)
			if size(t) < size(s) && !a.has(t, i) {
				out = append(out, a.with(i, t))
			}
		}
	}
	return out
}

// with is the attempt with another step i.
func (a attempt) with(i int, s workload.Step) attempt {
	a.program = slices.Clone(a.program)
	a.program[i] = s
	return a
}

// has reports whether a step other than i has one of the records of s: records that are equal
// cannot be told apart.
func (a attempt) has(s workload.Step, i int) bool {
	for k, other := range a.program {
		for _, r := range other.Records {
			if k != i && slices.ContainsFunc(s.Records, func(x []byte) bool { return bytes.Equal(x, r) }) {
				return true
			}
		}
	}
	return false
}

// size is how many bytes the records of a step have.
func size(s workload.Step) int {
	n := 0
	for _, r := range s.Records {
		n += len(r)
	}
	return n
}

// oneReplacement drops all but the first replacement of a compaction, in the step and in its
// first record.
func oneReplacement(s workload.Step) (workload.Step, bool) {
	list, one := bytes.Join(s.Replaces, []byte(",")), s.Replaces[0]
	if len(s.Records) == 0 || !bytes.Contains(s.Records[0], list) {
		return s, false
	}
	s.Records = slices.Clone(s.Records)
	s.Records[0] = bytes.Replace(s.Records[0], list, one, 1)
	s.Replaces = [][]byte{one}
	return s, true
}

// shorten makes the records of a step short, down to about n bytes of text in each, and keeps
// what they are: type, role, names, and the first word of a text.
func shorten(s workload.Step, n int) workload.Step {
	s.Records, s.Replaces = slices.Clone(s.Records), slices.Clone(s.Replaces)
	for _, list := range [][][]byte{s.Records, s.Replaces} {
		for i := range list {
			if short, ok := shortRecord(list[i], n); ok {
				list[i] = short
			}
		}
	}
	return s
}

// wordLen is how long a text may be that is left as it is.
const wordLen = 16

// shortText is the first word of a long text, filled up to n bytes.
func shortText(text string, n int) string {
	word, _, _ := strings.Cut(text, " ")
	numbered := len(word) > 1 && word[0] == 'r' && strings.Trim(word[1:], "0123456789") == "" // the generator's texts
	if !numbered && len(text) <= wordLen {
		return text
	}
	for len(word) > wordLen || !utf8.ValidString(word) {
		word = word[:len(word)-1]
	}
	if n > len(word) && n < len(text) {
		word += " " + strings.Repeat("x", n-len(word)-1)
	}
	return word
}

// shortRecord shortens the texts in a JSON object, and leaves its members in their order.
func shortRecord(record []byte, n int) ([]byte, bool) {
	dec := json.NewDecoder(bytes.NewReader(record))
	dec.UseNumber()
	var b bytes.Buffer
	if len(record) == 0 || record[0] != '{' || !json.Valid(record) || shortValue(dec, &b, "", n) != nil {
		return nil, false
	}
	return b.Bytes(), b.Len() < len(record)
}

// shortValue copies the value of the member name.
func shortValue(dec *json.Decoder, b *bytes.Buffer, name string, n int) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		return shortInside(dec, b, n, v)
	case string:
		if name == "type" || name == "role" || name == "name" {
			return writeJSON(b, v)
		}
		return writeJSON(b, shortText(v, n))
	default:
		return writeJSON(b, v)
	}
}

// shortInside copies the members of an object or the elements of an array.
func shortInside(dec *json.Decoder, b *bytes.Buffer, n int, open json.Delim) error {
	b.WriteString(open.String())
	for first := true; dec.More(); first = false {
		if !first {
			b.WriteByte(',')
		}
		name := ""
		if open == '{' {
			token, err := dec.Token()
			if err != nil {
				return err
			}
			name, _ = token.(string)
			if err := writeJSON(b, name); err != nil {
				return err
			}
			b.WriteByte(':')
		}
		if err := shortValue(dec, b, name, n); err != nil {
			return err
		}
	}
	end, err := dec.Token()
	if err != nil {
		return err
	}
	fmt.Fprint(b, end)
	return nil
}

// writeJSON writes a scalar without escaping what HTML needs escaped.
func writeJSON(b *bytes.Buffer, v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the encoder's newline
	return nil
}

package oracle

import (
	"bytes"
	"fmt"
)

// CheckAgain judges the recovery after one more record was appended to a recovered journal
// and acknowledged: UP204, UP206, UP207 and UP211. before is what the first recovery returned.
func CheckAgain(before [][]byte, appended []byte, o Outcome) []Violation {
	want := append(append([][]byte(nil), before...), appended)
	fail := func(rule, text string, got []string) []Violation {
		return []Violation{{Rule: rule, Text: text, Want: Words(want), Got: got}}
	}
	if o.Class == NotFound {
		return fail("UP211", "the journal's name is lost, with an acknowledged record in it", []string{o.Err})
	}
	if o.Class != OK {
		return fail("UP206", "after one more append, recovery "+o.Class.String(), []string{o.Err})
	}
	got := o.Recovered.Records
	for i := range before {
		if i >= len(got) || !bytes.Equal(got[i], before[i]) {
			return fail("UP207", fmt.Sprintf("record %d of the first recovery is missing or changed in the second", i), Words(got))
		}
	}
	switch {
	case len(got) == len(before):
		return fail("UP206", "the record that was appended and acknowledged after recovery is lost", Words(got))
	case !bytes.Equal(got[len(before)], appended):
		return fail("UP206", "another record stands in the place of the one that was appended after recovery", Words(got))
	case len(got) > len(want):
		return fail("UP202", "more records came back than were appended", Words(got))
	case o.Recovered.Tail.Length > 0:
		return []Violation{{
			Rule: "UP204", Text: "a tail was reported behind a record that was appended and acknowledged",
			Want: []string{"no tail"}, Got: []string{fmt.Sprintf("a tail at %d, %d bytes", o.Recovered.Tail.Offset, o.Recovered.Tail.Length)},
		}}
	}
	return nil
}

// Repeats reports whether an open for writing returned what recovery had returned.
func Repeats(first, second [][]byte) bool { return sameRecords(first, second) }

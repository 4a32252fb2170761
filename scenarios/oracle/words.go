package oracle

import (
	"fmt"
	"unicode/utf8"
)

// wordMax is how much of a record a finding shows.
const wordMax = 48

// Word is a record in a finding: its beginning as text, and its length.
func Word(record []byte) string {
	if len(record) <= wordMax && utf8.Valid(record) {
		return string(record)
	}
	cut := min(len(record), wordMax)
	for cut > 0 && cut < len(record) && !utf8.RuneStart(record[cut]) {
		cut--
	}
	if !utf8.Valid(record[:cut]) {
		return fmt.Sprintf("%q… (%d bytes)", record[:min(cut, 16)], len(record))
	}
	return fmt.Sprintf("%s… (%d bytes)", record[:cut], len(record))
}

// Words are several records.
func Words(records [][]byte) []string {
	out := make([]string, len(records))
	for i, r := range records {
		out[i] = Word(r)
	}
	return out
}

func words(calls []Call, from, to int) []string {
	var out []string
	for i := from; i < min(to, len(calls)); i++ {
		out = append(out, Word(calls[i].Record))
	}
	return out
}

func syncedWords(p Promise) []string {
	var out []string
	for _, c := range p.Calls {
		if c.Synced {
			out = append(out, Word(c.Record))
		}
	}
	return out
}

package main

import "github.com/unplug-go/unplug/scenarios/oracle"

// byteRules are what verify and inspect may find in a file, in the order of their IDs.
func byteRules() []oracle.Rule {
	return []oracle.Rule{
		{
			ID: "UP101", Name: "torn tail",
			What: "The file ends with the last accepted line and its newline.",
			Risk: "None for what was acknowledged: a crash cut an append that had not returned. Its bytes are not a record.",
			Next: "Nothing: the next open for writing keeps the bytes beside the file, cuts the tail, and goes on.",
		},
		{
			ID: "UP102", Name: "complete JSON without newline",
			What: "The last record ends with a newline.",
			Risk: "A reader that takes only terminated lines does not see the last record; an append that does not look glues to it.",
			Next: "Nothing: it counts as a record, and the next open for writing ends its line first.",
		},
		{
			ID: "UP103", Name: "glued record",
			What: "A line holds one record.",
			Risk: "A writer went on behind a torn tail without cutting it: the torn piece and the record behind it are one bad line, and a reader that skips it loses a record that was acknowledged.",
			Next: "Keep a copy of the file. The record behind the torn piece can be read by hand; mend the writer, which must cut or end a torn tail first.",
		},
		{
			ID: "UP104", Name: "NUL run",
			What: "A line holds no NUL bytes.",
			Risk: "After a power cut a file's size can be on disk and its bytes not; they read as NULs. Behind the last sync that is a torn tail; in front of it, data is lost.",
			Next: "As a tail: nothing, the next open for writing cuts it. In front of other lines: --contract watermark reads on if nothing vouches for the place; else restore the file from a copy.",
		},
		{
			ID: "UP105", Name: "bad line",
			What: "Each line is one JSON object that its own checksum verifies.",
			Risk: "A line was changed, or two were glued together: what it said cannot be trusted, and a strict reader stops there.",
			Next: "Keep a copy of the file. Read the trusted prefix; restore the rest from a backup or a mirror.",
		},
		{
			ID: "UP106", Name: "sequence gap or duplicate",
			What: "Sequence numbers count up by one, and each line names the checksum of the one before it.",
			Risk: "Lines were lost, repeated or moved: each is whole, and the history is not.",
			Next: "Look for a second writer or a merge of two copies; the trusted prefix is right.",
		},
		{
			ID: "UP107", Name: "byte order mark",
			What: "The file begins with an object, with no byte order mark in front.",
			Risk: "An editor has saved the file, and may have changed more; strict readers refuse the first line.",
			Next: "Remove the three bytes from a copy, and verify that.",
		},
		{
			ID: "UP109", Name: "unsupported version",
			What: "Every line is of a schema version that this program knows.",
			Risk: "None to the file: a newer program has written it, and this one must not guess what it means.",
			Next: "Read it with a newer unplug.",
		},
		{
			ID: "UP110", Name: "oversized line",
			What: "No line is longer than the limit.",
			Risk: "A line without an end makes a reader take all memory.",
			Next: "Look where the newline is missing; raise --max-line if lines of that length are meant.",
		},
	}
}

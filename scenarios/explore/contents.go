package explore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// content is a record that some journals cannot keep as it is.
type content struct {
	name   string
	record string
}

// contents are records that writers and readers disagree about in the field: encodings, line
// ends, numbers, lengths, and bytes that are no JSON object at all.
func contents() []content {
	said := func(name, inString string) content {
		return content{name, `{"type":"message","role":"user","content":"` + inString + `"}`}
	}
	return []content{
		said("lone surrogate", `half a pair: \ud800 `),
		said("surrogates in the wrong order", `\udc00\ud800`),
		said("escaped letters", `\u00fc \/ \u0041`),
		said("bytes that are not UTF-8", "a\xff\xfeb"),
		said("overlong UTF-8", "a\xc0\xafb"),
		said("escaped NUL", `a\u0000b`),
		said("raw NUL", "a\x00b"),
		said("raw newline in a string", "a\nb"),
		said("carriage return in a string", "a\rb"),
		said("line separators of Unicode", "a\u2028b\u2029c\u0085d"),
		said("byte order mark in a string", "\ufeffa"),
		said("a line of the log in a string", `\n{\"seq\":9,\"record\":{}}\n`),
		said("64 KiB", strings.Repeat("0123456789abcdef", 64<<10/16)),
		said("1 MiB", strings.Repeat("0123456789abcdef", 1<<20/16)),
		{"newline between two members", "{\"type\":\"message\",\n\"role\":\"user\"}"},
		{"carriage return behind it", "{\"type\":\"message\"}\r"},
		{"newline behind it", "{\"type\":\"message\"}\n"},
		{"spaces between members", `{"type": "message", "role": "user"}`},
		{"numbers that a float cannot hold", `{"type":"message","n":[12345678901234567890123,1e400,-0,1.0,1E2,0.1000]}`},
		{"a member that stands twice", `{"type":"message","a":1,"a":2}`},
		{"members that look like the log's own", `{"type":"message","seq":7,"sequence":7,"crc":"00000000","record":{},"schema_version":99}`},
		{"deep nesting", `{"type":"message","a":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + "}"},
		{"angle brackets", `{"type":"message","content":"<b>&amp;</b>"}`},
		{"half an object", `{"type":"message","content":"ab`},
		{"two objects", `{"type":"message"}{"type":"message"}`},
		{"not an object", `["type","message"]`},
		{"no bytes", ""},
	}
}

// contentScene gives the subject records that are hard to keep, between two that are not. It may
// refuse one with an error, which must then leave no trace, or take it and give it back byte for
// byte, but for white space between the tokens of JSON, which says nothing.
func contentScene(ctx context.Context, s *stage) error {
	var refused []string
	for _, c := range contents() {
		if ctx.Err() != nil || s.stop() {
			return ctx.Err()
		}
		if s.cfg.Subject.Encode != nil && !isObject([]byte(c.record)) {
			continue // Subject.Encode takes objects
		}
		t := s.judge.keepsContent(c)
		if t.refused {
			refused = append(refused, c.name)
		}
		s.tried(t.violations, t.story, report.Repro{}, c.name)
	}
	s.row.Note = fmt.Sprintf("%d kept, %d refused with an error", s.row.Tried-len(refused), len(refused))
	return nil
}

func isObject(b []byte) bool {
	return json.Valid(b) && bytes.HasPrefix(bytes.TrimSpace(b), []byte("{"))
}

// contentTry is what became of one content.
type contentTry struct {
	refused    bool
	violations []oracle.Violation
	story      string
}

// keepsContent appends a content between two plain records, and reads all of them back.
func (j *judge) keepsContent(c content) contentTry {
	plain := func(text string) workload.Step {
		return workload.Step{Kind: workload.Append, Records: [][]byte{[]byte(`{"type":"message","role":"user","content":"` + text + `"}`)}}
	}
	before, after := plain("before"), plain("behind")
	hostile := workload.Step{Kind: workload.Append, Records: [][]byte{[]byte(c.record)}}
	mem := faultfs.NewMem(image.New())
	budget := faultfs.WithOpLimit(opBudget + 8*len(c.record))
	var failed []workload.CallError
	var end *oracle.Outcome
	var got oracle.Outcome
	d := workload.Driver{Subject: j.subject, AckOnAppend: j.contract.AckOn == oracle.AckAppend}
	if !within(j.patience, func() {
		failed, end = j.drive(&d, faultfs.New(mem, budget), workload.Program{before, hostile, after, {Kind: workload.Sync}})
		j.letGo(&d)
		got = j.recover(faultfs.New(faultfs.NewMem(mem.Image()), budget))
	}) {
		got = oracle.Outcome{Class: oracle.Hung, Err: fmt.Sprintf("no answer in %d s", j.patience)}
	}
	t := contentTry{story: "append a plain record · append " + c.name + " · append a plain record · sync · recover"}
	want := [][]byte{j.encode(before.Records[0])}
	behind := true
	for _, f := range failed {
		switch f.Step {
		case 1:
			t.refused = true
		case 2:
			behind = false // what was refused may have poisoned it
		}
	}
	if !t.refused {
		want = append(want, j.encode(hostile.Records[0]))
	}
	if behind {
		want = append(want, j.encode(after.Records[0]))
	}
	var v oracle.Verdict
	differ := func(text string, got []string) { v.Add("UP202", c.name+": "+text, wordsOf(want), got) }
	switch {
	case end != nil:
		differ("the append did not come back", []string{end.Err})
	case got.Class != oracle.OK && t.refused:
		differ("the append was refused, and the log cannot be read any more", []string{got.Err})
	case got.Class != oracle.OK:
		differ("the append was taken, and the log cannot be read any more", []string{got.Err})
	case !sameJSON(want, got.Recovered.Records) && t.refused:
		differ("the append was refused, and something of it is there, or of its neighbours is not", wordsOf(got.Recovered.Records))
	case !sameJSON(want, got.Recovered.Records):
		differ("the record was taken, and does not come back as it was", wordsOf(got.Recovered.Records))
	}
	t.violations = v.Violations
	return t
}

// sameJSON compares records, but for white space between tokens.
func sameJSON(want, got [][]byte) bool {
	return slices.EqualFunc(want, got, func(a, b []byte) bool {
		var compact bytes.Buffer
		return bytes.Equal(a, b) || json.Compact(&compact, a) == nil && bytes.Equal(compact.Bytes(), b)
	})
}

func wordsOf(records [][]byte) []string {
	out := []string{}
	for _, r := range records {
		out = append(out, oracle.Word(r))
	}
	return out
}

// replayContent gives the subject one content again.
func replayContent(j *judge, p *report.Repro, args []string) (*Replayed, error) {
	for _, c := range contents() {
		if len(args) == 1 && c.name == args[0] {
			t := j.keepsContent(c)
			return replayed(p, t.violations, t.story), nil
		}
	}
	return nil, fmt.Errorf("contents %q: this version has no such record", args)
}

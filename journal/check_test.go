package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// refStrict is the same judgement, slow and plain: what package encoding/json takes, without
// what it should not take.
func refStrict(b []byte) bool {
	return json.Valid(b) && utf8.Valid(b) && bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{")) &&
		refSurrogates(b) && refKeysAndDepth(b)
}

// refSurrogates finds halves of surrogate pairs: it takes away what is no \u escape, then the
// whole pairs.
func refSurrogates(b []byte) bool {
	s := strings.ReplaceAll(string(b), `\\`, "")
	s = regexp.MustCompile(`(?i)\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}`).ReplaceAllString(s, "")
	return !regexp.MustCompile(`(?i)\\ud[89a-f]`).MatchString(s)
}

func refKeysAndDepth(b []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	type frame struct {
		keys map[string]bool // nil for an array
		key  bool            // a key is due
	}
	var stack []frame
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil {
			return false
		}
		if d, ok := tok.(json.Delim); ok && (d == '}' || d == ']') {
			stack = stack[:len(stack)-1]
			continue
		}
		if n := len(stack); n > 0 && stack[n-1].keys != nil {
			top := &stack[n-1]
			if top.key {
				if top.keys[tok.(string)] {
					return false
				}
				top.keys[tok.(string)] = true
			}
			top.key = !top.key
		}
		switch tok {
		case json.Delim('{'):
			stack = append(stack, frame{map[string]bool{}, true})
		case json.Delim('['):
			stack = append(stack, frame{})
		}
		if len(stack) > maxDepth {
			return false
		}
	}
}

// strictCases are texts by what is wrong with them; "" is nothing.
func strictCases() []struct{ text, bad string } {
	deep := func(n int) string {
		return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n)
	}
	many := func(last string) string {
		var b strings.Builder
		b.WriteByte('{')
		for i := range 40 {
			b.WriteString(`"k` + string(rune('a'+i%26)) + string(rune('a'+i/26)) + `":1,`)
		}
		return b.String() + `"` + last + `":1}`
	}
	return []struct{ text, bad string }{
		{`{}`, ""},
		{` {"a" : [ 1 , -0.5e+3 , true , false , null , "x" ] } `, ""},
		{`{"a":"\ud83d\ude00 \u00e9 \" \\ \/ \b\f\n\r\t"}`, ""},
		{"{\"a\":\"caf\u00e9 \u2028 \U0001f600\"}", ""},
		{`{"a":{"a":1},"b":{"a":1}}`, ""},
		{many("zz"), ""},
		{deep(maxDepth), ""},
		{deep(maxDepth + 1), "nested too deep"},
		{deep(100_000), "nested too deep"},
		{strings.Repeat("[", 100_000), "not a JSON object"},
		{``, "not a JSON object"},
		{`null`, "not a JSON object"},
		{`[1]`, "not a JSON object"},
		{`{"a":1}{"b":2}`, "bytes behind the end"},
		{`{"a":1}` + "\x00", "bytes behind the end"},
		{`{"a":1,"a":2}`, "a key stands twice"},
		{`{"a":1,"\u0061":2}`, "a key stands twice"},
		{`{"x":[{"a":1,"b":{},"a":2}]}`, "a key stands twice"},
		{many("kab"), "a key stands twice"},
		{many(`k\u0061b`), "a key stands twice"},
		{`{"a":"\ud800"}`, "half of a surrogate"},
		{`{"a":"\udc00"}`, "half of a surrogate"},
		{`{"a":"\ud800\ud800"}`, "half of a surrogate"},
		{`{"a":"\ud800x"}`, "half of a surrogate"},
		{`{"a":"\x"}`, "a bad escape"},
		{`{"a":"\u12g4"}`, "a bad escape"},
		{`{"a":"\`, "a bad escape"},
		{"{\"a\":\"caf\xe9\"}", "not UTF-8"},
		{"{\"a\":\"\xc0\x80\"}", "not UTF-8"},
		{"{\"a\":\"\xed\xa0\x80\"}", "not UTF-8"},
		{"{\"a\":\"12345678\x00\"}", "control character"},
		{"{\"a\":\"\t\"}", "control character"},
		{`{"a":"b`, "does not end"},
		{`{"a":01}`, "not a JSON value"},
		{`{"a":-}`, "not a JSON value"},
		{`{"a":+1}`, "not a JSON value"},
		{`{"a":.5}`, "not a JSON value"},
		{`{"a":1.}`, "without digits behind its point"},
		{`{"a":1e}`, "without digits in its exponent"},
		{`{"a":NaN}`, "not a JSON value"},
		{`{"a":nul}`, "not a JSON value"},
		{`{"a":1,}`, "key is not a string"},
		{`{"a"}`, "no colon"},
		{`{a:1}`, "key is not a string"},
		{`{"a":[1,]}`, "not a JSON value"},
		{`{"a":[1 2]}`, "not a comma"},
		{`{"a":1`, "ends too early"},
		{`{"a":`, "ends too early"},
		{`{"a"`, "ends too early"},
		{`{"a":1,`, "ends too early"},
		{`{"a":[`, "ends too early"},
		{`{`, "ends too early"},
		{"\xef\xbb\xbf{}", "not a JSON object"},
	}
}

func TestCheckerSaysWhatIsWrong(t *testing.T) {
	var c checker
	for _, tt := range strictCases() {
		name := tt.text[:min(len(tt.text), 40)]
		ok := c.object([]byte(tt.text))
		assert.Equal(t, tt.bad == "", ok, "%s: %s", name, c.bad)
		assert.Contains(t, c.bad, tt.bad, name)
		if len(tt.text) < 50_000 { // the reference walks slowly
			assert.Equal(t, tt.bad == "", refStrict([]byte(tt.text)), "the reference on %s", name)
		}
	}
}

// drawJSON draws JSON texts, now and then with a mistake.
func drawJSON(t *rapid.T, depth int) string {
	pieces := rapid.SampledFrom([]string{"1", "-0.5e3", `"x"`, `"\u0061"`, `"\ud83d\ude00"`, `"\ud83d"`, "true", "null", "01", "é", `"é"`, "{}", "[]", "\"\xff\""})
	if depth == 0 {
		return pieces.Draw(t, "leaf")
	}
	key := rapid.SampledFrom([]string{`"a"`, `"b"`, `"\u0061"`, `"c\n"`, `"é"`, "a"})
	space := rapid.SampledFrom([]string{"", "", "", " ", "\t"})
	var b strings.Builder
	n := rapid.IntRange(0, 3).Draw(t, "members")
	object := rapid.Bool().Draw(t, "object")
	b.WriteString(map[bool]string{true: "{", false: "["}[object])
	for i := range n {
		if i > 0 {
			b.WriteString("," + space.Draw(t, "space"))
		}
		if object {
			b.WriteString(key.Draw(t, "key") + space.Draw(t, "space") + ":")
		}
		b.WriteString(drawJSON(t, depth-1))
	}
	b.WriteString(map[bool]string{true: "}", false: "]"}[object])
	return b.String()
}

func TestCheckerAgreesWithTheReference(t *testing.T) {
	var c checker
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(drawJSON(t, rapid.IntRange(1, 3).Draw(t, "depth")))
		if rapid.IntRange(0, 3).Draw(t, "damage") == 0 && len(text) > 0 {
			text[rapid.IntRange(0, len(text)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		require.Equal(t, refStrict(text), c.object(text), "%q: %s", text, c.bad)
	})
}

// FuzzScan holds the checker, and the walk over what it accepts, against package encoding/json.
func FuzzScan(f *testing.F) {
	for _, tt := range strictCases() {
		if len(tt.text) < 4096 {
			f.Add([]byte(tt.text))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var c checker
		ok := c.object(text)
		require.Equal(t, refStrict(text), ok, "%q: %s", text, c.bad)
		if !ok {
			return
		}
		want := map[string]json.RawMessage{}
		require.NoError(t, json.Unmarshal(text, &want))
		got := map[string]json.RawMessage{}
		eachMember(text, func(m member) bool { got[m.name()] = m.value; return true })
		require.Equal(t, want, got)
		var packed bytes.Buffer
		require.NoError(t, json.Compact(&packed, text))
		require.Equal(t, packed.String(), string(compact(nil, text)))
	})
}

func TestQuotedTextComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune{'"', '\\', '\n', 0, 0x7f, 0x85, 0x2028, 0x2029, 0x1f600, 'a'}))).Draw(t, "s")
		quoted, ok := appendQuoted(nil, s)
		require.True(t, ok)
		var back string
		require.NoError(t, json.Unmarshal(quoted, &back))
		require.Equal(t, s, back)
		require.Equal(t, s, string(appendUnquoted(nil, quoted[1:len(quoted)-1])))
		for _, breaker := range []string{"\u0085", "\u2028", "\u2029", "\n", "\r", "\x7f"} {
			require.NotContains(t, string(quoted), breaker, "other readers break lines there")
		}
	})
	_, ok := appendQuoted(nil, "caf\xe9")
	require.False(t, ok)
}

package trace_test

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/faultfs/trace"
)

func drawOp(t *rapid.T) trace.Op {
	ino := func(label string) trace.Ino { return trace.Ino(rapid.Uint64().Draw(t, label)) }
	text := rapid.String()
	op := trace.Op{
		Kind: rapid.Custom(func(t *rapid.T) trace.Kind {
			return trace.Kind(rapid.Uint8Range(uint8(trace.Create), uint8(trace.Note)).Draw(t, "kind"))
		}).Draw(t, "kind"),
		Ino: ino("ino"), Dir: ino("dir"), Dir2: ino("dir2"), Target: ino("target"),
		Path: text.Draw(t, "path"), Path2: text.Draw(t, "path2"),
		Off: rapid.Int64().Draw(t, "off"), Size: rapid.Int64().Draw(t, "size"), Len: rapid.Int().Draw(t, "len"),
		Mode:   fs.FileMode(rapid.Uint32().Draw(t, "mode")),
		Result: rapid.SampledFrom(append(trace.SyncResults(), trace.SyncOK)).Draw(t, "result"),
		Err:    text.Draw(t, "err"), Fault: text.Draw(t, "fault"), Text: text.Draw(t, "text"),
	}
	if data := rapid.SliceOf(rapid.Byte()).Draw(t, "data"); len(data) > 0 {
		op.Data = data
	}
	return op
}

func TestDecodeGivesWhatEncodeTook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ops := rapid.SliceOfN(rapid.Custom(drawOp), 0, 5).Draw(t, "ops")
		var b bytes.Buffer
		require.NoError(t, trace.Encode(&b, ops))
		require.Equal(t, len(ops)+1, strings.Count(b.String(), "\n"), "a line each, and the header")
		again, err := trace.Decode(bytes.NewReader(b.Bytes()))
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(append([]trace.Op(nil), ops...), again))
	})
}

// A trace that was cut is never taken for a shorter one, except between two lines, where
// nothing can tell.
func TestDecodeACutTrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ops := rapid.SliceOfN(rapid.Custom(drawOp), 0, 3).Draw(t, "ops")
		var b bytes.Buffer
		require.NoError(t, trace.Encode(&b, ops))
		cut := rapid.IntRange(0, b.Len()-1).Draw(t, "cut")
		text := b.Bytes()[:cut]
		again, err := trace.Decode(bytes.NewReader(text))
		if cut > 0 && text[cut-1] == '\n' {
			require.NoError(t, err)
			require.Len(t, again, bytes.Count(text, []byte("\n"))-1)
			return
		}
		var at *trace.FormatError
		require.ErrorAs(t, err, &at)
		require.Equal(t, bytes.Count(text, []byte("\n"))+1, at.Line)
	})
}

func TestDecodeErrors(t *testing.T) {
	const header = `{"unplug":"trace","version":1}` + "\n"
	for _, c := range []struct {
		text, want string
		line       int
	}{
		{"", "the last line does not end", 1},
		{"{}\n", `not a trace: want {"unplug":"trace","version":1}`, 1},
		{`{"unplug":"repro","version":1}` + "\n", "not a trace", 1},
		{`{"unplug":"trace","version":0}` + "\n", "not a trace", 1},
		{`{"unplug":"trace","version":1,"x":1}` + "\n", "not a trace", 1},
		{`{"unplug":"trace","version":2}` + "\n", "version 2: written by a newer unplug", 1},
		{header + `{"kind":"write"}`, "the last line does not end", 2},
		{header + `{"kind":"sync"}` + "\n" + `{"kind":"melt"}` + "\n", `unknown operation "melt", want one of create, mkdir, write`, 3},
		{header + `{"kind":"none"}` + "\n", `unknown operation "none"`, 2},
		{header + `{"kind":"sync","colour":1}` + "\n", `unknown field "colour"`, 2},
		{header + `{"kind":"sync"} {"kind":"sync"}` + "\n", "more than one value", 2},
		{header + `{"kind":"sync"}}` + "\n", "more than one value", 2},
		{header + `{"path":"/a"}` + "\n", "no kind", 2},
		{header + "\n", "EOF", 2},
	} {
		_, err := trace.Decode(strings.NewReader(c.text))
		var at *trace.FormatError
		require.ErrorAs(t, err, &at, c.text)
		require.Equal(t, c.line, at.Line, c.text)
		require.ErrorContains(t, err, c.want, c.text)
	}
	_, err := trace.Decode(strings.NewReader(`{"unplug":"trace","version":9}` + "\n"))
	require.ErrorIs(t, err, trace.ErrVersion)
}

// full is a writer with room for a few bytes.
type full struct{ room int }

var errFull = errors.New("full")

func (f *full) Write(p []byte) (int, error) {
	n := min(f.room, len(p))
	f.room -= n
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

func TestEncodeRefusesWhatJSONWouldChange(t *testing.T) {
	ops := []trace.Op{{Kind: trace.Note}, {Kind: trace.Create, Path: "/caf\xe9"}}
	require.ErrorContains(t, trace.Encode(new(bytes.Buffer), ops), `op 1: "/caf\xe9" is not UTF-8`)
	ops[1] = trace.Op{Kind: trace.Write, Path: "/a", Data: []byte("caf\xe9")}
	require.NoError(t, trace.Encode(new(bytes.Buffer), ops), "bytes are base64")
}

func TestEncodeSaysWhenItCannotWrite(t *testing.T) {
	ops := []trace.Op{{Kind: trace.Write, Data: make([]byte, 9000)}, {Kind: trace.Note, Text: "end"}}
	for _, room := range []int{0, 10, 100, 9000} {
		require.ErrorIs(t, trace.Encode(&full{room}, ops), errFull)
	}
}

package journal

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkEncode makes the line of one event, its payload checked, quoted and all, and the same
// with json.Encoder, which checks less and has no checksum. Figure: at most 0.7, no allocations.
func BenchmarkEncode(b *testing.B) {
	for name, content := range map[string]string{
		"40B":   "Which herbs need water today? The basil?",
		"1.1kB": strings.Repeat("Water the basil, not the \"thyme\".\n", 33),
	} {
		e := Message("user", content)
		now := time.Date(2026, 8, 20, 9, 0, 0, 5000, time.UTC)
		b.Run(name+"/journal", func(b *testing.B) {
			var c checker
			var members, out []byte
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if members, err = appendMembers(members[:0], &e, &c); err != nil {
					b.Fatal(err)
				}
				out, _ = appendLine(out[:0], envelope{session: "herb-bed", now: now, seq: 12345, durable: 987654, prev: 77}, e.Type, members)
			}
		})
		b.Run(name+"/json.Encoder", func(b *testing.B) {
			type record struct {
				Version  int       `json:"schema_version"`
				Sequence int64     `json:"sequence"`
				Session  string    `json:"session_id"`
				ID       string    `json:"event_id"`
				Recorded time.Time `json:"recorded_at"`
				Type     string    `json:"type"`
				Role     string    `json:"role"`
				Content  string    `json:"content"`
				Durable  int64     `json:"durable"`
				Prev     string    `json:"prev"`
				CRC      string    `json:"crc"`
			}
			enc := json.NewEncoder(io.Discard)
			enc.SetEscapeHTML(false)
			r := record{1, 12345, "herb-bed", "transcript:herb-bed:12345", now, "message", "user", content, 987654, "0000004d", "0000004d"}
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, enc.Encode(&r))
			}
		})
	}
}

// BenchmarkChecker checks a megabyte of JSON.
func BenchmarkChecker(b *testing.B) {
	text := []byte(`{"lines":[` + strings.TrimSuffix(strings.Repeat(`{"path":"beds.txt","content":"Water the basil, not the thyme.\nThe bed is dry.","n":12},`, 12_000), ",") + `]}`)
	var c checker
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if !c.object(text) {
			b.Fatal(c.bad)
		}
	}
}

func TestEncodingAllocatesNothing(t *testing.T) {
	e := Message("user", strings.Repeat("Water the basil, not the \"thyme\".\n", 33))
	var c checker
	var members, out []byte
	now := time.Date(2026, 8, 20, 9, 0, 0, 5000, time.UTC)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		members, _ = appendMembers(members[:0], &e, &c)
		out, _ = appendLine(out[:0], envelope{session: "herb-bed", now: now, seq: 12345, durable: 987654, prev: 77}, e.Type, members)
	}))
}

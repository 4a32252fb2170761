package journal

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func tick() time.Time { return time.Date(2026, 8, 20, 9, 0, 0, 5000, time.UTC) }

func TestALineComesBackAsItWasWritten(t *testing.T) {
	var c checker
	rapid.Check(t, func(t *rapid.T) {
		value, err := json.Marshal(rapid.MapOf(rapid.StringMatching(`x[a-z]{0,5}`), rapid.String()).Draw(t, "payload"))
		require.NoError(t, err)
		typ := rapid.StringN(1, 10, 40).Draw(t, "type")
		v := envelope{
			session: rapid.StringMatching(`[a-zé ._-]{1,12}`).Draw(t, "session"), now: tick(),
			seq: rapid.Int64Range(1, 1<<62).Draw(t, "seq"), durable: rapid.Int64Range(0, 1<<62).Draw(t, "durable"),
			prev: rapid.Uint32().Draw(t, "prev"),
		}
		members := value[1 : len(value)-1]
		raw, crc := appendLine(nil, v, typ, members)
		require.True(t, json.Valid(raw))
		require.Equal(t, byte('\n'), raw[len(raw)-1])
		ln, cause := c.verify(raw[:len(raw)-1])
		require.Empty(t, cause)
		require.Equal(t, v.session, string(ln.session))
		require.Equal(t, v.seq, ln.seq)
		require.Equal(t, v.durable, ln.durable)
		require.Equal(t, v.prev, ln.prev)
		require.Equal(t, crc, ln.crc)
		require.Equal(t, typ, string(appendUnquoted(nil, ln.typ)))
		require.Equal(t, "2026-08-20T09:00:00.000005Z", string(ln.recorded))
		require.Equal(t, string(members), strings.TrimPrefix(string(ln.raw[ln.from:ln.to]), ","))
		require.LessOrEqual(t, len(raw), lineRoom+2*len(v.session)+6*len(typ)+len(members), "or a reader with the same limit refuses it")
	})
}

func TestEveryFlippedBitOfALineShows(t *testing.T) {
	var c checker
	raw, _ := appendLine(nil, envelope{session: "garden", now: tick(), seq: 12, durable: 345, prev: 0xabcdef01}, TypeMessage, []byte(`"role":"user","content":"caf\u00e9 é"`))
	raw = raw[:len(raw)-1]
	_, cause := c.verify(raw)
	require.Empty(t, cause)
	for i := range raw {
		for bit := range 8 {
			raw[i] ^= 1 << bit
			_, cause := c.verify(raw)
			assert.NotEmpty(t, cause, "byte %d, bit %d", i, bit)
			raw[i] ^= 1 << bit
		}
	}
	for n := range raw {
		_, cause := c.verify(raw[:n])
		assert.NotEmpty(t, cause, "the first %d bytes", n)
	}
}

// sign makes a checked line out of a body, so that only its form can be wrong.
func sign(body string) []byte {
	b := append([]byte(body), `,"crc":"`...)
	return append(appendHex(b, crcOf([]byte(body))), litEnd...)
}

func TestALineThatIsSignedAndWrongIsRefused(t *testing.T) {
	const good = `{"schema_version":1,"sequence":3,"session_id":"s","event_id":"transcript:s:3","recorded_at":"t","type":"message","a":1,"durable":0,"prev":"00000000"`
	var c checker
	_, cause := c.verify(sign(good))
	require.Empty(t, cause)
	for _, tt := range []struct{ reason, old, new string }{
		{"another version's spelling", `"schema_version":1`, `"schema_version":01`},
		{"version 0", `"schema_version":1`, `"schema_version":0`},
		{"sequence 0", `"sequence":3`, `"sequence":0`},
		{"a sequence with a sign", `"sequence":3`, `"sequence":+3`},
		{"a sequence past 64 bits", `"sequence":3`, `"sequence":9223372036854775808`},
		{"an event id of another sequence", `transcript:s:3`, `transcript:s:4`},
		{"an event id of another session", `transcript:s:3`, `transcript:r:3`},
		{"no session", `"session_id":"s","event_id":"transcript:s:3"`, `"session_id":"","event_id":"transcript::3"`},
		{"a control character in the session", `"s"`, "\"\t\""},
		{"members in another order", `"recorded_at":"t","type":"message"`, `"type":"message","recorded_at":"t"`},
		{"white space", `"type":"message"`, `"type": "message"`},
		{"no type", `"type":"message"`, `"type":""`},
		{"a type that is no string", `"type":"message"`, `"type":1`},
		{"a payload that is no JSON", `"a":1`, `"a":01`},
		{"a payload with a key twice", `"a":1`, `"a":1,"a":1`},
		{"a payload with half a surrogate", `"a":1`, `"a":"\ud800"`},
		{"an empty payload with its comma", `"a":1,`, `,`},
		{"no durable", `"durable":0,`, ``},
		{"durable with leading zeros", `"durable":0`, `"durable":00`},
		{"durable below 0", `"durable":0`, `"durable":-1`},
		{"prev in capitals", `"prev":"00000000"`, `"prev":"0000000A"`},
		{"prev too short", `"prev":"00000000"`, `"prev":"0000000"`},
	} {
		require.Contains(t, good, tt.old, tt.reason)
		_, cause := c.verify(sign(strings.Replace(good, tt.old, tt.new, 1)))
		assert.NotEmpty(t, cause, tt.reason)
	}
}

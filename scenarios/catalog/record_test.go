package catalog

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRecordsSurviveTheirEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		record := []byte(`{"type":"` + rapid.StringMatching(`[a-z_\-]{0,20}`).Draw(t, "type") + `"`)
		for range rapid.IntRange(0, 3).Draw(t, "members") {
			name, err := json.Marshal(rapid.String().Draw(t, "name"))
			require.NoError(t, err)
			value, err := json.Marshal(rapid.String().Draw(t, "value"))
			require.NoError(t, err)
			record = append(append(append(append(record, ','), name...), ':'), value...)
		}
		record = append(record, '}')
		e, err := event(record)
		require.NoError(t, err)
		if len(e.Payload) > 0 {
			require.True(t, json.Valid(e.Payload))
		}
		require.Equal(t, string(record), string(appendRecord(nil, &e)))
	})
}

func TestRecordsOfAnotherFormAreRefused(t *testing.T) {
	for _, record := range []string{"", "{}", "null", `{"role":"user","type":"message"}`, `{"type":"a\"b"}`, `{"type":"a`, `{"type":"a"`, ` {"type":"a"}`} {
		_, err := event([]byte(record))
		require.Error(t, err, record)
	}
}

func TestMarkersAreNamedByTheirLine(t *testing.T) {
	for line, want := range map[string]string{
		`{"schema_version":1,"sequence":4,"type":"compacted","replacement_history":[{"type":"message"}]}`: "compacted",
		`{"schema_version":1,"sequence":4,"type":"world_state"}`:                                          "world_state",
		`{"schema_version":1,"sequence":4,"type":"turn_context","turn":1}`:                                "turn_context",
		`{"schema_version":1,"sequence":4,"type":"compacted_more"}`:                                       "",
		`{"schema_version":1,"sequence":4,"type":"message","x":[1,"type","compacted"]}`:                   "",
		`{"schema_version":1,"sequence":4,"type":"message","x":{"a":1,"type":"compacted"}}`:               "",
		"": "",
	} {
		assert.Equal(t, want, marker([]byte(line)), line)
	}
}

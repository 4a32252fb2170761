package journal_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/journal"
)

// FuzzRecover reads any bytes as a log: an answer or a typed error, the same from every reader,
// and what is cut off never brings events that were not there.
func FuzzRecover(f *testing.F) {
	whole := read(f, filled(f, 3, true, options()), logPath)
	f.Add(whole, 5)
	f.Add(whole[:len(whole)-1], 100)
	f.Add(append(append([]byte(nil), whole...), "\x00\x00\n"...), 300)
	f.Add([]byte(`{"type":"message","role":"user","content":"a"}`+"\n"+`{"type":"x"}`), 40)
	f.Add([]byte("{\"type\":\"message\",\"sequence\":1,\"session_id\":\"\\u0061\"}\n\n"), 1)
	f.Add([]byte{}, 0)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		mem := with(t, b)
		strict, errStrict := journal.Recover(mem, logPath, options())
		water, errWater := journal.Recover(mem, logPath, options(watermark))
		for _, err := range []error{errStrict, errWater} {
			require.True(t, err == nil || errors.Is(err, journal.ErrCorrupt), "%v", err)
		}
		if errStrict == nil {
			require.NoError(t, errWater, "watermark refuses no more than strict")
			require.Equal(t, strict, water)
		}
		window, err := journal.Last(mem, logPath, 2, options())
		if err == nil && errStrict == nil {
			require.Equal(t, contents(strict.Events[max(0, len(strict.Events)-2):]), contents(window.Events))
		}
		if err != nil {
			require.Equal(t, errStrict, err)
		}
		if errWater == nil && cut >= 0 && cut < len(b) {
			prefix, err := journal.Recover(with(t, b[:cut]), logPath, options(watermark))
			if err == nil {
				require.LessOrEqual(t, prefix.Total, water.Total)
				require.Equal(t, contents(water.Events[:prefix.Total]), contents(prefix.Events))
			}
		}
		before := mem.Image().Hash()
		j, err := journal.Open(mem, logPath, options(watermark))
		if err != nil {
			require.Equal(t, errWater == nil, !errors.Is(err, journal.ErrCorrupt), "%v", err)
			require.Equal(t, before, mem.Image().Hash(), "a failed open changes nothing: %v", err)
			return
		}
		require.NoError(t, j.Append(user(1)))
		again, err := journal.Recover(crashed(mem), logPath, options(watermark))
		require.NoError(t, err)
		require.Nil(t, again.Tail)
		require.Equal(t, append(contents(water.Events), "water bed 1"), contents(again.Events))
	})
}

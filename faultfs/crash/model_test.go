package crash

import (
	"io/fs"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs/image"
)

func modeOf(m uint32) fs.FileMode { return fs.FileMode(m) }

func bigOf(n int) *big.Int { return big.NewInt(int64(n)) }

func TestParseModel(t *testing.T) {
	for _, m := range Models() {
		got, err := ParseModel(string(m))
		require.NoError(t, err)
		assert.Equal(t, m, got)
		assert.NotEmpty(t, m.Doc(), "%s has no words", m)
		assert.Contains(t, []int{1, 512, 4096}, m.DefaultTear())
	}
	_, err := ParseModel("ext5")
	for _, m := range Models() {
		require.ErrorContains(t, err, string(m), "the error lists every model")
	}
	assert.Len(t, Models(), 10)
}

func TestOptionsSayWhatIsWrong(t *testing.T) {
	h := &History{Base: image.New()}
	for _, c := range []struct {
		m    Model
		o    Options
		want string
	}{
		{"", Options{}, "unknown model"},
		{Prefix, Options{Tear: 7}, "tear unit 7"},
		{Prefix, Options{LyingSyncs: 1}, "belong to lying-flush"},
		{Prefix, Options{Base: OwnPage}, "belong to lying-flush"},
		{LyingFlush, Options{Base: Kill}, "kill is no model of a power cut"},
		{LyingFlush, Options{LyingSyncs: -1}, "want 1 or more"},
		{OwnPage, Options{Stale: true}, "stale bytes belong to"},
	} {
		_, err := NewSpace(c.m, h, Cut{}, c.o)
		require.ErrorContains(t, err, c.want, "%s %+v", c.m, c.o)
	}
	_, err := NewSpace(Prefix, h, Cut{At: 1}, Options{})
	require.ErrorContains(t, err, "outside the history")
	p, err := NewPlanner(Prefix, newScript().create("/a").create("/b").history(), Options{})
	require.NoError(t, err)
	_, err = p.Space(Cut{At: 2})
	require.NoError(t, err)
	_, err = p.Space(Cut{At: 1})
	assert.ErrorContains(t, err, "use a new one to go back")
}

package explore

import (
	"sync/atomic"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/scenarios/target"
)

// A reader that blocks is a finding, and no other is asked after it: each would take as long.
func TestAReaderThatBlocks(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	found := hanging(t, func(s *target.Subject, forever chan struct{}) {
		s.Readers = []target.Reader{{Name: "blocks", Read: func(afero.Fs, string) (target.Reading, error) {
			asked.Add(1)
			<-forever
			return target.Reading{}, nil
		}}}
	})
	require.Len(t, found, 1)
	assert.Equal(t, "UP213", found[0].ID)
	assert.Contains(t, found[0].Got[0], "did not return")
	assert.Equal(t, []string{"readers", "blocks", "plain"}, found[0].File.Probe)
	assert.Equal(t, int32(1), asked.Load())
}

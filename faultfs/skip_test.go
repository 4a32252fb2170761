package faultfs_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
)

// A skipped sync succeeds and leaves no trace; the others are recorded.
func TestSkipDropsASync(t *testing.T) {
	var asked []string
	f := faultfs.New(faultfs.NewMem(image.New()), faultfs.WithSkip(func(call faultfs.Call, path string) bool {
		asked = append(asked, string(call)+" "+path)
		return call == faultfs.CallSync && path == "/a"
	}))
	for _, name := range []string{"/a", "/b"} {
		h, err := f.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		require.NoError(t, h.Sync())
		require.NoError(t, h.Close())
		require.Error(t, h.Sync(), "a closed handle does not sync, skipped or not")
	}
	d, err := f.Open("/")
	require.NoError(t, err)
	require.NoError(t, d.Sync())
	require.NoError(t, d.Close())
	require.Equal(t, []string{"create a", "create b", "sync b", "sync folder ."}, story(f))
	require.Equal(t, []string{"sync /a", "sync /b", "syncdir /"}, asked)
}

package crash_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// The one state of synced says what is lost against what the running system saw.
func TestWhySynced(t *testing.T) {
	create := trace.Op{Kind: trace.Create, Ino: 2, Dir: 1, Path: "/log", Mode: 0o600}
	write := trace.Op{Kind: trace.Write, Ino: 2, Path: "/log", Data: []byte("abc"), Len: 3}
	over := trace.Op{Kind: trace.Write, Ino: 2, Path: "/log", Data: []byte("xyz"), Len: 3}
	remove := trace.Op{Kind: trace.Remove, Ino: 2, Dir: 1, Path: "/log"}
	sync := trace.Op{Kind: trace.SyncFile, Ino: 2, Path: "/log"}
	folder := trace.Op{Kind: trace.SyncDir, Ino: 1, Path: "/"}
	for _, c := range []struct {
		want string
		ops  []trace.Op
	}{
		{"everything that happened was synced", []trace.Op{create, write, sync, folder}},
		{"only what was synced is there: name log is lost", []trace.Op{create, write, sync}},
		{"only what was synced is there: log has 0 of 3 bytes", []trace.Op{create, folder, write}},
		{"only what was synced is there: log has the bytes of its last sync", []trace.Op{create, write, sync, folder, over}},
		{"only what was synced is there: name log is still there", []trace.Op{create, write, sync, folder, remove}},
	} {
		space, err := crash.NewSpace(crash.Synced, &crash.History{Base: image.New(), Ops: c.ops}, crash.Cut{At: len(c.ops)}, crash.Options{})
		require.NoError(t, err)
		for st := range space.All() {
			assert.Equal(t, c.want, st.Why())
		}
	}
}

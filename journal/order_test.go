package journal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/journal"
)

// steps names the operations of a log from some number on, folders by their last element.
func steps(fsys *faultfs.FS, from int) []string {
	var out []string
	for _, op := range fsys.Log().Ops()[from:] {
		name := op.Path[strings.LastIndexByte(op.Path, '/')+1:]
		out = append(out, op.Kind.String()+" "+name)
	}
	return out
}

var upToTheRoot = []string{"syncdir garden", "syncdir projects", "syncdir home", "syncdir "}

func TestTheOrderOfACreation(t *testing.T) {
	fsys := faultfs.New(faultfs.NewMem(image.New()))
	open(t, fsys, options())
	assert.Equal(t, append([]string{"mkdir home", "mkdir projects", "mkdir garden", "create s1.jsonl", "lock s1.jsonl", "sync s1.jsonl"}, upToTheRoot...), steps(fsys, 0))
}

// The tail's bytes are safe before they are cut, and the cut is before anything is appended.
func TestTheOrderOfARepair(t *testing.T) {
	const again = "write s1.jsonl" // what no line vouches for, in its place once more
	whole := threeLines(t)
	mem := with(t, plus(whole, "{\"sch"))
	fsys := faultfs.New(mem)
	j := open(t, fsys, options())
	require.NoError(t, j.Append(user(3)))
	side := "s1.jsonl.tail-" + fmt.Sprint(len(whole))
	want := append([]string{"lock s1.jsonl", "create " + side, "write " + side, "sync " + side, "syncdir garden", "truncate s1.jsonl", "sync s1.jsonl", again, "sync s1.jsonl"}, upToTheRoot...)
	assert.Equal(t, append(want, "write s1.jsonl", "sync s1.jsonl"), steps(fsys, 0))

	fsys = faultfs.New(with(t, whole[:len(whole)-1]))
	open(t, fsys, options())
	assert.Equal(t, append([]string{"lock s1.jsonl", "write s1.jsonl", again, "sync s1.jsonl"}, upToTheRoot...), steps(fsys, 0))
}

// The old segment is whole on disk before the new one has a name, and the name is before a line.
func TestTheOrderOfARotation(t *testing.T) {
	fsys := faultfs.New(faultfs.NewMem(image.New()))
	j := open(t, fsys, options(segments(1)))
	require.NoError(t, j.Append(user(0)))
	from := fsys.Log().Len()
	require.NoError(t, j.Append(user(1)))
	assert.Equal(t, []string{
		"write s1.jsonl", "sync s1.jsonl", "create s1_2.jsonl", "sync s1_2.jsonl", "syncdir garden", "write s1_2.jsonl", "sync s1_2.jsonl",
	}, steps(fsys, from))
}

func TestTheOrderOfAClose(t *testing.T) {
	fsys := faultfs.New(faultfs.NewMem(image.New()))
	j := open(t, fsys, options())
	require.NoError(t, j.Append(user(0)))
	from := fsys.Log().Len()
	require.NoError(t, j.Close())
	assert.Equal(t, []string{"write s1.jsonl", "sync s1.jsonl", "unlock s1.jsonl"}, steps(fsys, from))
}

// A log that is too large for one buffer gives the same events.
func TestEventsOfALargeFileAreTheirOwn(t *testing.T) {
	mem := faultfs.NewMem(image.New())
	j := open(t, mem, options())
	var want []string
	for i := range 12 {
		var batch []journal.Event
		for k := range 50 {
			text := strings.Repeat("x", 1000) + fmt.Sprint(i*100+k)
			want = append(want, text)
			batch = append(batch, journal.Message("user", text))
		}
		require.NoError(t, j.Append(batch...))
	}
	require.NoError(t, j.Close())
	require.Greater(t, len(read(t, mem, logPath)), 600<<10)
	rec, err := journal.Recover(mem, logPath, options())
	require.NoError(t, err)
	require.Equal(t, want, contents(rec.Events))
	w, err := journal.Last(mem, logPath, 300, options())
	require.NoError(t, err)
	require.Equal(t, want[300:], contents(w.Events))
}

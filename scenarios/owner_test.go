package scenarios_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/scenarios/catalog"
	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/target"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// The owner's three properties, on the reference journal, over workloads that rapid draws.

func reference(t *testing.T, name string) catalog.Entry {
	t.Helper()
	e, err := catalog.Find(name, "")
	require.NoError(t, err)
	return e
}

func drawProgram(t *rapid.T) workload.Program {
	return workload.Random(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 12).Draw(t, "steps"))
}

// Recovery yields exactly the fsynced prefix: under model synced R = S, the records wholly
// covered by a completed sync; under every other model A ⊆ R ⊆ W, as prefixes.
func TestRecoveryYieldsExactlyTheFsyncedPrefix(t *testing.T) {
	for _, name := range []string{"reference", "reference-watermark"} {
		e := reference(t, name)
		rapid.Check(t, func(t *rapid.T) {
			models := []crash.Model{crash.Synced}
			if rapid.IntRange(0, 9).Draw(t, "others") == 0 {
				models = crash.Models()[:len(crash.Models())-1] // lying-flush breaks promises by design
			}
			rep, err := explore.Run(t.Context(), explore.Config{
				Subject: e.Subject, Contract: e.Contract, Program: drawProgram(t), Models: models,
				MaxStates: 300, Levels: -1, Damages: -1, Scenes: []string{}, // each has a test of its own
			})
			if err != nil {
				t.Fatal(err)
			}
			if rep.States == 0 {
				t.Fatal("nothing was cut")
			}
			for _, f := range rep.Violations {
				t.Errorf("%s under %s: %s\n%s\nwant %q\ngot  %q", f.ID, f.Model, f.Text, f.Story, f.Want, f.Got)
			}
		})
	}
}

// finished is the disk of a reference journal after a program and a clean close, and its
// newest file.
func finished(t *rapid.T, s target.Subject, p workload.Program) (img *image.Image, file string) {
	mem := faultfs.NewMem(image.New())
	d := workload.Driver{Subject: s, AckOnAppend: true}
	for _, f := range d.Run(faultfs.New(mem), p) {
		t.Fatal(f)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	img, file = mem.Image(), s.File()
	for n := 2; ; n++ {
		next := fmt.Sprintf("%s_%d.jsonl", s.File()[:len(s.File())-len(".jsonl")], n)
		if _, ok := img.Lookup(next); !ok {
			return img, file
		}
		file = next
	}
}

// Recovery reports only partial tails: cut at any byte, the file reads as the whole lines in
// front of the cut; a tail is reported exactly when bytes follow them, from there to the end.
func TestRecoveryReportsOnlyPartialTails(t *testing.T) {
	e := reference(t, "reference")
	rapid.Check(t, func(t *rapid.T) {
		img, file := finished(t, e.Subject, drawProgram(t))
		ino, _ := img.Lookup(file)
		data := img.Bytes(ino)
		if len(data) == 0 {
			return
		}
		for range 20 {
			cut := rapid.IntRange(0, len(data)).Draw(t, "cut")
			torn := img.Clone()
			torn.Truncate(ino, int64(cut))
			r, err := e.Subject.Recover(faultfs.NewMem(torn), e.Subject.File())
			if err != nil {
				t.Fatalf("cut at %d of %d: %v", cut, len(data), err)
			}
			whole := bytes.LastIndexByte(data[:cut], '\n') + 1
			if next := bytes.IndexByte(data[whole:], '\n'); whole+next == cut {
				whole = cut // a whole line that lacks only its newline is a record
			}
			want := target.Tail{}
			if whole < cut {
				want = target.Tail{Offset: int64(whole), Length: int64(cut - whole)}
			}
			if r.Tail.Offset*min(r.Tail.Length, 1) != want.Offset || r.Tail.Length != want.Length {
				t.Fatalf("cut at %d of %d: tail %+v, want %+v", cut, len(data), r.Tail, want)
			}
		}
	})
}

// Everything else fails closed: any damage in front of the last line is a corruption error,
// and no byte is changed by saying so, read-only or for writing.
func TestEverythingElseFailsClosed(t *testing.T) {
	for _, name := range []string{"reference", "reference-watermark"} {
		e := reference(t, name)
		rapid.Check(t, func(t *rapid.T) {
			img, file := finished(t, e.Subject, drawProgram(t))
			ino, _ := img.Lookup(file)
			data := img.Bytes(ino)
			vouched := bytes.LastIndexByte(bytes.TrimSuffix(data, []byte("\n")), '\n') + 1
			if vouched == 0 {
				return
			}
			d := drawDamage(t, int64(vouched))
			bad, err := d.Apply(data)
			if err != nil {
				return
			}
			img.Truncate(ino, 0)
			img.WriteAt(ino, bad, 0)
			before := img.Hash()
			mem := faultfs.NewMem(img)
			if _, err := e.Subject.Recover(mem, e.Subject.File()); !e.Subject.IsCorrupt(err) {
				t.Fatalf("%s in %s: recovery says %v, want a corruption error", d, file, err)
			}
			if j, err := e.Subject.Open(mem, e.Subject.File()); !e.Subject.IsCorrupt(err) {
				t.Fatalf("%s in %s: open gives %v and says %v, want a corruption error", d, file, j, err)
			}
			if mem.Image().Hash() != before {
				t.Fatalf("%s in %s: refusing it changed the files", d, file)
			}
		})
	}
}

func drawDamage(t *rapid.T, vouched int64) faultfs.Damage {
	d := faultfs.Damage{Kind: rapid.SampledFrom([]faultfs.DamageKind{faultfs.Flip, faultfs.Nul, faultfs.Delete, faultfs.BadUTF8, faultfs.BOM, faultfs.CRLF}).Draw(t, "kind")}
	switch d.Kind {
	case faultfs.Flip:
		d.Off, d.Bit = rapid.Int64Range(0, vouched-1).Draw(t, "offset"), uint8(rapid.IntRange(0, 7).Draw(t, "bit"))
	case faultfs.Nul, faultfs.Delete:
		d.Off = rapid.Int64Range(0, vouched-1).Draw(t, "offset")
		d.Len = rapid.Int64Range(1, min(vouched-d.Off, 40)).Draw(t, "length")
	case faultfs.BadUTF8:
		d.Off = rapid.Int64Range(0, vouched-1).Draw(t, "offset")
	default: // those that are drawn have no more to say
	}
	return d
}

// The proof that the fixture is what it says: an untouched log reads without a tail.
func TestFinishedIsClean(t *testing.T) {
	e := reference(t, "reference")
	rapid.Check(t, func(t *rapid.T) {
		p := drawProgram(t)
		img, _ := finished(t, e.Subject, p)
		var fsys afero.Fs = faultfs.NewMem(img)
		r, err := e.Subject.Recover(fsys, e.Subject.File())
		if err != nil || r.Tail.Length != 0 || len(r.Records) != p.Records() {
			t.Fatalf("%d records of %d, tail %+v, %v", len(r.Records), p.Records(), r.Tail, err)
		}
	})
}

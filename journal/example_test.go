package journal_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/journal"
)

func Example() {
	fsys := faultfs.NewMem(image.New()) // afero.NewOsFs() for real files
	opt := journal.Options{Create: true, Now: func() time.Time { return time.Date(2026, 8, 20, 9, 0, 0, 0, time.UTC) }}
	j, err := journal.Open(fsys, "/garden.jsonl", opt)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = j.Append(journal.Message("user", "Which herbs need water?")) // nil: it is on disk
	fmt.Println("acknowledged:", err == nil)
	fmt.Println(j.Close())
	text, err := afero.ReadFile(fsys, "/garden.jsonl")
	fmt.Printf("%s%v", text, err)
	// Output:
	// acknowledged: true
	// <nil>
	// {"schema_version":1,"sequence":1,"session_id":"garden","event_id":"transcript:garden:1","recorded_at":"2026-08-20T09:00:00Z","type":"message","role":"user","content":"Which herbs need water?","durable":0,"prev":"00000000","crc":"4049442f"}
	// {"schema_version":1,"sequence":2,"session_id":"garden","event_id":"transcript:garden:2","recorded_at":"2026-08-20T09:00:00Z","type":"checkpoint","durable":240,"prev":"4049442f","crc":"e6283ae2"}
	// <nil>
}

// What a crash leaves in the middle of an append is reported, and nothing of it is taken for
// an event.
func ExampleRecover() {
	fsys := faultfs.NewMem(image.New())
	torn := `{"type":"message","role":"user","content":"first"}` + "\n" + `{"type":"message","role":"assist`
	if err := afero.WriteFile(fsys, "/garden.jsonl", []byte(torn), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	rec, err := journal.Recover(fsys, "/garden.jsonl", journal.Options{})
	fmt.Println(rec.Total, rec.Unchecked, *rec.Tail, err)
	// Output: 1 1 {/garden.jsonl 51 32 unterminated} <nil>
}

// A complete bad line is damage, with its place.
func ExampleCorruptError() {
	fsys := faultfs.NewMem(image.New())
	damaged := `{"type":"message","role":"user","content":"first"}` + "\n" + `{"type":"message","role":"assist` + "\n"
	if err := afero.WriteFile(fsys, "/garden.jsonl", []byte(damaged), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	_, err := journal.Recover(fsys, "/garden.jsonl", journal.Options{})
	corrupt, ok := errors.AsType[*journal.CorruptError](err)
	fmt.Println(ok, errors.Is(err, journal.ErrCorrupt))
	fmt.Println(corrupt.Path, corrupt.Line, corrupt.Offset, corrupt.Cause)
	// Output:
	// true true
	// /garden.jsonl 2 51 a string does not end
}

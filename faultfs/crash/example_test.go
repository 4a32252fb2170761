package crash_test

import (
	"fmt"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// A log with one durable line; a second one is appended and not yet synced.
func appended() *crash.History {
	base := image.New()
	log := base.Alloc(false, 0o600)
	base.Bind(trace.Root, "log.jsonl", log)
	base.WriteAt(log, []byte("{\"a\":1}\n"), 0)
	return &crash.History{Base: base, Ops: []trace.Op{
		{Kind: trace.Write, Ino: log, Path: "/log.jsonl", Off: 8, Data: []byte("{\"b\":2}\n"), Len: 8},
	}}
}

func ExampleSpace_All() {
	space, err := crash.NewSpace(crash.Ext4OOO, appended(), crash.Cut{At: 1}, crash.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(space.Count(), "states")
	for state := range space.All() {
		fmt.Printf("%s: %s\n", state.Choice(), state.Why())
	}
	// Output:
	// 3 states
	// n0 s0: log.jsonl: size 8 of 16 is on the disk
	// n0 s1 u0: log.jsonl: bytes 8..16 are not (NUL)
	// n0 s1 u1: everything pending is on the disk
}

func ExampleSpace_Contains() {
	h := appended()
	space, err := crash.NewSpace(crash.OwnPage, h, crash.Cut{At: 1}, crash.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	torn := h.Base.Clone()
	log, _ := torn.Lookup("/log.jsonl")
	torn.WriteAt(log, []byte("{\"b\""), 8)
	fmt.Println(space.Contains(torn))
	// Output:
	// /log.jsonl: the size 12 is none that the model allows
}

// A killed process leaves the page cache; a power cut that follows may still take it.
func ExampleState_Pending() {
	space, err := crash.NewSpace(crash.Kill, appended(), crash.Cut{At: 1}, crash.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for killed := range space.All() {
		second := killed.Pending()
		power, err := crash.NewSpace(crash.Prefix, second, crash.Cut{At: len(second.Ops)}, crash.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(power.Count(), "states of the power cut after it")
	}
	// Output:
	// 9 states of the power cut after it
}

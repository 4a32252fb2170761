package faultfs_test

import (
	"errors"
	"fmt"
	"os"

	"github.com/unplug-go/unplug/faultfs"
)

// The process dies between the write of its second line and the sync.
func Example() {
	plan, err := faultfs.ParsePlan("before sync *.jsonl 2 -> kill")
	if err != nil {
		panic(err)
	}
	disk := faultfs.New(faultfs.NewMem(nil), faultfs.WithPlan(plan))
	log, err := disk.OpenFile("/log.jsonl", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	for i := 1; err == nil; i++ {
		disk.Note("append %d called", i)
		if _, err = fmt.Fprintf(log, `{"n":%d}`+"\n", i); err == nil {
			err = log.Sync()
		}
		disk.Note("append %d acked", i)
	}
	fmt.Println(errors.Is(err, faultfs.ErrKilled))
	for _, op := range disk.Log().Ops() {
		fmt.Println(op)
	}
	// Output:
	// true
	// create log.jsonl
	// append 1 called
	// write log.jsonl 0..8
	// sync log.jsonl
	// append 1 acked
	// append 2 called
	// write log.jsonl 8..16
}

func ExampleParsePlan() {
	_, err := faultfs.ParsePlan("on write *.jsonl 2 -> cut 17")
	fmt.Println(err)
	// Output: plan line 1, column 23: "cut": cut acts inside a call, not on it
}

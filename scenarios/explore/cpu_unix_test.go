//go:build unix

package explore_test

import (
	"syscall"
	"time"
)

// cpuTime is what this process has used of its cores so far: on a machine with other work the
// clock on the wall counts that too.
func cpuTime() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

//go:build !unix

package explore_test

import "time"

// cpuTime is not known here: benchmarks then report the time on the wall alone.
func cpuTime() time.Duration { return 0 }

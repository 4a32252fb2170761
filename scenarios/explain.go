package scenarios

import (
	"strings"

	"github.com/unplug-go/unplug/scenarios/explore"
)

// Explain drives a short workload with no crash and tells what the harness saw: each call,
// and the file operations and syncs behind it. Look at it first when a finding surprises
// you, or when a run says that it tested nothing.
func Explain(s Subject, opts ...Option) string {
	set := settings{cfg: explore.Config{Subject: s, Contract: defaultContract()}, skip: map[string]string{}}
	for _, o := range opts {
		o(&set)
	}
	return strings.Join(explore.Observe(set.cfg), "\n") + "\n"
}

package explore

import (
	"context"
	"errors"

	"github.com/unplug-go/unplug/scenarios/report"
)

// faultScene fails every op of a workload in turn, while the process lives on.
func faultScene(_ context.Context, s *stage) error {
	s.skip("this version cannot")
	return nil
}

// replayFault performs one try again.
func replayFault(*judge, *report.Repro, []string) (*Replayed, error) {
	return nil, errors.New("this version cannot replay it")
}

package explore

import (
	"context"
	"errors"

	"github.com/unplug-go/unplug/scenarios/report"
)

// togetherScene crashes appenders that run at the same time.
func togetherScene(_ context.Context, s *stage) error {
	s.skip("this version cannot")
	return nil
}

// replayTogether performs one try again.
func replayTogether(*judge, *report.Repro, []string) (*Replayed, error) {
	return nil, errors.New("this version cannot replay it")
}

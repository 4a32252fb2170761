package explore

import (
	"context"
	"errors"

	"github.com/unplug-go/unplug/scenarios/report"
)

// readerScene holds all readers of a subject against each other.
func readerScene(_ context.Context, s *stage) error {
	s.skip("this version cannot")
	return nil
}

// replayReading performs one try again.
func replayReading(*judge, *report.Repro, []string) (*Replayed, error) {
	return nil, errors.New("this version cannot replay it")
}

package explore

import (
	"context"
	"errors"

	"github.com/unplug-go/unplug/scenarios/report"
)

// handleScene gives a second process, or an outsider, a turn at every op of a journal.
func handleScene(_ context.Context, s *stage) error {
	s.skip("this version cannot")
	return nil
}

// replayHandles performs one try again.
func replayHandles(*judge, *report.Repro, []string) (*Replayed, error) {
	return nil, errors.New("this version cannot replay it")
}

package scenarios

import (
	"testing"

	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/report"
)

// RunWeakened drops one sync of the subject at a time, by the place in its code that calls it,
// and fails for each that the suite does not miss: there it is blind. A sync that nobody needs,
// because nothing was unsynced or another sync comes before any promise, is logged with that
// reason. Run it when [Run] passes; it takes as long as a run for each sync.
func RunWeakened(t *testing.T, subject Subject, opts ...Option) {
	t.Helper()
	s := settingsFor(t, subject, opts)
	ctx, cancel := untilDeadline(t)
	defer cancel()
	w, err := explore.Weaken(ctx, s.cfg)
	if err != nil {
		t.Fatalf("unplug could not weaken the subject: %v", err)
	}
	if len(w.Syncs) == 0 {
		t.Fatal("the subject never synced: nothing could be dropped")
	}
	for _, x := range w.Syncs {
		switch x.Verdict {
		case report.Blind:
			t.Errorf("BLIND: no run missed %s %s at %s\n  why     %s", x.Call, x.Path, x.Place, x.Text)
		case report.Redundant:
			t.Logf("redundant: %s %s at %s: %s", x.Call, x.Path, x.Place, x.Text)
		default:
			t.Logf("noticed: %s %s at %s: %s under %s", x.Call, x.Path, x.Place, x.Rule, x.Model)
		}
	}
}

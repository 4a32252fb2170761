package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/scenarios/catalog"
	"github.com/unplug-go/unplug/scenarios/explore"
)

// No fault of a plan makes the reference journal break its contract, and none makes the
// suite accuse it: not the faults that no journal can see, either, which are only counted.
func TestPlansOnTheReference(t *testing.T) {
	for _, name := range []string{"reference", "reference-watermark"} {
		e, err := catalog.Find(name, "")
		require.NoError(t, err)
		for _, text := range []string{
			"inside write *.jsonl 2 -> kill -1",
			"inside write *.jsonl 2 -> cut -1",
			"inside write *.jsonl 2 -> cut 17",
			"inside write *.jsonl 3 -> cut 17 silent",
			"on sync *.jsonl 3 -> fail-clean",
			"on sync *.jsonl 2 -> fail-ro",
			"on sync *.jsonl 2 -> fail-shutdown",
			"on sync *.jsonl 3 -> fail-false",
			"on sync *.jsonl 3 -> fail-late",
			"on sync *.jsonl 3 -> lied",
			"on syncdir * 1 -> lied",
			"on sync * 4+ -> eio",
			"on write *.jsonl 3 -> enospc 40",
			"on write *.jsonl 3 -> full 1",
		} {
			plan, err := faultfs.ParsePlan(text)
			require.NoError(t, err, text)
			rep, err := explore.Run(t.Context(), explore.Config{
				Subject: e.Subject, Contract: e.Contract, Plan: plan, Seed: 1, Steps: 8,
				MaxStates: 250, Lives: 40, Levels: 1, Workers: 2,
			})
			require.NoError(t, err, text)
			assert.Empty(t, rep.Vacuity, text)
			for _, f := range rep.Violations {
				t.Errorf("%s: %s: %s under %s: %s\n%s", name, text, f.ID, f.Model, f.Text, f.Story)
			}
		}
	}
}

// Plans that an exploration cannot judge are refused before anything runs.
func TestPlansThatAreNoCrash(t *testing.T) {
	for _, text := range []string{"after sync *.jsonl 2 -> flip 120.3", "before write * 3 -> sigkill"} {
		plan, err := faultfs.ParsePlan(text)
		require.NoError(t, err, text)
		require.Error(t, explore.CheckPlan(plan), text)
	}
}

package explore_test

import (
	"testing"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/broken"
	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// BenchmarkJudge is the rate at which unique cases of logs under 4 KiB are recovered and
// judged on one core: two opens and one append each, nesting off.
func BenchmarkJudge(b *testing.B) {
	cfg := explore.Config{
		Subject: broken.Subject(""), Contract: oracle.Lines(), Seed: 1, Steps: 12,
		Models: []crash.Model{crash.Prefix}, Levels: -1, Damages: -1, Workers: 1,
	}
	benchmark(b, cfg)
}

// BenchmarkEightAppends explores every state of 8 appends with 2 syncs under prefix,
// nesting off: the target is under a second.
func BenchmarkEightAppends(b *testing.B) {
	var p workload.Program
	for _, s := range workload.Random(1, 40) {
		if s.Kind == workload.Append && len(p) < 9 {
			p = append(p, s)
		}
		if len(p) == 4 {
			p = append(p, workload.Step{Kind: workload.Sync})
		}
	}
	cfg := explore.Config{
		Subject: broken.Subject(""), Contract: oracle.Lines(), Seed: 1, Program: append(p, workload.Step{Kind: workload.Sync}),
		Models: []crash.Model{crash.Prefix}, Levels: -1, Damages: -1, Workers: 1, MaxStates: 1 << 30,
	}
	benchmark(b, cfg)
}

func benchmark(b *testing.B, cfg explore.Config) {
	b.Helper()
	states, unique := 0, 0
	for b.Loop() {
		rep, err := explore.Run(b.Context(), cfg)
		if err != nil || rep.Failed() {
			b.Fatal(err, rep)
		}
		states, unique = states+rep.States, unique+rep.Unique
	}
	b.ReportMetric(float64(states)/b.Elapsed().Seconds(), "states/s")
	b.ReportMetric(float64(unique)/b.Elapsed().Seconds(), "unique/s")
}

package explore_test

import (
	"runtime"
	"testing"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/broken"
	"github.com/unplug-go/unplug/scenarios/catalog"
	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// BenchmarkJudge is the rate at which unique cases of logs under 4 KiB are recovered and
// judged on one core: two opens and one append each, nesting off.
func BenchmarkJudge(b *testing.B) {
	cfg := explore.Config{
		Subject: broken.Subject(""), Contract: oracle.Lines(), Seed: 1, Steps: 12,
		Models: []crash.Model{crash.Prefix}, Levels: -1, Damages: -1, Scenes: []string{}, Workers: 1,
	}
	benchmark(b, cfg)
}

// BenchmarkJudgeReference is the same for the reference journal, whose recovery checks more and
// whose lines are longer: the log stays under 4 KiB here too.
func BenchmarkJudgeReference(b *testing.B) {
	entry, err := catalog.Find("reference", "")
	if err != nil {
		b.Fatal(err)
	}
	var p workload.Program
	for _, s := range workload.Random(1, 100) {
		if s.Kind == workload.Append && len(s.Records[0]) < 400 && len(p) < 14 {
			p = append(p, s)
		}
	}
	benchmark(b, explore.Config{
		Subject: entry.Subject, Contract: entry.Contract, Seed: 1, Program: p,
		Models: []crash.Model{crash.Prefix}, Levels: -1, Damages: -1, Scenes: []string{}, Workers: 1,
	})
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
		Models: []crash.Model{crash.Prefix}, Levels: -1, Damages: -1, Scenes: []string{}, Workers: 1, MaxStates: 1 << 30,
	}
	benchmark(b, cfg)
}

// BenchmarkDamage does everything to a log of 2 KiB that damage can do: every byte and every line,
// by every kind. The target is under 20 seconds.
func BenchmarkDamage(b *testing.B) {
	for name, records := range map[string]int{"lines": 21, "reference": 7} {
		b.Run(name, func(b *testing.B) {
			e, err := catalog.Find(name, "")
			if err != nil {
				b.Fatal(err)
			}
			var p workload.Program
			for _, s := range workload.Random(1, 200) {
				if s.Kind == workload.Append && len(s.Records[0]) < 120 && len(p) < records {
					p = append(p, s)
				}
			}
			tried, unique, size := 0, 0, 0
			for b.Loop() {
				rep, err := explore.Run(b.Context(), explore.Config{
					Subject: e.Subject, Contract: e.Contract, Seed: 1, Program: p, NoCrash: true, Scenes: []string{},
					Damages: 1 << 30, Workers: runtime.GOMAXPROCS(0),
				})
				if err != nil || rep.Failed() || !rep.Coverage.Damage.Logs[0].Complete() {
					b.Fatal(err, rep)
				}
				d := rep.Coverage.Damage
				tried, unique, size = tried+d.Logs[0].Tried, unique+d.Unique, d.Logs[0].Bytes
			}
			b.ReportMetric(float64(tried)/b.Elapsed().Seconds(), "states/s")
			b.ReportMetric(float64(unique)/b.Elapsed().Seconds(), "unique/s")
			b.ReportMetric(float64(size), "log-bytes")
		})
	}
}

// benchmark explores cfg again and again, and reports the rate of one core too: it counts the
// time that this process ran, the collector included, and not that of its neighbours.
func benchmark(b *testing.B, cfg explore.Config) {
	b.Helper()
	states, unique := 0, 0
	before := cpuTime()
	for b.Loop() {
		rep, err := explore.Run(b.Context(), cfg)
		if err != nil || rep.Failed() {
			b.Fatal(err, rep)
		}
		states, unique = states+rep.States, unique+rep.Unique
	}
	if used := cpuTime() - before; used > 0 {
		b.ReportMetric(float64(unique)/used.Seconds(), "unique/cpu-s")
	}
	b.ReportMetric(float64(states)/b.Elapsed().Seconds(), "states/s")
	b.ReportMetric(float64(unique)/b.Elapsed().Seconds(), "unique/s")
}

package explore_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/broken"
	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/target"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// small is a configuration that runs in a fraction of a second.
func small(s target.Subject) explore.Config {
	return explore.Config{
		Subject: s, Contract: oracle.Lines(), Seed: 3, Steps: 10, MaxStates: 400,
		Lives: 60, Deep: 4, Damages: 60, Probes: 60, Workers: 2,
		Models: []crash.Model{crash.Kill, crash.Synced, crash.OwnPage, crash.Ext4OOO},
	}
}

func run(t *testing.T, cfg explore.Config) *report.Report {
	t.Helper()
	rep, err := explore.Run(t.Context(), cfg)
	require.NoError(t, err)
	return rep
}

func ids(fs []report.Finding) []string {
	var out []string
	seen := map[string]bool{}
	for _, f := range fs {
		if !seen[f.ID] {
			seen[f.ID] = true
			out = append(out, f.ID)
		}
	}
	return out
}

// Subjects that are wrong in a way of their own: each must be caught by the rule meant for it.
func TestWrongSubjects(t *testing.T) {
	good := broken.Subject("")
	for _, c := range []struct {
		name string
		want string
		bend func(s *target.Subject)
	}{
		{"recovery hides the tail", "UP204", func(s *target.Subject) {
			s.Recover = func(f afero.Fs, path string) (target.Recovered, error) {
				r, err := good.Recover(f, path)
				r.Tail = target.Tail{}
				return r, err
			}
		}},
		{"recovery reports a tail that is none", "UP204", func(s *target.Subject) {
			s.Recover = func(f afero.Fs, path string) (target.Recovered, error) {
				r, err := good.Recover(f, path)
				if r.Tail.Length == 0 && err == nil {
					info, err := f.Stat(path)
					if err != nil {
						return r, err
					}
					r.Tail = target.Tail{Offset: info.Size() - 1, Length: 1}
				}
				return r, err
			}
		}},
		{"recovery refuses every tail", "UP205", func(s *target.Subject) {
			s.Recover = func(f afero.Fs, path string) (target.Recovered, error) {
				r, err := good.Recover(f, path)
				if r.Tail.Length > 0 {
					return target.Recovered{}, broken.ErrCorrupt
				}
				return r, err
			}
		}},
		{"recovery panics on a tail", "UP205", func(s *target.Subject) {
			s.Recover = func(f afero.Fs, path string) (target.Recovered, error) {
				r, err := good.Recover(f, path)
				if r.Tail.Length > 0 {
					panic("index out of range")
				}
				return r, err
			}
		}},
		{"recovery reads for ever", "UP205", func(s *target.Subject) {
			s.Recover = func(f afero.Fs, path string) (target.Recovered, error) {
				for {
					if _, err := f.Stat("/"); err != nil {
						return target.Recovered{}, err
					}
				}
			}
		}},
		{"recovery repairs", "UP208", func(s *target.Subject) {
			s.Recover = func(f afero.Fs, path string) (target.Recovered, error) {
				r, err := good.Recover(f, path)
				if r.Tail.Length > 0 {
					h, err := f.OpenFile(path, 2, 0)
					if err != nil {
						return r, err
					}
					return r, errors.Join(h.Truncate(r.Tail.Offset), h.Close())
				}
				return r, err
			}
		}},
		{"an open that fails has cut the file", "UP208", func(s *target.Subject) {
			s.Open = func(f afero.Fs, path string) (target.Journal, error) {
				_, err := good.Recover(f, path)
				if errors.Is(err, broken.ErrCorrupt) {
					return nil, errors.Join(err, afero.WriteFile(f, path, nil, 0o600))
				}
				return good.Open(f, path)
			}
		}},
		{"a new life forgets the first record", "UP207", func(s *target.Subject) {
			s.Recover = func(f afero.Fs, path string) (target.Recovered, error) {
				r, err := good.Recover(f, path)
				if n := len(r.Records); n > 1 && string(r.Records[n-1][:54]) == `{"type":"message","role":"user","content":"x0 after th` {
					r.Records = append(r.Records[:n-2:n-2], r.Records[n-1])
				}
				return r, err
			}
		}},
		{"an empty file is deleted", "UP211", func(s *target.Subject) {
			s.Recover = func(f afero.Fs, path string) (target.Recovered, error) {
				r, err := good.Recover(f, path)
				if len(r.Records) > 3 {
					return target.Recovered{}, fs.ErrNotExist
				}
				return r, err
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := good
			c.bend(&s)
			cfg := small(s)
			if c.name == "recovery reads for ever" {
				cfg.Models, cfg.Steps, cfg.Damages = []crash.Model{crash.Synced}, 2, -1
			}
			assert.Contains(t, ids(run(t, cfg).Violations), c.want)
		})
	}
}

// A run that tested nothing says so.
func TestVacuity(t *testing.T) {
	good := broken.Subject("")
	plan, err := faultfs.ParsePlan("on write nowhere.txt 1 -> eio")
	require.NoError(t, err)
	idle := target.Subject{
		Open:    func(afero.Fs, string) (target.Journal, error) { return idleJournal{}, nil },
		Recover: func(afero.Fs, string) (target.Recovered, error) { return target.Recovered{}, nil },
	}
	for _, c := range []struct {
		want string
		bend func(cfg *explore.Config)
	}{
		{"UP401", func(cfg *explore.Config) { cfg.Subject = idle }},
		{"UP402", func(cfg *explore.Config) {
			cfg.Contract = oracle.Contract{LosesOnPower: true}
			cfg.Subject.Open = func(f afero.Fs, path string) (target.Journal, error) {
				if err := f.MkdirAll("/journal", 0o700); err != nil {
					return nil, err
				}
				return idleJournal{}, afero.WriteFile(f, path, nil, 0o600)
			}
		}},
		{"UP403", func(cfg *explore.Config) {
			cfg.Cuts, cfg.Steps = []explore.CutKind{explore.CutMidCompaction}, 1
		}},
		{"UP404", func(cfg *explore.Config) { cfg.Program = workload.Program{{Kind: workload.Sync}} }},
		{"UP405", func(cfg *explore.Config) { cfg.Plan = plan }},
	} {
		t.Run(c.want, func(t *testing.T) {
			cfg := small(good)
			c.bend(&cfg)
			rep := run(t, cfg)
			assert.Contains(t, ids(rep.Vacuity), c.want)
			assert.False(t, rep.Coverage.Complete)
		})
	}
}

type idleJournal struct{}

func (idleJournal) Append([]byte) error { return nil }
func (idleJournal) Sync() error         { return nil }
func (idleJournal) Close() error        { return nil }

// The number of workers changes nothing.
func TestDeterminism(t *testing.T) {
	for _, bug := range []string{"", broken.GluedTail} {
		cfg := small(broken.Subject(bug))
		var reports []*report.Report
		for _, workers := range []int{1, 2, 5} {
			cfg.Workers = workers
			reports = append(reports, run(t, cfg))
		}
		for _, other := range reports[1:] {
			assert.Empty(t, cmp.Diff(reports[0], other, cmp.Comparer(func(a, b report.Model) bool {
				a.Total, b.Total = nil, nil
				return a == b
			})))
		}
	}
}

// Rounds go on with the next seed, and add up.
func TestRounds(t *testing.T) {
	cfg := small(broken.Subject(""))
	one := run(t, cfg)
	cfg.Again = func(rounds int) bool { return rounds < 3 }
	three := run(t, cfg)
	assert.Equal(t, 3, three.Rounds)
	assert.Greater(t, three.States, 2*one.States)
	cfg.Seed, cfg.Again = cfg.Seed+1, nil
	two := run(t, cfg)
	cfg.Seed++
	assert.Equal(t, one.States+two.States+run(t, cfg).States, three.States)
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cfg := small(broken.Subject(""))
	cfg.MaxStates, cfg.Steps = 40_000, 40
	cfg.Progress = func(explore.Progress) { cancel() }
	rep, err := explore.Run(ctx, cfg)
	require.ErrorIs(t, err, explore.ErrInterrupted)
	assert.Positive(t, rep.States, "what was found so far is kept")
}

func TestFailFast(t *testing.T) {
	cfg := small(broken.Subject(broken.LostFsync))
	all := run(t, cfg)
	cfg.FailFast = true
	fast := run(t, cfg)
	require.NotEmpty(t, fast.Violations)
	assert.Less(t, fast.States, all.States)
}

// A cut filter cuts there and nowhere else, and the report says what it never reached.
func TestCutFilter(t *testing.T) {
	for _, k := range explore.CutKinds() {
		cfg := small(broken.Subject(""))
		cfg.Cuts = []explore.CutKind{k}
		rep := run(t, cfg)
		require.Empty(t, rep.Violations, k)
		require.Empty(t, rep.Vacuity, k)
		assert.Positive(t, rep.Coverage.Kinds[string(k)], k)
		assert.Less(t, rep.Coverage.Reached, rep.Coverage.Cuts, k)
		assert.NotContains(t, rep.Coverage.Never, string(k))
		assert.False(t, rep.Coverage.Complete)
	}
}

func TestBadTear(t *testing.T) {
	cfg := small(broken.Subject(""))
	cfg.Tear = 100
	_, err := explore.Run(t.Context(), cfg)
	assert.ErrorContains(t, err, "want 1, 512 or 4096")
}

// A lying flush is never a failure: it is counted as lost or detected.
func TestLyingFlushNeverFails(t *testing.T) {
	cfg := small(broken.Subject(""))
	cfg.Models = []crash.Model{crash.LyingFlush}
	rep := run(t, cfg)
	assert.Empty(t, rep.Violations)
	assert.Positive(t, rep.Models[0].Lost)
	assert.Positive(t, rep.Models[0].Detected)
}

// Faults of a plan make calls fail; what failed is optional, the rest holds.
func TestPlan(t *testing.T) {
	for _, text := range []string{
		"inside write *.jsonl 3 -> kill 20",
		"after sync *.jsonl 2 -> kill",
		`before note "append 4 called" 1 -> kill`,
	} {
		plan, err := faultfs.ParsePlan(text)
		require.NoError(t, err, text)
		cfg := small(broken.Subject(""))
		cfg.Plan = plan
		rep := run(t, cfg)
		assert.Empty(t, rep.Violations, text)
		assert.Empty(t, rep.Vacuity, text)
		assert.Positive(t, rep.States, text)
	}
}

package explore_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/broken"
	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/target"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// tired is a journal that stops syncing with record number room of a life, if it was opened
// before.
type tired struct {
	afero.Fs
	left *int
}

func (t tired) OpenFile(name string, flag int, mode os.FileMode) (afero.File, error) {
	f, err := t.Fs.OpenFile(name, flag, mode)
	return weary{f, t.left}, err
}

type weary struct {
	afero.File
	left *int
}

func (w weary) Write(b []byte) (int, error) {
	*w.left--
	return w.File.Write(b)
}

func (w weary) Sync() error {
	if *w.left <= 0 {
		return nil
	}
	return w.File.Sync()
}

// tiredAt is the line journal that does not sync the record number n of a life, and those behind it.
func tiredAt(n int) target.Subject {
	s := broken.Subject("")
	open := s.Open
	s.Open = func(f afero.Fs, path string) (target.Journal, error) {
		left := n
		return open(tired{f, &left}, path)
	}
	return s
}

// What needs many records keeps as many, and no more; each of them is needed.
func TestWhatIsNeededStays(t *testing.T) {
	for _, n := range []int{1, 3, 12} {
		t.Run(fmt.Sprintf("record %d", n), func(t *testing.T) {
			s := tiredAt(n)
			rep := run(t, explore.Config{
				Subject: s, Contract: oracle.Lines(), Seed: 5, Steps: 40, MaxStates: 1000, Levels: -1, Damages: -1,
				Models: []crash.Model{crash.OwnPage}, Scenes: []string{}, Workers: 2,
			})
			require.NotEmpty(t, rep.Violations)
			f := rep.Violations[0]
			p, info, err := explore.Shrink(t.Context(), s, oracle.Lines(), f.File, explore.ShrinkOptions{})
			require.NoError(t, err)
			assert.Equal(t, n, p.Program.Records(), "%s\n%s", info, p)
			assert.True(t, info.Minimal)
			assert.Less(t, info.Judged, 4000, "long workloads are halved, and crashed where they were")
			notSmaller(t, s, p, f.Text)
		})
	}
}

// notSmaller holds by a whole exploration that no workload with one step or record less breaks the
// rule of p under its model.
func notSmaller(t *testing.T, s target.Subject, p *report.Repro, text string) {
	t.Helper()
	var smaller []workload.Program
	for i, step := range p.Program {
		smaller = append(smaller, slices.Delete(slices.Clone(p.Program), i, i+1))
		for k := range step.Records {
			if step.Kind == workload.Batch && len(step.Records) > 1 {
				less := slices.Clone(p.Program)
				less[i].Records = slices.Delete(slices.Clone(step.Records), k, k+1)
				smaller = append(smaller, less)
			}
		}
	}
	for _, program := range smaller {
		if program == nil {
			program = workload.Program{}
		}
		rep := run(t, explore.Config{
			Subject: s, Contract: oracle.Lines(), Program: program, Levels: -1, Damages: -1, Scenes: []string{},
			Models: []crash.Model{crash.Model(p.Cuts[0].Model)},
		})
		for _, f := range rep.Violations {
			assert.False(t, f.ID == p.Expect && letters(f.Text) == letters(text), "still fails:\n%s", program)
		}
	}
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, s)
}

// A finding does not slip into another one of the same rule that is easier to have.
func TestShrinkingKeepsToItsFinding(t *testing.T) {
	s := broken.Subject("")
	read := s.Recover
	s.Recover = func(f afero.Fs, path string) (target.Recovered, error) {
		r, err := read(f, path)
		switch n := len(r.Records); {
		case n >= 5:
			r.Records = append([][]byte{[]byte(`{"type":"invented"}`)}, r.Records...)
		case n >= 2:
			r.Records = append(r.Records, r.Records[0])
		}
		return r, err
	}
	var p workload.Program
	for i := range 7 {
		p = append(p, workload.Step{Kind: workload.Append, Records: [][]byte{fmt.Appendf(nil, `{"type":"message","content":"r%d"}`, i)}})
	}
	file := &report.Repro{Subject: "lines", Contract: "lines", Expect: "UP202", Program: p, Cuts: []report.Cut{{Model: "kill", At: 43, Choice: "start"}}}
	small, info, err := explore.Shrink(t.Context(), s, oracle.Lines(), file, explore.ShrinkOptions{})
	require.NoError(t, err)
	assert.Len(t, small.Program, 5, "%s\n%s", info, small)
	assert.Contains(t, small.Comment[0], "was never appended")
}

// Whatever the number of workers, and run again, the result is the same; with a budget that is
// too small it makes no claim, and neither when it is interrupted.
func TestShrinkingIsDeterministicAndBounded(t *testing.T) {
	f := found(t, broken.CutNotSynced, "UP202")
	s := broken.Subject(broken.CutNotSynced)
	var first *report.Repro
	for _, workers := range []int{1, 2, 5} {
		p, info, err := explore.Shrink(t.Context(), s, oracle.Lines(), f.File, explore.ShrinkOptions{Workers: workers})
		require.NoError(t, err)
		assert.True(t, info.Minimal)
		if first == nil {
			first = p
		}
		assert.Equal(t, first.String(), p.String())
	}
	again, info, err := explore.Shrink(t.Context(), s, oracle.Lines(), first, explore.ShrinkOptions{})
	require.NoError(t, err)
	assert.Equal(t, first.Name(), again.Name(), "what is small stays as it is")
	assert.Equal(t, info.From, info.To)

	_, info, err = explore.Shrink(t.Context(), s, oracle.Lines(), f.File, explore.ShrinkOptions{Budget: 100})
	require.NoError(t, err)
	assert.True(t, info.Stopped)
	assert.False(t, info.Minimal)
	assert.Less(t, info.Judged, 200)

	ctx, cancel := context.WithCancel(t.Context())
	told := 0
	p, info, err := explore.Shrink(ctx, s, oracle.Lines(), f.File, explore.ShrinkOptions{Progress: func(explore.Shrunk) { told++; cancel() }})
	require.NoError(t, err)
	assert.Equal(t, 1, told)
	assert.True(t, info.Stopped)
	assert.Contains(t, info.String(), "stopped early")
	res, err := explore.Replay(s, oracle.Lines(), p)
	require.NoError(t, err)
	assert.NotNil(t, res.Expected)
}

func TestShrinkRefusesWhatDoesNotFail(t *testing.T) {
	f := found(t, broken.LostFsync, "UP201")
	_, _, err := explore.Shrink(t.Context(), broken.Subject(""), oracle.Lines(), f.File, explore.ShrinkOptions{})
	require.ErrorIs(t, err, explore.ErrPasses)
	far := *f.File
	far.Cuts = []report.Cut{{Model: "kill", At: 100_000}}
	_, _, err = explore.Shrink(t.Context(), broken.Subject(broken.LostFsync), oracle.Lines(), &far, explore.ShrinkOptions{})
	assert.ErrorContains(t, err, "behind the end of the trace")
}

// BenchmarkShrink is how long it takes to shrink a failing workload of 40 steps.
func BenchmarkShrink(b *testing.B) {
	for _, n := range []int{1, 12} {
		b.Run(fmt.Sprintf("record-%d", n), func(b *testing.B) {
			s := tiredAt(n)
			cfg := explore.Config{
				Subject: s, Contract: oracle.Lines(), Seed: 5, Steps: 40, MaxStates: 1000, Levels: -1, Damages: -1,
				Models: []crash.Model{crash.PosixWorst}, Scenes: []string{},
			}
			rep, err := explore.Run(b.Context(), cfg)
			require.NoError(b, err)
			judged := 0
			for b.Loop() {
				_, info, err := explore.Shrink(b.Context(), s, oracle.Lines(), rep.Violations[0].File, explore.ShrinkOptions{})
				require.NoError(b, err)
				judged = info.Judged
			}
			b.ReportMetric(float64(judged), "states/op")
			b.ReportMetric(float64(len(rep.Violations[0].File.Program)), "steps")
		})
	}
}

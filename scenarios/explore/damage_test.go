package explore_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/target"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// notes is a workload of n short records, of which one has a text with an escape.
func notes(n int) workload.Program {
	var p workload.Program
	for i := range n {
		p = append(p, workload.Step{Kind: workload.Append, Records: [][]byte{fmt.Appendf(nil, `{"type":"n","n":%d,"t":"a\"b"}`, 40+i)}})
	}
	return p
}

// damagedConfig is a run that does damage and nothing else: all that there is to a log of four lines.
func damagedConfig(s target.Subject, c oracle.Contract) explore.Config {
	return explore.Config{
		Subject: s, Contract: c, Seed: 1, Program: notes(4), NoCrash: true, Scenes: []string{},
		Damages: 1 << 20, Workers: 2,
	}
}

func damaged(t *testing.T, cfg explore.Config) *report.Report {
	t.Helper()
	rep, err := explore.Run(t.Context(), cfg)
	require.NoError(t, err)
	return rep
}

func clean(t *testing.T, rep *report.Report) {
	t.Helper()
	for _, f := range rep.Violations {
		t.Errorf("%s: %s\n%s\n got %q", f.ID, f.Text, f.Story, f.Got)
	}
}

func kindRow(t *testing.T, rep *report.Report, kind string) report.DamageKind {
	t.Helper()
	for _, k := range rep.Coverage.Damage.Kinds {
		if k.Kind == kind {
			return k
		}
	}
	t.Fatalf("no damage of kind %s", kind)
	return report.DamageKind{}
}

// checksummed is what the journal of sums promises: every byte in front of the last line.
func checksummed() oracle.Contract {
	return oracle.Contract{Name: "sums", AckOn: oracle.AckAppend, Detect: oracle.DetectBytes}
}

// replaced is the promise of a file that is only ever replaced, and finds all damage.
func replaced() oracle.Contract {
	return oracle.Contract{Name: "replaced", AckOn: oracle.AckAppend, NoTail: true, Detect: oracle.DetectBytes}
}

// An honest journal refuses everything that it promises to notice, at every place there is.
func TestDamageEverywhere(t *testing.T) {
	rep := damaged(t, damagedConfig(sums{}.subject(), checksummed()))
	clean(t, rep)
	d := rep.Coverage.Damage
	require.Len(t, d.Logs, 1)
	assert.True(t, d.Logs[0].Complete(), "%+v", d.Logs[0])
	assert.Equal(t, d.Logs[0].Of, d.Tried+d.Excused.Tried)
	assert.Less(t, d.Unique, d.Logs[0].Of, "some damages come out equal")
	assert.Zero(t, d.Silent+d.Over+d.Bad+d.Exact, "%+v", d)
	assert.Zero(t, d.Excused.Over+d.Excused.Bad, "%+v", d.Excused)
	assert.Positive(t, d.Excused.Tail, "a file cut inside its last line has a tail")
	assert.Positive(t, d.Excused.Silent, "a file cut between two lines looks like a shorter one")
	assert.Len(t, d.Kinds, 19)

	size := d.Logs[0].Bytes
	flips := kindRow(t, rep, "flip")
	assert.Equal(t, 8*size, flips.Tried+flips.Excused.Tried, "every bit")
	newlines := kindRow(t, rep, "newline")
	assert.Equal(t, size, newlines.Tried+newlines.Excused.Tried, "every byte")
	assert.Equal(t, size-1, kindRow(t, rep, "truncate").Excused.Tried, "every length")
	assert.Equal(t, 6, kindRow(t, rep, "swap").Tried, "every pair of four lines")
}

// Each kind of damage is seen by what it does to a journal that forgives that kind, and the
// saved finding shows it again.
func TestDamageThatIsForgivenIsCaught(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []struct {
		mistake  string
		contract oracle.Contract
		kinds    []string
	}{
		{"sum ignored", checksummed(), []string{"flip", "delete", "badutf8", "digit", "surrogate", "type"}},
		{"sum of what was decoded", checksummed(), []string{"member"}},
		{"lines with NULs skipped", checksummed(), []string{"nul"}},
		{"bom stripped", checksummed(), []string{"bom"}},
		{"cr stripped", checksummed(), []string{"crlf"}},
		{"blank lines skipped", checksummed(), []string{"newline"}},
		{"objects instead of lines", checksummed(), []string{"glue", "newline"}},
		{"a line like the last one skipped", checksummed(), []string{"duplicate"}},
		{"gaps accepted", checksummed(), []string{"dropline"}},
		{"sorted by number", checksummed(), []string{"swap"}},
		{"a number seen before skipped", checksummed(), []string{"repeat"}},
		{"a log that begins anew taken", checksummed(), []string{"again"}},
		{"replaced, cut", replaced(), []string{"truncate"}},
		{"replaced, emptied", oracle.AtomicReplace(), []string{"empty"}},
	} {
		t.Run(c.mistake, func(t *testing.T) {
			subject := sums{c.mistake}.subject()
			cfg := damagedConfig(subject, c.contract)
			if testing.Short() {
				cfg.Damages = 1500 // a sample, in which small kinds are whole
			}
			rep := damaged(t, cfg)
			for _, kind := range c.kinds {
				seen[kind] = true
				assert.Positive(t, kindRow(t, rep, kind).Bad, "%s: %+v", kind, kindRow(t, rep, kind))
			}
			require.Len(t, rep.Violations, 1, "one rule is broken")
			f := rep.Violations[0]
			assert.Equal(t, "UP203", f.ID)
			again, err := report.ParseRepro(f.File.String())
			require.NoError(t, err)
			res, err := explore.Replay(subject, c.contract, again)
			require.NoError(t, err)
			require.NotNil(t, res.Expected)
			assert.Equal(t, f.Text, res.Expected.Text)
			if c.contract.NoTail {
				return
			}
			res, err = explore.Replay(sums{}.subject(), c.contract, again)
			require.NoError(t, err)
			assert.Nil(t, res.Expected, "the journal without the mistake does not forgive it")
		})
	}
	rep := damaged(t, damagedConfig(sums{}.subject(), checksummed()))
	for _, k := range rep.Coverage.Damage.Kinds {
		assert.True(t, seen[k.Kind], "no journal shows that damage of kind %s is judged", k.Kind)
	}
}

// Findings of damage shrink to the fewest short records that show them, with damage of the same kind.
func TestDamageShrinks(t *testing.T) {
	for mistake, records := range map[string]int{
		"blank lines skipped": 1, "objects instead of lines": 2, "a log that begins anew taken": 1, "gaps accepted": 3, "sorted by number": 2,
	} {
		t.Run(mistake, func(t *testing.T) {
			subject := sums{mistake}.subject()
			cfg := damagedConfig(subject, checksummed())
			cfg.Program, cfg.Damages = workload.Random(1, 12), 3000
			rep := damaged(t, cfg)
			require.Len(t, rep.Violations, 1)
			small, info, err := explore.Shrink(t.Context(), subject, checksummed(), rep.Violations[0].File, explore.ShrinkOptions{Workers: 2})
			require.NoError(t, err)
			assert.LessOrEqual(t, small.Program.Records(), records, "%s\n%s", info, small)
			assert.Equal(t, strings.Fields(rep.Violations[0].File.Damage)[0], strings.Fields(small.Damage)[0])
			res, err := explore.Replay(subject, checksummed(), small)
			require.NoError(t, err)
			require.NotNil(t, res.Expected)
		})
	}
}

// Where the contract promises nothing, nothing is a broken promise; the grades are the same.
func TestDamageThatIsExcused(t *testing.T) {
	rep := damaged(t, damagedConfig(sums{"sum ignored"}.subject(), oracle.Append()))
	clean(t, rep)
	d := rep.Coverage.Damage
	assert.Zero(t, d.Tried)
	assert.Positive(t, d.Excused.Silent)
	assert.Equal(t, d.Logs[0].Of, d.Excused.Tried)
}

// A refusal of what a crash may have left is counted as one too many.
func TestOverRefusalOfACutFile(t *testing.T) {
	rep := damaged(t, damagedConfig(sums{"a torn line refused"}.subject(), checksummed()))
	clean(t, rep)
	row := kindRow(t, rep, "truncate")
	lines := 4
	assert.Equal(t, row.Of-(lines-1), row.Excused.Over, "each length but those at which a line ends: %+v", row)
	assert.Equal(t, lines-1, row.Excused.Silent)
}

// A run on a log that does not fit the budget is a seeded sample of every kind, the same on any
// number of workers.
func TestDamageIsSampled(t *testing.T) {
	run := func(workers int, seed uint64) *report.Report {
		cfg := damagedConfig(sums{"lines with NULs skipped"}.subject(), checksummed())
		cfg.Damages, cfg.Workers, cfg.Seed = 200, workers, seed
		return damaged(t, cfg)
	}
	one, four := run(1, 1), run(4, 1)
	assert.Empty(t, cmp.Diff(one.Coverage.Damage, four.Coverage.Damage))
	assert.NotEmpty(t, one.Violations)
	assert.Empty(t, cmp.Diff(one.Violations, four.Violations))
	d := one.Coverage.Damage
	assert.Equal(t, 200, d.Logs[0].Tried)
	assert.Less(t, d.Logs[0].Tried, d.Logs[0].Of)
	assert.Len(t, d.Kinds, 19)
	for _, k := range d.Kinds {
		assert.Positive(t, k.Tried+k.Excused.Tried, k.Kind)
	}
	assert.NotEmpty(t, cmp.Diff(one.Coverage.Damage, run(1, 2).Coverage.Damage), "another seed is another sample")
}

// A workload whose log is large has a small one made of its shortest steps, which is damaged
// everywhere.
func TestASmallLogIsDamagedEverywhere(t *testing.T) {
	cfg := damagedConfig(sums{}.subject(), checksummed())
	long := fmt.Appendf(nil, `{"type":"n","t":%q}`, strings.Repeat("long ", 500))
	cfg.Program = append(workload.Program{{Kind: workload.Append, Records: [][]byte{long}}}, notes(3)...)
	cfg.Damages = 9_000
	rep := damaged(t, cfg)
	clean(t, rep)
	logs := rep.Coverage.Damage.Logs
	require.Len(t, logs, 2)
	assert.Equal(t, "small", logs[0].Log)
	assert.True(t, logs[0].Complete(), "%+v", logs[0])
	assert.LessOrEqual(t, logs[0].Bytes, 2048)
	assert.Less(t, logs[0].Of, logs[1].Of/2)
	assert.Equal(t, "whole", logs[1].Log)
	assert.False(t, logs[1].Complete(), "%+v", logs[1])
	assert.LessOrEqual(t, logs[0].Tried+logs[1].Tried, cfg.Damages)
}

// Equal bytes are recovered once.
func TestDamageThatComesOutEqualIsRecoveredOnce(t *testing.T) {
	var mu sync.Mutex
	recovered := map[string]int{}
	s := sums{}.subject()
	read := s.Recover
	s.Recover = func(fsys afero.Fs, name string) (target.Recovered, error) {
		data, _ := afero.ReadFile(fsys, name)
		mu.Lock()
		recovered[string(data)]++
		mu.Unlock()
		return read(fsys, name)
	}
	rep := damaged(t, damagedConfig(s, checksummed()))
	clean(t, rep)
	times := 0
	for _, n := range recovered {
		times += n
	}
	assert.Equal(t, rep.Coverage.Damage.Unique+1, times, "and once with no damage")
}

// Panics at damaged bytes are findings under every contract.
func TestPanicAtDamage(t *testing.T) {
	s := sums{}.subject()
	read := s.Recover
	s.Recover = func(fsys afero.Fs, name string) (target.Recovered, error) {
		data, _ := afero.ReadFile(fsys, name)
		if len(data) > 0 && data[0] == 0 {
			panic("index out of range")
		}
		return read(fsys, name)
	}
	for _, c := range []oracle.Contract{checksummed(), oracle.Append()} {
		rep := damaged(t, damagedConfig(s, c))
		require.Len(t, rep.Violations, 1, c.Name)
		assert.Equal(t, "recovery panicked at a damaged log", rep.Violations[0].Text)
		assert.Positive(t, rep.Coverage.Damage.Other+rep.Coverage.Damage.Excused.Other)
	}
}

// A refused open that changes files is caught, whatever the contract promises about damage.
func TestHandsOffDamage(t *testing.T) {
	s := sums{}.subject()
	open := s.Open
	var opened atomic.Int64
	s.Open = func(fsys afero.Fs, name string) (target.Journal, error) {
		j, err := open(fsys, name)
		if s.IsCorrupt(err) && opened.Add(1) > 0 {
			_ = fsys.Rename(name, name+".bad")
			if f, e := fsys.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600); e == nil {
				_ = f.Close()
			}
		}
		return j, err
	}
	rep := damaged(t, damagedConfig(s, checksummed()))
	require.Positive(t, opened.Load())
	require.Len(t, rep.Violations, 1)
	assert.Equal(t, "UP208", rep.Violations[0].ID)
	assert.Equal(t, "an open of a damaged log failed, and changed the files", rep.Violations[0].Text)
}

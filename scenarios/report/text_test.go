package report_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

// failing is a report with everything that a report can say.
func failing() *report.Report {
	return &report.Report{
		Schema: report.Schema, Subject: "reference", Bug: "lost-fsync", Contract: "lines", Seed: 7, Ops: 40, Rounds: 3,
		States: 1_234_567, Unique: 98_765, Elapsed: 83.4, Rate: 14_802.9,
		Models: []report.Model{
			{Model: "kill", Tear: 4096, States: 412, Of: "412", Unique: 212, Exhaustive: true, Tails: 31},
			{Model: "ext4-ooo", Tear: 512, States: 40_000, Of: "806359057", Unique: 39_001, Tails: 12_004, Refused: 1142, Violations: 984},
			{Model: "lying-flush", Tear: 1, States: 300, Of: "300", Unique: 290, Exhaustive: true, Lost: 280, Detected: 20},
		},
		Violations: []report.Finding{
			{
				ID: "UP201", Name: "acknowledged record lost", Model: "ext4-ooo", Text: "acknowledged record 6 is lost", Times: 1984,
				Story: "… · append #0 … #5 acknowledged · append #6 acknowledged · CUT (inside sync log.jsonl: log.jsonl: size 480 is on disk, bytes 240..480 are not (NUL))",
				Want:  []string{"a", "b", "c", "d\x1b[2J", strings.Repeat("水", 90)},
				Got:   []string{"a", "b"},
				Repro: "unplug-out/up201-6b1f0c00.unplug", Rerun: "unplug replay unplug-out/up201-6b1f0c00.unplug",
			},
			{ID: "UP203", Name: "silent damage", Text: "damage changed what recovery returns", Times: 1, Want: []string{"a corruption error"}, Got: []string{"1", "2", "3", "4", "5", "6"}},
			{ID: "UP201", Name: "acknowledged record lost", Model: "prefix", Times: 3, Rerun: "unplug replay unplug-out/up201-00000001.unplug"},
		},
		Coverage: report.Coverage{
			Cuts: 812, Reached: 800, Kinds: map[string]int{"torn": 120, "before-barrier": 96, "odd": 1}, Never: []string{"mid-compaction"},
			Nested: []report.Nested{{Level: 1, Lives: 2500, Of: 2500, States: 48_112, Unique: 9120, All: true}, {Level: 2, Lives: 100, Of: 8123, States: 2011, Unique: 1700}},
			Damage: report.Damage{
				Grades:  report.Grades{Tried: 401, Refused: 380, Tail: 12, Exact: 7, Silent: 1, Other: 1, Bad: 2},
				Excused: report.Grades{Tried: 3000, Refused: 2900, Tail: 98, Over: 2},
				Unique:  3100,
				Kinds: []report.DamageKind{
					{Kind: "flip", Of: 400, Grades: report.Grades{Tried: 300, Refused: 299, Silent: 1}, Excused: report.Grades{Tried: 100, Tail: 98, Over: 2}},
					{Kind: "again", Of: 1, Excused: report.Grades{Tried: 1, Refused: 1}},
				},
				Logs: []report.DamagedLog{{Log: "small", Bytes: 1812, Tried: 3000, Of: 3000}, {Log: "whole", Bytes: 31_000, Tried: 401, Of: 310_000}},
			},
		},
		Survived: "prefix",
		Notes:    []string{"could not save UP203: the disk is full"},
	}
}

func passing() *report.Report {
	return &report.Report{
		Subject: "lines", Contract: "lines", Seed: 1, Ops: 1, Rounds: 1, States: 12, Unique: 8,
		Models:   []report.Model{{Model: "synced", Tear: 4096, States: 12, Of: "12", Unique: 8, Exhaustive: true}},
		Coverage: report.Coverage{Cuts: 9, Reached: 9, Kinds: map[string]int{"torn": 2}, Complete: true},
		Survived: "",
	}
}

func vacuous() *report.Report {
	r := passing()
	r.States, r.Unique, r.Coverage.Complete = 0, 0, false
	r.Vacuity = []report.Finding{{ID: "UP403", Name: "nothing cut", Text: "no crash state was judged"}}
	return r
}

func text(t *testing.T, r *report.Report, layout report.Text) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.WriteText(&b, layout))
	return b.String()
}

func TestTextIsGolden(t *testing.T) {
	for _, tc := range []struct {
		name, why string
		report    *report.Report
		layout    report.Text
	}{
		{"failing", "everything that a report can say", failing(), report.Text{}},
		{"narrow", "80 columns", failing(), report.Text{Width: 80}},
		{"quiet", "findings and the verdict only", failing(), report.Text{Quiet: true}},
		{"colour", "each colour begins and ends", passing(), report.Text{Color: true}},
		{"passing", "no time is known", passing(), report.Text{}},
		{"vacuous", "a run that proves nothing is neither OK nor FAIL", vacuous(), report.Text{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := text(t, tc.report, tc.layout)
			golden := filepath.Join("testdata", tc.name+".golden")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(string(want), got), tc.why)
		})
	}
}

func TestTextFitsItsWidth(t *testing.T) {
	for _, width := range []int{60, 80, 100} {
		table := 0
		for line := range strings.Lines(text(t, failing(), report.Text{Width: width})) {
			line = strings.TrimSuffix(line, "\n")
			wide := utf8.RuneCountInString(line) + strings.Count(line, "水")
			switch {
			case strings.HasPrefix(line, "  model "):
				table = 5 // the heading, three models and a remark
			case table > 0:
				table--
			case strings.Contains(line, "unplug replay"):
				continue // what is copied stays whole
			}
			if table > 0 {
				assert.LessOrEqual(t, wide, 80, line)
			} else {
				assert.LessOrEqual(t, wide, width, line)
			}
		}
	}
}

func TestTextShowsNoControlCharacters(t *testing.T) {
	got := text(t, failing(), report.Text{})
	assert.NotContains(t, got, "\x1b")
	assert.Contains(t, got, `d\x1b[2J`, "they are spelt instead")
}

// fails is a writer that fails after n writes.
type fails struct{ n int }

var errFull = errors.New("disk full")

func (f *fails) Write(p []byte) (int, error) {
	if f.n--; f.n < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestTextGivesTheWritersError(t *testing.T) {
	for n := range 20 {
		require.ErrorIs(t, failing().WriteText(&fails{n}, report.Text{}), errFull)
	}
	require.ErrorIs(t, failing().WriteJSON(&fails{}), errFull)
}

func TestEveryRuleIsExplained(t *testing.T) {
	for _, r := range oracle.Rules() {
		var b bytes.Buffer
		page := report.Text{}.Page(&b)
		page.Rule(r)
		require.NoError(t, page.Err())
		flat := strings.Join(strings.Fields(b.String()), " ")
		for _, part := range []string{r.ID, r.Name, r.What, r.Risk, r.Next} {
			assert.NotEmpty(t, part)
			assert.Contains(t, flat, part)
		}
	}
}

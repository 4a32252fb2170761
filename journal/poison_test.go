package journal_test

import (
	"errors"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/journal"
)

func TestAFileThatIsChangedUnderTheJournalPoisonsIt(t *testing.T) {
	change := map[string]func(afero.Fs) error{
		"removed": func(f afero.Fs) error { return f.Remove(logPath) },
		"renamed": func(f afero.Fs) error { return f.Rename(logPath, logPath+".1") },
		"replaced": func(f afero.Fs) error {
			if err := f.Rename(logPath, logPath+".1"); err != nil {
				return err
			}
			return afero.WriteFile(f, logPath, []byte("{}\n"), 0o600)
		},
		"cut": func(f afero.Fs) error {
			h, err := f.OpenFile(logPath, 1, 0)
			if err != nil {
				return err
			}
			return errors.Join(h.Truncate(10), h.Close())
		},
		"written to": func(f afero.Fs) error {
			h, err := f.OpenFile(logPath, 0x401, 0)
			if err != nil {
				return err
			}
			_, err = h.WriteString("x")
			return errors.Join(err, h.Close())
		},
	}
	for name, do := range change {
		for where, fsys := range map[string]afero.Fs{"memory": faultfs.NewMem(image.New()), "disk": afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())} {
			t.Run(name+" "+where, func(t *testing.T) {
				j := open(t, fsys, options())
				require.NoError(t, j.Append(user(1)))
				require.NoError(t, do(fsys))
				var poisoned *journal.PoisonedError
				require.ErrorAs(t, j.Append(user(2)), &poisoned)
				require.ErrorAs(t, j.Append(user(3)), &poisoned)
				require.ErrorAs(t, j.Sync(), &poisoned)
				require.ErrorAs(t, j.Checkpoint(), &poisoned)
				require.NoError(t, j.Close())
			})
		}
	}
}

// A copy in the file's place has the right size and is another file all the same.
func TestACopyInThePlaceOfTheFileIsNoticed(t *testing.T) {
	fsys := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	j := open(t, fsys, options())
	require.NoError(t, j.Append(user(1)))
	spare := read(t, fsys, logPath)
	size := len(spare)
	require.NoError(t, j.Append(user(2)))
	spare = append(spare, read(t, fsys, logPath)[size:]...)
	require.NoError(t, fsys.Rename(logPath, logPath+".1"))
	require.NoError(t, afero.WriteFile(fsys, logPath, append(spare, spare[size:]...), 0o600)) // as long as the open file will be
	var poisoned *journal.PoisonedError
	err := j.Append(user(3))
	require.ErrorAs(t, err, &poisoned)
	require.ErrorContains(t, err, "replaced by another file")
	require.NoError(t, j.Close())
}

func TestFailedWritesAreTakenBackAndFailedSyncsPoison(t *testing.T) {
	for _, tt := range []struct {
		rule     string
		poisoned bool
	}{
		{"on write s1.jsonl 2 -> enospc", false},
		{"on write s1.jsonl 2 -> eio", false},
		{"on write s1.jsonl 2 -> short 17", false},
		{"on write s1.jsonl 2 -> short 17\non truncate s1.jsonl 1 -> eio", true},
		{"on write s1.jsonl 2 -> short 17\non sync s1.jsonl 3 -> fail-clean", true},
		{"on sync s1.jsonl 3 -> fail-clean", true},
		{"on sync s1.jsonl 3 -> fail-false", true},
		{"on sync s1.jsonl 3 -> fail-ro", true},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			plan, err := faultfs.ParsePlan(tt.rule)
			require.NoError(t, err)
			mem := faultfs.NewMem(image.New())
			fsys := faultfs.New(mem, faultfs.WithPlan(plan))
			j := open(t, fsys, options())
			require.NoError(t, j.Append(user(0)))
			err = j.Append(user(1))
			require.Error(t, err)
			require.Empty(t, fsys.Unused())
			var poisoned *journal.PoisonedError
			require.Equal(t, tt.poisoned, errors.As(err, &poisoned), "%v", err)
			want := []string{"water bed 0"}
			if err := j.Append(user(2)); tt.poisoned {
				require.ErrorAs(t, err, &poisoned)
			} else {
				require.NoError(t, err)
				want = append(want, "water bed 2")
			}
			require.NoError(t, j.Close())
			rec, err := journal.Recover(crashed(mem), logPath, options())
			require.NoError(t, err)
			got := contents(rec.Events)
			if tt.poisoned { // what the failed call wrote may be there
				got = got[:1]
			}
			assert.Equal(t, want, got)
		})
	}
}

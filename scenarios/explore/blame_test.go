package explore_test

import (
	"context"
	"errors"
	"os"
	"path"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/scenarios/broken"
	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/target"
	"github.com/unplug-go/unplug/scenarios/workload"
)

const nothingHelps = "no single sync or order change helps: the bytes are wrong, not their order"

// The sync that each known-bad journal lacks is named at its place; where no sync is missing,
// that is said.
func TestBlame(t *testing.T) {
	for bug, want := range map[string]string{
		broken.LostFsync: "one sync of /journal/log.jsonl between op 9 (write journal/log.jsonl 0..95) and op 11 (append 0 acked) makes the one failing state pass",
		broken.EarlyAck:  "one sync of /journal/log.jsonl between op 9 (write journal/log.jsonl 0..95) and op 11 (append 0 acked) makes the one failing state pass",
		broken.CutNotSynced: "one sync of /journal/log.jsonl between op 2 (truncate journal/log.jsonl to 95) and op 8 " +
			"(write journal/log.jsonl 95..583) of the recovery makes the one failing state pass",
		broken.NoDirSync: "no single sync helps; one each of the folders / and /journal between op 2 (create journal/log.jsonl) and op 10 " +
			"(append x0 acked) of the recovery makes the one failing state pass",
		broken.LateNewline:    nothingHelps,
		broken.GluedTail:      nothingHelps,
		broken.MarkersSwapped: nothingHelps,
		broken.SkipsBadLine:   "no sync is missing: every byte was on the disk when it was damaged",
	} {
		t.Run(bug, func(t *testing.T) {
			b, err := broken.Find(bug)
			require.NoError(t, err)
			f := found(t, bug, b.Rule)
			p, _, err := explore.Shrink(t.Context(), broken.Subject(bug), broken.Contract(bug), f.File, explore.ShrinkOptions{})
			require.NoError(t, err)
			got, err := explore.Blame(t.Context(), broken.Subject(bug), broken.Contract(bug), p, 0)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
}

// deaf is a file system on which syncs of one name do nothing.
type deaf struct {
	afero.Fs
	name string
}

func (d deaf) Open(name string) (afero.File, error) {
	f, err := d.Fs.Open(name)
	if err == nil && name == d.name {
		return mute{f}, nil
	}
	return f, err
}

type mute struct{ afero.File }

func (mute) Sync() error { return nil }

// lazy is a journal that makes its file with the first record, and syncs it, the folder first,
// only when it is told to; it promises every append all the same.
type lazy struct {
	fsys afero.Fs
	name string
	file afero.File
}

func (l *lazy) Append(record []byte) (err error) {
	if l.file == nil {
		if l.file, err = l.fsys.OpenFile(l.name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
			return err
		}
	}
	_, err = l.file.Write(append(record, '\n'))
	return err
}

func (l *lazy) Sync() error {
	if l.file == nil {
		return nil
	}
	folder, err := l.fsys.Open(path.Dir(l.name))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close(), l.file.Sync())
}

func (l *lazy) Close() error { return nil }

// saver is a journal that puts a new file in the place of the old one with each record.
type saver struct {
	fsys afero.Fs
	name string
	data []byte
}

func (s *saver) Append(record []byte) error {
	s.data = append(append(s.data, record...), '\n')
	tmp := s.name + ".tmp"
	if err := afero.WriteFile(s.fsys, tmp, s.data, 0o600); err != nil {
		return err
	}
	if err := s.fsys.Rename(tmp, s.name); err != nil {
		return err
	}
	folder, err := s.fsys.Open(path.Dir(s.name))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

func (s *saver) Sync() error  { return nil }
func (s *saver) Close() error { return nil }

// unnumbered reads lines back.
func unnumbered(f afero.Fs, name string) (r target.Recovered, err error) {
	data, err := afero.ReadFile(f, name)
	for start := 0; err == nil; {
		end := start
		for end < len(data) && data[end] != '\n' {
			end++
		}
		if end == len(data) {
			r.Tail = target.Tail{Offset: int64(start), Length: int64(end - start)}
			break
		}
		r.Records = append(r.Records, data[start:end])
		start = end + 1
	}
	return r, err
}

// Blame of traces that no known-bad journal has: a folder, an order, a rename.
func TestBlameOfOtherTraces(t *testing.T) {
	good := broken.Subject("")
	folders := func(f afero.Fs, name string) error {
		if err := f.MkdirAll(path.Dir(name), 0o700); err != nil {
			return err
		}
		root, err := f.Open("/")
		if err != nil {
			return err
		}
		return errors.Join(root.Sync(), root.Close())
	}
	record := workload.Step{Kind: workload.Append, Records: [][]byte{[]byte(`{"type":"message","content":"a"}`)}}
	for _, c := range []struct {
		name, want string
		subject    target.Subject
	}{
		{
			"a folder is not synced",
			"one sync of the folder /journal between op 2 (create journal/log.jsonl) and op 9 (append 0 acked) makes the one failing state pass",
			target.Subject{Recover: good.Recover, Open: func(f afero.Fs, name string) (target.Journal, error) {
				return good.Open(deaf{f, "/journal"}, name)
			}},
		},
		{
			"acknowledged in front of two syncs",
			"moving op 8 (append 0 acked) behind op 11 (sync journal/log.jsonl) makes all 2 failing states pass",
			target.Subject{Recover: unnumbered, Open: func(f afero.Fs, name string) (target.Journal, error) {
				return &lazy{fsys: f, name: name}, folders(f, name)
			}},
		},
		{
			"renamed before it was synced",
			"one sync of /journal/log.jsonl.tmp between op 6 (write journal/log.jsonl.tmp 0..33) and op 10 (append 0 acked) makes the one failing state pass",
			target.Subject{Recover: unnumbered, Open: func(f afero.Fs, name string) (target.Journal, error) {
				return &saver{fsys: f, name: name}, folders(f, name)
			}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := small(c.subject)
			cfg.Program = workload.Program{record, {Kind: workload.Sync}}
			cfg.Models, cfg.Levels, cfg.Damages, cfg.Scenes = cfg.Models[1:2], -1, -1, []string{}
			rep := run(t, cfg)
			require.NotEmpty(t, rep.Violations)
			for _, f := range rep.Violations {
				if f.ID != "UP201" && f.ID != "UP211" || len(f.File.Program) == 0 {
					continue
				}
				got, err := explore.Blame(t.Context(), c.subject, cfg.Contract, f.File, 0)
				require.NoError(t, err)
				assert.Equal(t, c.want, got, f.Story)
			}
		})
	}
}

// Without the time to look at everything nothing is said.
func TestBlameIsBounded(t *testing.T) {
	f := found(t, broken.GluedTail, "UP206")
	got, err := explore.Blame(t.Context(), broken.Subject(broken.GluedTail), oracle.Lines(), f.File, 5)
	require.NoError(t, err)
	assert.Empty(t, got)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err = explore.Blame(ctx, broken.Subject(broken.GluedTail), oracle.Lines(), f.File, 0)
	require.NoError(t, err)
	assert.Empty(t, got)
}

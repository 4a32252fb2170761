// Package scenarios puts a journal through the whole suite in `go test`:
//
//	func TestUnplug(t *testing.T) {
//		scenarios.Run(t, scenarios.Subject{
//			Open:    func(fs afero.Fs, path string) (scenarios.Journal, error) { return Open(fs, path) },
//			Recover: func(fs afero.Fs, path string) (scenarios.Recovered, error) { … },
//			Corrupt: func(err error) bool { return errors.Is(err, ErrCorrupt) },
//		}, scenarios.With(scenarios.Strict()))
//	}
//
// The plug is pulled at every moment of a seeded workload, under each persistence model;
// recovery runs on every state that the model allows, is crashed itself, and is judged by
// the contract. A finding fails the test with its story, what was promised, what came back,
// and one line that reruns it. A run that tested nothing fails too.
package scenarios

import (
	"testing"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/target"
)

// What a plug-in needs, under one roof.
type (
	// Subject is a journal under test.
	Subject = target.Subject
	// Journal is an open journal.
	Journal = target.Journal
	// Recovered is what a journal says after a crash.
	Recovered = target.Recovered
	// Tail is what recovery left aside at the end.
	Tail = target.Tail
	// View is the state after compaction.
	View = target.View
	// Reader is one more way to read a journal back.
	Reader = target.Reader
	// Reading is what a Reader says.
	Reading = target.Reading
	// Contract is what a journal promises, as data.
	Contract = oracle.Contract
	// Model is a persistence model.
	Model = crash.Model
)

// The words of a contract of one's own.
const (
	AckSync   = oracle.AckSync   // nil from Sync acknowledges everything appended before
	AckAppend = oracle.AckAppend // nil from Append acknowledges the record

	RefuseNothing    = oracle.RefuseNothing    // every legal crash state opens
	RefuseTerminated = oracle.RefuseTerminated // damage that a crash left in front of a newline may be refused

	DetectNothing   = oracle.DetectNothing   // no promise about damage to synced bytes
	DetectStructure = oracle.DetectStructure // damage to a line's form is noticed
	DetectBytes     = oracle.DetectBytes     // any changed byte in front of the last line is

	WritersTrusted = oracle.WritersTrusted // the callers see to it that there is one writer
	WritersOne     = oracle.WritersOne     // the second opener is refused
	WritersMany    = oracle.WritersMany    // several may append at once
)

// Strict is the contract of a line journal that forgives only an unterminated last line.
func Strict() Contract { return oracle.Strict() }

// Watermark is the contract of a journal that opens every legal crash state.
func Watermark() Contract { return oracle.Watermark() }

// Lines is Strict for lines without a checksum.
func Lines() Contract { return oracle.Lines() }

// Lenient is the contract of a line journal that skips bad lines without a word.
func Lenient() Contract { return oracle.Lenient() }

// Append is Lenient for a file that is never synced: it promises to survive a kill only.
func Append() Contract { return oracle.Append() }

// AtomicReplace is the contract of a file that each append writes anew and renames into place.
func AtomicReplace() Contract { return oracle.AtomicReplace() }

// Option changes how [Run] works.
type Option func(*settings)

type settings struct {
	cfg      explore.Config
	skip     map[string]string // rule → reason
	baseline *baseline         // accepted findings; nil: none
}

// With sets the contract. The default is [Strict], acknowledging on Sync.
func With(c Contract) Option { return func(s *settings) { s.cfg.Contract = c } }

// Models sets the persistence models; the default set is that of `unplug torture`.
func Models(m ...Model) Option { return func(s *settings) { s.cfg.Models = m } }

// Budget bounds the states per model; above it they are sampled, and the log says so. With a budget,
// damage to synced bytes is sampled too, unless the log is small.
func Budget(states int) Option { return func(s *settings) { s.cfg.MaxStates = states } }

// Seed sets the seed of the workload (1 by default) and how many steps it has.
func Seed(seed uint64, steps int) Option {
	return func(s *settings) { s.cfg.Seed, s.cfg.Steps = seed, steps }
}

// Tear sets the unit of torn writes: 1, 512 or 4096 bytes.
func Tear(bytes int) Option { return func(s *settings) { s.cfg.Tear = bytes } }

// Codec sets how a JSON object becomes a record of the subject.
func Codec(encode func(object []byte) []byte) Option {
	return func(s *settings) { s.cfg.Subject.Encode = encode }
}

// Skip accepts findings of one rule, for a journal with a known weakness; they are logged
// with the reason.
func Skip(rule, reason string) Option { return func(s *settings) { s.skip[rule] = reason } }

// Run puts a subject through the suite: a subtest for each model, one for damage to synced
// bytes, and one for each scene (faults while the process lives on, several handles, several
// readers, several appenders). What the subject cannot do is skipped by name. With -short the
// budgets are a tenth; a run ends a little before the test's deadline.
func Run(t *testing.T, subject Subject, opts ...Option) {
	t.Helper()
	s := settingsFor(t, subject, opts)
	if s.baseline != nil {
		s.baseline.read(t)
		defer s.baseline.close(t)
	}
	rerunSaved(t, s)
	for _, m := range s.cfg.Models {
		t.Run(string(m), func(t *testing.T) {
			cfg := s.cfg
			cfg.Models, cfg.Scenes, cfg.Damages = []crash.Model{m}, []string{}, -1
			check(t, s, cfg)
		})
	}
	t.Run("damage", func(t *testing.T) { // what the contract does not vouch for is graded, and breaks nothing
		cfg := s.cfg
		cfg.NoCrash, cfg.Scenes = true, []string{}
		check(t, s, cfg)
	})
	for _, name := range explore.SceneNames() {
		t.Run(name, func(t *testing.T) {
			cfg := s.cfg
			cfg.NoCrash, cfg.Damages, cfg.Scenes = true, -1, []string{name}
			check(t, s, cfg)
		})
	}
	abilities(t, s.cfg)
}

// settingsFor puts the options together.
func settingsFor(t *testing.T, subject Subject, opts []Option) *settings {
	t.Helper()
	s := settings{cfg: explore.Config{Subject: subject, Contract: defaultContract(), Seed: 1, Workers: 2}, skip: map[string]string{}}
	for _, o := range opts {
		o(&s)
	}
	if s.cfg.Subject.Name == "" {
		s.cfg.Subject.Name = t.Name()
	}
	if len(s.cfg.Models) == 0 {
		s.cfg.Models = explore.DefaultModels(s.cfg.Contract)
	}
	if s.cfg.MaxStates == 0 { // no budget: everything
		s.cfg.Damages = explore.EveryDamage
	}
	if testing.Short() {
		s.shorten()
	}
	return &s
}

// defaultContract is Strict, acknowledging on Sync.
func defaultContract() Contract {
	c := Strict()
	c.AckOn = oracle.AckSync
	return c
}

func (s *settings) shorten() {
	short := func(v *int, def int) {
		if *v == 0 {
			*v = def
		}
		*v = max(*v/10, 1)
	}
	short(&s.cfg.MaxStates, explore.DefaultMaxStates)
	short(&s.cfg.Lives, explore.DefaultLives)
	short(&s.cfg.Deep, explore.DefaultDeep)
	s.cfg.Damages = explore.DefaultDamages / 10
	short(&s.cfg.Probes, explore.DefaultProbes)
}

// abilities names the scenarios that the subject cannot run.
func abilities(t *testing.T, cfg explore.Config) {
	t.Helper()
	missing := explore.Missing(cfg)
	for _, name := range []string{"batch", "compaction", "markers"} {
		reason, ok := missing[name]
		t.Run(name, func(t *testing.T) {
			if ok {
				t.Skip(reason)
			}
		})
	}
}

// sanitize makes a test name into a file name.
func sanitize(name string) string {
	b := []byte(name)
	for i, c := range b {
		if c == '/' || c == ' ' || c == ':' {
			b[i] = '_'
		}
	}
	return string(b)
}

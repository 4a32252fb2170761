// Package explore puts everything together: it drives the workload on the fault layer,
// walks the crash states that each persistence model allows, runs the subject's own
// recovery on every one, asks the oracle, and crashes the recoveries again. It is the only
// package that sees all the others.
//
// # Levels
//
// Level 0 crashes the workload. Each recovery is itself a run on the fault layer, with one
// more append behind it; level 1 crashes that at every operation, level 2 a seeded sample
// of the recoveries from level 1. What was covered is counted and reported; nothing is
// claimed beyond it.
//
// # Determinism
//
// The same configuration gives the same states, in the same order, with the same verdicts,
// whatever the number of workers.
package explore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/target"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// Defaults of [Config].
const (
	DefaultSteps     = 40
	DefaultMaxStates = 40_000 // per model, at level 0
	DefaultLives     = 4_000  // recoveries whose every op boundary is cut, at level 1
	DefaultDeep      = 100    // recoveries cut at level 2; about 20 states each
	DefaultDamages   = 2_000  // to closed logs
	EveryDamage      = 60_000 // enough for every byte and line of a log of 2 KiB, and a sample of a large one
	DefaultProbes    = 2_000  // tries of each scene
)

// Config is what to explore. The zero value of a number means its default.
type Config struct {
	Subject  target.Subject
	Bug      string // for reports only: the mistake planted in Subject
	Contract oracle.Contract
	Models   []crash.Model // empty: DefaultModels
	Tear     int           // 0: each model's own
	Seed     uint64
	Steps    int              // length of the random workload
	Program  workload.Program // a fixed workload instead of a random one
	Cuts     []CutKind        // only cuts of these kinds; empty: all
	Plan     faultfs.Plan     // faults while the workload runs

	MaxStates int // per model at level 0; above it, states are sampled
	Levels    int // how deep crashes nest: 0 is the default (2), -1 none
	Lives     int
	Deep      int
	Damages   int      // damages to closed logs at most: every one that there is, if that is enough; -1 none
	Probes    int      // tries of each scene; -1 none
	Scenes    []string // only these scenes; nil: all, empty: none
	Workers   int      // 0: one
	NoCrash   bool     // damage and scenes only
	FailFast  bool
	Wordings  bool      // tell each wording of a broken rule apart, so that a known one hides no other
	patience  int       // seconds; tests make it short
	syncs     *syncBook // of Weaken

	damageKind faultfs.DamageKind // of the shrinker: damage of this kind only

	// Progress is told, from one goroutine, how far the run is; nil is fine.
	Progress func(Progress)
	// Again is asked after each round whether to go on with the next seed; nil is one round.
	Again func(rounds int) bool
}

// Progress is how far a run is.
type Progress struct {
	Round  int
	Model  string
	States int // judged so far
	Unique int
	Tails  int
	Closed int // refused
	Bad    int
	Of     int // states that will be judged at level 0, in the rounds so far
	Done   int // of these

	Shrinking string // the rule whose finding is being shrunk; empty while exploring
	Steps     int    // shrinking: steps of the smallest workload so far
}

// CheckPlan refuses plans that an exploration cannot judge: damage to synced bytes is no
// crash (it is tried by itself, on the closed log), and a real SIGKILL would end the harness.
func CheckPlan(p faultfs.Plan) error {
	for _, rule := range p.Rules {
		switch {
		case rule.Fault.Kind == faultfs.SigKill:
			return fmt.Errorf("rule %q would kill unplug itself: use kill", rule)
		case slices.Contains(faultfs.DamageKinds(), faultfs.DamageKind(rule.Fault.Kind)), rule.Fault.Damage.Kind != "":
			return fmt.Errorf("rule %q damages synced bytes, which no crash does: torture tries damage by itself, on the closed log", rule)
		}
	}
	return nil
}

// ErrInterrupted is returned with a partial report when the context ended.
var ErrInterrupted = errors.New("interrupted")

// DefaultModels are the models that a contract is held to if nobody asks for others:
// [crash.Default], but for a file that is replaced as a whole without posix-worst. There a rename
// may be torn, which no file system does and no such journal can survive.
func DefaultModels(c oracle.Contract) []crash.Model {
	models := crash.Default()
	if c.NoTail {
		models = slices.DeleteFunc(models, func(m crash.Model) bool { return m == crash.PosixWorst })
	}
	return models
}

// fill puts the defaults in.
func (c *Config) fill() {
	if len(c.Models) == 0 {
		c.Models = DefaultModels(c.Contract)
	}
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&c.Steps, DefaultSteps)
	def(&c.MaxStates, DefaultMaxStates)
	def(&c.Levels, 2)
	def(&c.Lives, DefaultLives)
	def(&c.Deep, DefaultDeep)
	def(&c.Damages, DefaultDamages)
	def(&c.Probes, DefaultProbes)
	def(&c.Workers, 1)
	def(&c.patience, watchdog)
}

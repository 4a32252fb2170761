package scenarios

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// Machine is a property for rapid: a journal that is appended to, synced, compacted, rotated and
// reopened at random, whose plug is pulled at random, and which goes on from what the crash
// left. Each crash state is judged by the contract. [Run] is systematic and finds more in less
// time; a machine goes where no list of scenes does:
//
//	func TestMachine(t *testing.T) { rapid.Check(t, scenarios.Machine(subject)) }
//	func FuzzMachine(f *testing.F) { scenarios.Fuzz(f, subject) }
//
// Appends at the same time are no move of it: their order cannot be had again.
func Machine(subject Subject, opts ...Option) func(*rapid.T) {
	set := settings{cfg: explore.Config{Subject: subject, Contract: defaultContract()}, skip: map[string]string{}}
	for _, o := range opts {
		o(&set)
	}
	models := set.cfg.Models
	if len(models) == 0 {
		models = explore.DefaultModels(set.cfg.Contract)
	}
	return func(t *rapid.T) {
		s, err := explore.NewSession(set.cfg.Subject, set.cfg.Contract)
		if err != nil {
			t.Fatalf("open: %v", err)
		}
		m := &machine{session: s, steps: workload.NewGenerator(rapid.Uint64().Draw(t, "records")), models: models, skip: set.skip}
		t.Repeat(m.moves())
		m.crash(t)
	}
}

// Fuzz gives the machine to go's fuzzer, which then looks for programs and crashes by coverage.
func Fuzz(f *testing.F, subject Subject, opts ...Option) {
	f.Helper()
	f.Fuzz(rapid.MakeFuzz(Machine(subject, opts...)))
}

// machine is a session and what its moves need.
type machine struct {
	session *explore.Session
	steps   *workload.Generator
	models  []crash.Model
	skip    map[string]string
}

func (m *machine) moves() map[string]func(*rapid.T) {
	moves := map[string]func(*rapid.T){"crash": m.crash, "damage": m.damage}
	for _, k := range []workload.Kind{workload.Append, workload.Batch, workload.Sync, workload.Compact, workload.Cancel, workload.Rotate, workload.Reopen} {
		moves[string(k)] = func(t *rapid.T) { m.do(t, m.steps.Step(k)) }
	}
	return moves
}

func (m *machine) do(t *rapid.T, s workload.Step) {
	if err := m.session.Do(s); err != nil {
		t.Fatalf("%s failed with no fault: %v", s.Kind, err)
	}
}

func (m *machine) crash(t *rapid.T) {
	model := rapid.SampledFrom(m.models).Draw(t, "model")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "state"), 1))
	broken, story, err := m.session.Crash(model, rapid.Bool().Draw(t, "earlier"), rng)
	if err != nil {
		t.Fatalf("going on after a crash under %s: %v", model, err)
	}
	m.tell(t, broken, string(model)+": "+story)
}

func (m *machine) damage(t *rapid.T) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "damage"), 2))
	broken, story, err := m.session.Damage(rng)
	if err != nil {
		t.Fatalf("damage: %v", err)
	}
	m.tell(t, broken, story)
}

// tell fails with what was broken, unless it is accepted; the rest of such a run says nothing.
func (m *machine) tell(t *rapid.T, broken []oracle.Violation, story string) {
	for _, v := range broken {
		if why, ok := m.skip[v.Rule]; ok {
			t.Skipf("accepted: %s (%s)", v.Rule, why)
		}
		t.Fatalf("%s: %s\n  story   %s\n  want (-) got (+)\n%s  next    %s", v.Rule, v.Text, story, indent(cmp.Diff(v.Want, v.Got)), next(v.Rule))
	}
}

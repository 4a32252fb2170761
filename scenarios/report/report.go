// Package report is what a person or a program reads after a run: counts per model, the
// findings with their stories, what was reached and what was not, and the files that rerun
// a finding.
package report

import (
	"math/big"

	"github.com/unplug-go/unplug/scenarios/oracle"
)

// Schema names the JSON form of [Report].
const Schema = "unplug.torture/v1"

// Report is the result of a run.
type Report struct {
	Schema      string          `json:"schema"`
	Subject     string          `json:"subject"`
	Bug         string          `json:"bug,omitempty"`
	Contract    string          `json:"contract"`
	Models      []Model         `json:"models"`
	Seed        uint64          `json:"seed"`
	Ops         int             `json:"ops"`    // steps of the workload
	Rounds      int             `json:"rounds"` // workloads, with seeds Seed, Seed+1, …
	States      int             `json:"states"` // judged at all levels, equal ones counted each
	Unique      int             `json:"unique"` // told apart by bytes and obligations
	Violations  []Finding       `json:"violations"`
	Accepted    []Finding       `json:"accepted,omitempty"` // findings of the baseline: they do not fail the run
	Stale       []BaselineEntry `json:"stale,omitempty"`    // entries of the baseline that were not found again
	Vacuity     []Finding       `json:"vacuity,omitempty"`  // UP4xx: why the run proves nothing
	Coverage    Coverage        `json:"coverage"`
	Elapsed     float64         `json:"elapsed_seconds"`
	Rate        float64         `json:"states_per_second"`
	Interrupted bool            `json:"interrupted,omitempty"`      // it ended before its time: the counts are partial
	Survived    string          `json:"weakest_survived,omitempty"` // the weakest model without a violation
	Notes       []string        `json:"notes,omitempty"`
	Contracted  oracle.Contract `json:"-"`
}

// Model is the result under one persistence model.
type Model struct {
	Model      string `json:"model"`
	Tear       int    `json:"tear"`
	States     int    `json:"states"`
	Of         string `json:"of"` // how many the model allows, exactly
	Unique     int    `json:"unique"`
	Exhaustive bool   `json:"exhaustive"`
	Tails      int    `json:"tails"`
	Refused    int    `json:"refused"`
	Violations int    `json:"violations"`
	Lost       int    `json:"lost,omitempty"`     // lying-flush: acknowledged records lost
	Detected   int    `json:"detected,omitempty"` // lying-flush: refused, or nothing lost

	// Total is Of as a number, for sums over rounds.
	Total *big.Int `json:"-"`
}

// Nested counts the crashes of recoveries at one level.
type Nested struct {
	Level  int  `json:"level"`
	Lives  int  `json:"lives"` // recoveries that were cut
	Of     int  `json:"of"`    // recoveries that could have been
	States int  `json:"states"`
	Unique int  `json:"unique"`
	Bad    int  `json:"violations"` // states that broke a promise
	All    bool `json:"exhaustive"` // every recovery, each at the end of every epoch and (kill) at every op, with at most 16 states a cut
}

// Scene counts what was tried beside crashing the workload: faults, handles, readers.
type Scene struct {
	Name    string `json:"name"`
	Tried   int    `json:"tried"`
	Of      string `json:"of"`                // what one try is, in words: "faults", "schedules", "readings"
	Bad     int    `json:"violations"`        // tries that broke a promise
	Skipped string `json:"skipped,omitempty"` // why the subject cannot run it, or was not asked to
	Note    string `json:"note,omitempty"`    // what a reader should know about the number
}

// Coverage is what the run reached.
type Coverage struct {
	Cuts     int            `json:"cuts"`    // places at which the plug can be pulled
	Reached  int            `json:"reached"` // … at which it was
	Kinds    map[string]int `json:"kinds"`   // cuts reached, by kind
	Never    []string       `json:"never"`   // kinds that this run cannot reach, or did not
	Nested   []Nested       `json:"nested"`
	Damage   Damage         `json:"damage"`
	Scenes   []Scene        `json:"scenes"`
	Complete bool           `json:"complete"`
}

// Finding is one broken promise.
type Finding struct {
	ID    string   `json:"id"`              // the rule
	Name  string   `json:"name"`            // its name
	Model string   `json:"model"`           // the persistence model; empty for damage and scenes
	Scene string   `json:"scene,omitempty"` // the scene that it is from; empty for crashes of the workload
	Text  string   `json:"text"`
	Story string   `json:"story"`
	Want  []string `json:"want"`
	Got   []string `json:"got"`
	Times int      `json:"times"` // states that broke this rule under this model
	Repro string   `json:"repro"` // the file that was saved; empty if none was
	Rerun string   `json:"rerun,omitempty"`
	// Shrunk says what was left of the workload and that nothing more can go; empty if it was not shrunk.
	Shrunk string `json:"shrunk,omitempty"`
	// Blame says which one sync or order change would have saved the data; empty if it was not looked for.
	Blame string `json:"blame,omitempty"`

	// Later: recovery was right; it showed after one more append.
	Later bool `json:"-"`
	// File is the content of the repro file.
	File *Repro `json:"-"`
}

// Failed reports whether a promise was broken.
func (r *Report) Failed() bool { return len(r.Violations) > 0 }

// Inconclusive reports whether the run proves nothing.
func (r *Report) Inconclusive() bool { return len(r.Vacuity) > 0 }

// Refused is how many legal states were refused where the contract accepts it.
func (r *Report) Refused() int {
	n := 0
	for _, m := range r.Models {
		n += m.Refused
	}
	return n
}

// Tails is how many states came back with a tail reported.
func (r *Report) Tails() int {
	n := 0
	for _, m := range r.Models {
		n += m.Tails
	}
	return n
}

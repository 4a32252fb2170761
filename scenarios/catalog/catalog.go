// Package catalog lists the subjects that the command line knows by name, each with the
// contract that it is held to.
//
// "reference" and "reference-watermark" are package journal under its two contracts.
// "lines", "sums" and "snapshot" are the small journals of package broken, right as they are; a
// planted bug is one of them with one mistake.
package catalog

import (
	"fmt"
	"strings"

	"github.com/unplug-go/unplug/scenarios/broken"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/target"
)

// Entry is a subject that can be named.
type Entry struct {
	Name     string
	What     string // one sentence: what it is
	Contract oracle.Contract
	Subject  target.Subject
}

// Subjects are all entries, the reference first.
func Subjects() []Entry {
	all := references()
	for _, b := range broken.Bases() {
		all = append(all, Entry{Name: b.Name, What: b.What + "; --bug plants mistakes in it", Contract: b.Contract, Subject: b.Subject("")})
	}
	return all
}

// Find looks an entry up by name. With a bug it is the small journal that the mistake is made in,
// under that journal's contract, whatever the name; it keeps the name, so that a saved failure
// finds it again. The error says which names there are.
func Find(name, bug string) (Entry, error) {
	e, err := find(name)
	if err != nil || bug == "" {
		return e, err
	}
	b, err := broken.Find(bug)
	if err != nil {
		return Entry{}, err
	}
	e.What = "the journal " + b.Base + " with one mistake: " + b.What
	e.Contract = broken.Contract(bug)
	e.Subject = broken.Subject(bug)
	e.Subject.Name = name
	return e, nil
}

func find(name string) (Entry, error) {
	var names []string
	for _, e := range Subjects() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Entry{}, fmt.Errorf("unknown subject %q: want one of %s", name, strings.Join(names, ", "))
}

package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/broken"
	"github.com/unplug-go/unplug/scenarios/catalog"
	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/oracle"
)

// listed is what torture --list --json prints.
type listed struct {
	Subjects  []string    `json:"subjects"`
	Models    []string    `json:"models"`
	Bugs      []listedBug `json:"bugs"`
	Contracts []string    `json:"contracts"`
	Cuts      []string    `json:"cuts"`
}

type listedBug struct {
	Name string `json:"name"`
	Rule string `json:"rule"`
	What string `json:"what"`
	Base string `json:"base"`
}

// list prints what torture can be given.
func (a *app) list(asJSON bool) error {
	if asJSON {
		return internal(a.listJSON())
	}
	out := func(format string, args ...any) { fmt.Fprintf(a.stdout, format+"\n", args...) }
	out("subjects")
	for _, e := range catalog.Subjects() {
		out("  %-20s %s (contract %s)", e.Name, e.What, e.Contract.Name)
	}
	inDefault := map[crash.Model]bool{}
	for _, m := range crash.Default() {
		inDefault[m] = true
	}
	out("\nmodels (* in the default set; the tear unit in bytes)")
	for _, m := range crash.Models() {
		mark := " "
		if inDefault[m] {
			mark = "*"
		}
		left, stands, _ := strings.Cut(m.Doc(), ". Stands")
		out("%s %-13s %4d  %s.", mark, m, m.DefaultTear(), left)
		out("                      Stands%s", stands)
	}
	for _, base := range broken.Bases() {
		out("\nbugs (--bug) in %s, and the rule that must catch each", base.Name)
		for _, b := range broken.Bugs() {
			if b.Base == base.Name {
				out("  %-18s %s  %s", b.Name, b.Rule, b.What)
			}
		}
	}
	out("\ncontracts (--contract)  %s", strings.Join(contractNames(), ", "))
	out("cuts (--cut)            %s", strings.Join(cutNames(), ", "))
	return nil
}

func (a *app) listJSON() error {
	l := listed{Subjects: subjectNames(), Contracts: contractNames(), Cuts: cutNames()}
	for _, m := range crash.Models() {
		l.Models = append(l.Models, string(m))
	}
	for _, b := range broken.Bugs() {
		l.Bugs = append(l.Bugs, listedBug(b))
	}
	return json.NewEncoder(a.stdout).Encode(l)
}

func subjectNames() []string {
	var names []string
	for _, e := range catalog.Subjects() {
		names = append(names, e.Name)
	}
	return names
}

func contractNames() []string {
	var names []string
	for _, c := range oracle.Contracts() {
		names = append(names, c.Name)
	}
	return names
}

func cutNames() []string {
	var names []string
	for _, k := range explore.CutKinds() {
		names = append(names, string(k))
	}
	return names
}

func bugNames() []string {
	var names []string
	for _, b := range broken.Bugs() {
		names = append(names, b.Name)
	}
	return names
}

func modelNames() []string {
	names := []string{"default", "all"}
	for _, m := range crash.Models() {
		names = append(names, string(m))
	}
	return names
}

func completeSubjects(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return subjectNames(), cobra.ShellCompDirectiveNoFileComp
}

// complete gives shells the values of torture's flags.
func complete(cmd *cobra.Command) {
	for flag, values := range map[string][]string{
		"bug": bugNames(), "contract": contractNames(), "model": modelNames(), "cut": cutNames(), "tear": {"1", "512", "4096"},
	} {
		err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		if err != nil {
			panic(err) // the flags are defined a few lines above
		}
	}
}

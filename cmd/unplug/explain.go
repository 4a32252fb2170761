package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/oracle"
)

func (a *app) explain() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain [ID]",
		Short: "Say what a finding or a model means, and what to do next",
		Long: `explain says what must hold, what a user loses when it does not, and what to do next. Without
an ID it lists all of them. It also explains the persistence models by name.`,
		Example: `  unplug explain UP201
  unplug explain ext4-ooo
  unplug explain`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("explain: %d words %q: want one ID, or none for the list", len(args), args)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && asJSON:
				return internal(json.NewEncoder(a.stdout).Encode(explained(allRules()...)))
			case len(args) == 0:
				a.explainAll()
				return nil
			default:
				return a.explainOne(args[0], asJSON)
			}
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return explainable(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: an object, or an array for the list")
	return cmd
}

// allRules are the findings about bytes and the rules of the oracle, by ID.
func allRules() []oracle.Rule { return append(byteRules(), oracle.Rules()...) }

// findRule looks an ID up, in any case and with or without UP.
func findRule(id string) (oracle.Rule, bool) {
	id = "UP" + strings.TrimPrefix(strings.ToUpper(id), "UP")
	for _, r := range allRules() {
		if r.ID == id {
			return r, true
		}
	}
	return oracle.Rule{}, false
}

// explainable are the words that explain takes.
func explainable() []string {
	var out []string
	for _, r := range allRules() {
		out = append(out, r.ID)
	}
	for _, m := range crash.Models() {
		out = append(out, string(m))
	}
	return out
}

// explainedRule is what explain --json prints.
type explainedRule struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	What string `json:"what"`
	Risk string `json:"risk"`
	Next string `json:"next"`
}

func explained(rules ...oracle.Rule) []explainedRule {
	var out []explainedRule
	for _, r := range rules {
		out = append(out, explainedRule{r.ID, r.Name, r.What, r.Risk, r.Next})
	}
	return out
}

func (a *app) explainOne(word string, asJSON bool) error {
	if m, err := crash.ParseModel(word); err == nil {
		if asJSON {
			return internal(json.NewEncoder(a.stdout).Encode(map[string]any{"model": m, "what": m.Doc(), "tear": m.DefaultTear()}))
		}
		_, err := fmt.Fprintf(a.stdout, "model %s (tears at multiples of %d bytes unless --tear says otherwise)\n  %s\n", m, m.DefaultTear(), m.Doc())
		return internal(err)
	}
	r, ok := findRule(word)
	if !ok {
		return fmt.Errorf("explain: unknown ID %q: want one of %s", word, strings.Join(explainable(), ", "))
	}
	if asJSON {
		return internal(json.NewEncoder(a.stdout).Encode(explained(r)[0]))
	}
	page := a.text().Page(a.stdout)
	page.Rule(r)
	return internal(page.Err())
}

func (a *app) explainAll() {
	section := ""
	for _, r := range allRules() {
		if title := sections[r.ID[:3]]; title != section {
			if section != "" {
				fmt.Fprintln(a.stdout)
			}
			section = title
			fmt.Fprintln(a.stdout, title)
		}
		fmt.Fprintf(a.stdout, "  %s  %s\n", r.ID, r.Name)
	}
	fmt.Fprintln(a.stdout, "\nmodels")
	for _, m := range crash.Models() {
		fmt.Fprintf(a.stdout, "  %s\n", m)
	}
	fmt.Fprintln(a.stdout, "\nunplug explain ID says more about one of them.")
}

//nolint:gochecknoglobals // headings of the list, read only
var sections = map[string]string{
	"UP1": "the bytes of a file (verify, inspect)",
	"UP2": "the promises of a journal (torture)",
	"UP3": "the mirror",
	"UP4": "why a run proves nothing",
}

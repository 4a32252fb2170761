package report

import (
	"encoding/json"
	"io"
)

// WriteJSON writes the report as one JSON object on one line, in the form that [Schema]
// names. Lists are never null. The error is the writer's.
func (r *Report) WriteJSON(w io.Writer) error {
	out := *r
	out.Schema = Schema
	if out.Models == nil {
		out.Models = []Model{}
	}
	out.Violations = filled(r.Violations, []Finding{})
	out.Accepted = filled(r.Accepted, nil)
	out.Vacuity = filled(r.Vacuity, nil)
	c := &out.Coverage
	if c.Kinds == nil {
		c.Kinds = map[string]int{}
	}
	if c.Never == nil {
		c.Never = []string{}
	}
	if c.Nested == nil {
		c.Nested = []Nested{}
	}
	if c.Damage.Kinds == nil {
		c.Damage.Kinds = []DamageKind{}
	}
	if c.Damage.Logs == nil {
		c.Damage.Logs = []DamagedLog{}
	}
	if c.Scenes == nil {
		c.Scenes = []Scene{}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false) // records are shown as they are; nothing here is a web page
	return enc.Encode(&out)
}

// filled copies findings behind into, with empty lists in the place of nil ones.
func filled(findings, into []Finding) []Finding {
	for _, f := range findings {
		if f.Want == nil {
			f.Want = []string{}
		}
		if f.Got == nil {
			f.Got = []string{}
		}
		into = append(into, f)
	}
	return into
}

// Package broken holds small journals that are right, and the same journals with one mistake at
// a time. The suite must pass the first and catch each of the others by the rule that is meant
// for it: that is the proof that it is not blind.
//
// # Lines
//
// A line is one record and a newline:
//
//	{"seq":1,"record":{…}}
//
// seq counts from 1. There is no checksum, as in most journals in the field. Reading is
// strict: an unterminated last line is a tail; any other line that is not what was written
// is damage.
package broken

import (
	"fmt"
	"strings"
)

// Find looks a mistake up by name.
func Find(name string) (Bug, error) {
	var names []string
	for _, b := range Bugs() {
		if b.Name == name {
			return b, nil
		}
		names = append(names, b.Name)
	}
	return Bug{}, fmt.Errorf("unknown bug %q: want one of %s", name, strings.Join(names, ", "))
}

package faultfs

import (
	"path"
	"strings"

	"github.com/unplug-go/unplug/faultfs/trace"
)

// matches reports whether the rule waits for this call.
func (r *Rule) matches(call Call, op *trace.Op) bool {
	if call == CallNote {
		return r.Call == CallNote && glob(flat(r.Match), flat(op.Text))
	}
	if r.Call != call && r.Call != CallAny {
		return false
	}
	return globPath(r.Match, op.Path) || op.Path2 != "" && globPath(r.Match, op.Path2)
}

// flat hides slashes, so that "*" in a note's glob passes them.
func flat(s string) string { return strings.ReplaceAll(s, "/", "\x00") }

func globPath(pattern, p string) bool {
	if !strings.Contains(pattern, "/") {
		p = p[strings.LastIndexByte(p, '/')+1:] // the root's name is ""
	}
	return glob(pattern, p)
}

// glob is path.Match with "**" for any run of characters, slashes too.
func glob(pattern, name string) bool {
	head, tail, found := strings.Cut(pattern, "**")
	if !found {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	}
	for cut := 0; cut <= len(name); cut++ {
		if ok, err := path.Match(head, name[:cut]); err != nil || !ok {
			continue
		}
		for rest := cut; rest <= len(name); rest++ {
			if glob(tail, name[rest:]) {
				return true
			}
		}
	}
	return false
}

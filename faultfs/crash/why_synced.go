package crash

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// whySynced compares the one state of [Synced] with what the running system saw.
func whySynced(st State) string {
	h := st.space.hist
	live := h.Base.Clone()
	for i := range h.Ops[:st.Cut.end(h.Ops)] {
		apply(live, &h.Ops[i])
	}
	have, want := pathsOf(st.Image), pathsOf(live)
	kept := inverse(have)
	var said []string
	live.Walk(func(path string, info image.Info) bool {
		ino, ok := kept[path]
		name := strings.TrimPrefix(path, "/")
		switch now, _ := st.Image.Stat(ino); {
		case !ok:
			said = append(said, "name "+name+" is lost")
		case info.Dir || now.Dir:
		case now.Size != info.Size:
			said = append(said, fmt.Sprintf("%s has %d of %d bytes", name, now.Size, info.Size))
		case !bytes.Equal(st.Image.Bytes(ino), live.Bytes(info.Ino)):
			said = append(said, name+" has the bytes of its last sync")
		}
		return true
	})
	seen := inverse(want)
	st.Image.Walk(func(path string, _ image.Info) bool {
		if _, ok := seen[path]; !ok {
			said = append(said, "name "+strings.TrimPrefix(path, "/")+" is still there")
		}
		return true
	})
	if len(said) == 0 {
		return "everything that happened was synced"
	}
	return "only what was synced is there: " + strings.Join(said, "; ")
}

func inverse(paths map[trace.Ino]string) map[string]trace.Ino {
	out := make(map[string]trace.Ino, len(paths))
	for ino, path := range paths {
		out[path] = ino
	}
	return out
}

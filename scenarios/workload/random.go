package workload

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Random is a program of n steps, the same for the same seed: mostly single appends of
// mixed sizes (some longer than a page, some with text that has broken line readers:
// U+2028, U+0085, multi-byte letters, quotes), with batches, syncs, compactions and reopens
// between. Each record is a compact JSON object and unlike every other of the program.
// The first record reaches over two sectors, so that even the shortest program can be torn
// inside a record. With 8 steps or more there is at least one of each kind of step.
func Random(seed uint64, n int) Program {
	g := generator{rng: rand.New(rand.NewPCG(seed, 0x756e706c7567))}
	p := make(Program, 0, n)
	for i := range n {
		g.long = i == 0
		p = append(p, g.step(kindAt(g.rng, i, n)))
	}
	return p
}

// kindAt draws the kind of step i of n. Six places are fixed, so that short programs too
// have every kind.
func kindAt(rng *rand.Rand, i, n int) Kind {
	if n >= 8 {
		switch i {
		case 0:
			return Append
		case n / 4:
			return Batch
		case n / 2:
			return Compact
		case n * 5 / 8:
			return Reopen
		case n * 3 / 4:
			return Sync
		case n * 7 / 8:
			return Cancel
		}
	}
	switch d := rng.IntN(40); {
	case d < 28:
		return Append
	case d < 33:
		return Batch
	case d < 37:
		return Sync
	case d < 38:
		return Compact
	default:
		return Reopen
	}
}

// Generator makes steps one at a time, for programs that are drawn elsewhere. Each record is
// unlike every other that it made.
type Generator struct{ g generator }

// NewGenerator makes the same steps for the same seed and kinds.
func NewGenerator(seed uint64) *Generator {
	return &Generator{generator{rng: rand.New(rand.NewPCG(seed, 0x73746570))}}
}

// Step is the next step of a kind.
func (g *Generator) Step(k Kind) Step { return g.g.step(k) }

type generator struct {
	rng  *rand.Rand
	next int
	long bool // the next text reaches over sectors
}

func (g *generator) step(k Kind) Step {
	s := Step{Kind: k}
	switch k {
	case Append:
		s.Records = [][]byte{g.record()}
	case Batch:
		for range 2 + g.rng.IntN(3) {
			s.Records = append(s.Records, g.record())
		}
	case Compact:
		s = g.compaction()
	case Cancel:
		s.Records = g.compaction().Records[:1]
		g.next -= 2
	case Sync, Rotate, Reopen, Together:
	}
	return s
}

// record is one event of the kinds that an agent's session has.
func (g *generator) record() []byte {
	n := g.next
	g.next++
	text := fmt.Sprintf("r%d %s", n, g.text())
	switch g.rng.IntN(6) {
	case 0:
		return object("type", "function_call", "name", "read_file", "arguments", map[string]string{"path": text}, "callId", fmt.Sprintf("call_%d", n))
	case 1:
		return object("type", "function_call_result", "callId", fmt.Sprintf("call_%d", n), "output", map[string]string{"content": text})
	case 2:
		return object("type", "reasoning", "content", text)
	case 3:
		return object("type", "message", "role", "assistant", "content", text)
	default:
		return object("type", "message", "role", "user", "content", text)
	}
}

func (g *generator) compaction() Step {
	n := g.next
	g.next += 3
	var replaces [][]byte
	for i := range 1 + g.rng.IntN(2) {
		replaces = append(replaces, object("type", "message", "role", "user", "content", fmt.Sprintf("summary %d.%d", n, i)))
	}
	raw := make([]json.RawMessage, len(replaces))
	for i, r := range replaces {
		raw[i] = r
	}
	return Step{
		Kind: Compact,
		Records: [][]byte{
			object("type", "compacted", "replacement_history", raw, "window", n),
			object("type", "world_state", "full", true, "state", map[string]string{"cwd": fmt.Sprintf("/srv/garden/%d", n)}),
			object("type", "turn_context", "model", "mock", "turn", n),
		},
		Replaces: replaces,
	}
}

// text is what has broken readers in the field, in sizes that cross sectors and pages.
func (g *generator) text() string {
	words := []string{"basil", "thyme", "Grüße", "水やり", "naïve", "\u2028", "\u0085", `"quoted"`, `back\slash`, "🌱", "tab\there", "line\nbreak"}
	size := 4 + g.rng.IntN(60)
	draw := g.rng.IntN(24)
	if g.long {
		draw = 1
	}
	switch draw {
	case 0:
		size = 4200 + g.rng.IntN(600)
	case 1, 2:
		size = 500 + g.rng.IntN(700)
	}
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(words[g.rng.IntN(len(words))])
		b.WriteByte(' ')
	}
	return b.String()
}

// object is a compact JSON object with its members in the order given.
func object(members ...any) []byte {
	b := []byte{'{'}
	for i := 0; i < len(members); i += 2 {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSON(b, members[i])
		b = append(b, ':')
		b = appendJSON(b, members[i+1])
	}
	return append(b, '}')
}

func appendJSON(b []byte, v any) []byte {
	var s strings.Builder
	enc := json.NewEncoder(&s)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("workload: %v", err)) // strings, numbers and maps of strings always encode
	}
	return append(b, strings.TrimSuffix(s.String(), "\n")...)
}

package crash

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"sort"
	"strconv"
	"strings"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// chain is a line of states: a start, and stops between and inside the ops after it. Two
// stops with equal images are one.
type chain struct {
	start *image.Image
	tear  int64
	links []link
	total uint64
}

// link is one op of a chain and the stops in it.
type link struct {
	at    int // op number
	op    *trace.Op
	first uint64 // rank of its first stop
	n     uint64
	some  []int // the stops that count, in bytes (1 for an op that is no write); nil is all of them
}

func newChain(start *image.Image, ops []trace.Op, from int, tear int64) *chain {
	c := &chain{start: start, tear: tear, total: 1}
	plain := true
	roll := start.Clone()
	for i := range ops {
		op := &ops[i]
		if !op.Changes() {
			continue
		}
		c.links = append(c.links, link{at: from + i, op: op})
		plain = plain && grows(roll, op)
		apply(roll, op)
	}
	if !plain {
		c.prune()
	}
	for i := range c.links {
		l := &c.links[i]
		l.first = c.total
		l.n = uint64(len(l.some))
		if plain {
			l.n = uint64(c.stops(l.op))
		}
		c.total += l.n
	}
	return c
}

// grows reports whether each step of op makes a tree that was not there before: a byte
// more, a name more. A chain of such ops has no two equal states, and need not be looked at.
func grows(img *image.Image, op *trace.Op) bool {
	switch op.Kind {
	case trace.Write:
		info, ok := img.Stat(op.Ino)
		return ok && info.Nlink > 0 && op.Off >= info.Size
	case trace.Create, trace.Mkdir, trace.Link:
		return true
	default:
		return false
	}
}

// prune walks the chain once and keeps the first stop of each distinct image.
func (c *chain) prune() {
	seen := map[image.Hash]struct{}{c.start.Hash(): {}}
	for i := range c.links {
		c.links[i].some = []int{}
	}
	c.each(false, func(img *image.Image, i, stop int) bool {
		h := img.Hash()
		if _, ok := seen[h]; !ok {
			seen[h] = struct{}{}
			c.links[i].some = append(c.links[i].some, stop)
		}
		return true
	})
}

// stops is the number of places to stop in op, its end included.
func (c *chain) stops(op *trace.Op) int {
	if op.Kind != trace.Write {
		return 1
	}
	first, last := op.Off/c.tear, (op.Off+int64(len(op.Data))-1)/c.tear
	return int(last - first + 1)
}

// stop is the j-th (from 1) place to stop in op: how many of its bytes are there.
func (c *chain) stop(op *trace.Op, j int) int {
	if op.Kind != trace.Write {
		return 1
	}
	end := (op.Off/c.tear+int64(j))*c.tear - op.Off
	return int(min(end, int64(len(op.Data))))
}

// each walks one working image over every stop (or, with only, those that count) and
// shows it. The start is not shown.
func (c *chain) each(only bool, show func(img *image.Image, link, stop int) bool) {
	img := c.start.Clone()
	for i := range c.links {
		l := &c.links[i]
		n := c.stops(l.op)
		if only && l.some != nil {
			n = len(l.some)
		}
		done := 0
		for j := 1; j <= n; j++ {
			stop := c.stop(l.op, j)
			if only && l.some != nil {
				stop = l.some[j-1]
			}
			done = advance(img, l.op, done, stop)
			if !show(img, i, stop) {
				return
			}
		}
		advance(img, l.op, done, c.whole(l.op))
	}
}

func (c *chain) whole(op *trace.Op) int { return c.stop(op, c.stops(op)) }

// advance brings img from the stop done to the stop to, within op.
func advance(img *image.Image, op *trace.Op, done, to int) int {
	switch {
	case done == to:
	case op.Kind == trace.Write:
		img.WriteAt(op.Ino, op.Data[done:to], op.Off+int64(done))
	default:
		apply(img, op)
	}
	return to
}

func (c *chain) narrowed() string { return "" }

func (c *chain) count() *big.Int { return new(big.Int).SetUint64(c.total) }

func (c *chain) walk(yield func(*image.Image, place) bool) {
	if !yield(c.start.Clone(), place{}) {
		return
	}
	rank := uint64(0)
	c.each(true, func(img *image.Image, _, _ int) bool {
		rank++
		return yield(img.Clone(), place{rank: rank})
	})
}

// find is the link and the stop of a rank; -1 is the start.
func (c *chain) find(rank uint64) (i, stop int) {
	if rank == 0 {
		return -1, 0
	}
	i = sort.Search(len(c.links), func(i int) bool { return c.links[i].first+c.links[i].n > rank })
	l := &c.links[i]
	j := int(rank - l.first)
	if l.some != nil {
		return i, l.some[j]
	}
	return i, c.stop(l.op, j+1)
}

func (c *chain) make(p place) *image.Image {
	img := c.start.Clone()
	i, stop := c.find(p.rank)
	for k := range i {
		apply(img, c.links[k].op)
	}
	if i >= 0 {
		advance(img, c.links[i].op, 0, stop)
	}
	return img
}

// torn is the op of the stop, cut there; false is the start.
func (c *chain) torn(rank uint64) (trace.Op, bool) {
	i, stop := c.find(rank)
	if i < 0 {
		return trace.Op{}, false
	}
	op := *c.links[i].op
	if op.Kind == trace.Write && stop < len(op.Data) {
		op.Len = max(op.Len, len(op.Data))
		op.Data = op.Data[:stop:stop]
	}
	return op, true
}

// text is "start", the number of the last op that happened, or "op+bytes" within a write.
func (c *chain) text(p place) string {
	i, stop := c.find(p.rank)
	if i < 0 {
		return "start"
	}
	if l := &c.links[i]; l.op.Kind == trace.Write {
		return fmt.Sprintf("%d+%d", l.at, stop)
	}
	return strconv.Itoa(c.links[i].at)
}

func (c *chain) parse(choice string) (place, error) {
	if choice == "start" {
		return place{}, nil
	}
	num, bytes, torn := strings.Cut(choice, "+")
	at, err := strconv.Atoi(num)
	stop := 1
	if err == nil && torn {
		stop, err = strconv.Atoi(bytes)
	}
	if err != nil {
		return place{}, errors.New(`want "start", an op number, or op+bytes`)
	}
	for i := range c.links {
		l := &c.links[i]
		if l.at != at || torn != (l.op.Kind == trace.Write) {
			continue
		}
		for j := range int(l.n) {
			if _, s := c.find(l.first + uint64(j)); s == stop {
				return place{rank: l.first + uint64(j)}, nil
			}
		}
	}
	return place{}, errors.New("no state of this space is called that: it belongs to another cut, model or history")
}

func (c *chain) why(p place) string {
	i, stop := c.find(p.rank)
	lost := len(c.links) - i - 1
	var s string
	switch {
	case len(c.links) == 0:
		return "everything that happened is there"
	case i < 0:
		s = "nothing after the durable point"
	case c.links[i].op.Kind == trace.Write && stop < len(c.links[i].op.Data):
		l := &c.links[i]
		s = fmt.Sprintf("op %d (%s) cut after %d of %d bytes", l.at, l.op, stop, len(l.op.Data))
	case lost == 0:
		return fmt.Sprintf("everything up to op %d (%s) is there", c.links[i].at, c.links[i].op)
	default:
		s = fmt.Sprintf("everything up to op %d (%s)", c.links[i].at, c.links[i].op)
	}
	if lost > 0 {
		s += fmt.Sprintf(", the %d changes after it are lost", lost)
		if lost == 1 {
			s = strings.Replace(s, "the 1 changes after it are", "the change after it is", 1)
		}
	}
	return s
}

// sample shows the ends of the line, then both sides of op boundaries, spread over all of
// them, as far as three quarters of n go; the rest are draws.
func (c *chain) sample(rng *rand.Rand, n int, yield func(*image.Image, place) bool) {
	seen := make(map[uint64]struct{}, n)
	show := func(rank uint64) bool {
		if _, ok := seen[rank]; ok || rank >= c.total {
			return true
		}
		seen[rank] = struct{}{}
		return yield(c.make(place{rank: rank}), place{rank: rank}) && len(seen) < n
	}
	telling := []uint64{0, c.total - 1}
	for i := range spread(len(c.links)) {
		l := &c.links[len(c.links)-1-i]
		telling = append(telling, l.first+l.n-1, l.first, l.first+max(l.n, 2)-2)
	}
	for _, rank := range telling {
		if len(seen) >= max(n-n/4, 2) {
			break
		}
		if !show(rank) {
			return
		}
	}
	for range 20 * n {
		if !show(rng.Uint64N(c.total)) {
			return
		}
	}
}

// contains compares hashes along the line: each costs what the step changed.
func (c *chain) contains(img *image.Image) error {
	want := img.Hash()
	if c.start.Hash() == want {
		return nil
	}
	found := false
	c.each(true, func(got *image.Image, _, _ int) bool {
		found = got.Hash() == want
		return !found
	})
	if found {
		return nil
	}
	return c.nearest(img)
}

// nearest says how img differs from the stop that agrees with it furthest.
func (c *chain) nearest(img *image.Image) error {
	best, where := diff(c.start, img, nil), "the durable start"
	c.each(true, func(got *image.Image, i, stop int) bool {
		if d := diff(got, img, nil); d.after(best) {
			best, where = d, fmt.Sprintf("op %d, %d bytes of it", c.links[i].at, stop)
			if c.links[i].op.Kind != trace.Write {
				where = fmt.Sprintf("op %d", c.links[i].at)
			}
		}
		return true
	})
	return fmt.Errorf("no prefix of the history leaves this; the nearest ends with %s, but %s", where, best.text)
}

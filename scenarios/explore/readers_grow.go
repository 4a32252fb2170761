package explore

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/target"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// growWord begins the text of a growth.
const growWord = "grow "

// growth is a log that becomes longer while it is read. Its text form is
//
//	grow from 120 to 150@3 180@5 by 7
//
// The log is what a workload and a close left, its files one behind the other. At first it has
// 120 bytes; in front of the reader's third call (opens, stats, listings and reads are counted) it
// grows to 150, in front of the fifth to 180. Reads give at most 7 bytes; 0 is no limit.
type growth struct {
	from  int64
	steps []growStep
	chunk int64
}

type growStep struct {
	to   int64
	call int
}

// String is the growth's text.
func (g growth) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%sfrom %d to", growWord, g.from)
	for _, s := range g.steps {
		fmt.Fprintf(&b, " %d@%d", s.to, s.call)
	}
	fmt.Fprintf(&b, " by %d", g.chunk)
	return b.String()
}

// parseGrowth reads a growth's text; size is how long the log can be.
func parseGrowth(text string, size int64) (g growth, err error) {
	words := strings.Fields(text)
	n := len(words)
	if n < 7 || words[1] != "from" || words[3] != "to" || words[n-2] != "by" {
		return g, fmt.Errorf(`%q: want "grow from N to N@CALL … by N"`, text)
	}
	number := func(word string) int64 {
		v, bad := strconv.ParseInt(word, 10, 64)
		err = errors.Join(err, bad)
		return v
	}
	g.from, g.chunk = number(words[2]), number(words[n-1])
	at := g.from
	for _, w := range words[4 : n-2] {
		to, call, _ := strings.Cut(w, "@")
		s := growStep{number(to), int(number(call))}
		if s.to < at {
			err = errors.Join(err, fmt.Errorf("%q: a log that grows does not become shorter", text))
		}
		at = s.to
		g.steps = append(g.steps, s)
	}
	if err == nil && (g.from < 0 || at > size || g.chunk < 0) {
		err = fmt.Errorf("%q: the log has %d bytes", text, size)
	}
	return g, err
}

// grown is a log that came about by appending alone.
type grown struct {
	final *image.Image
	names []string // its files, in the order in which they were made
	data  [][]byte
}

var errRewrites = errors.New("the subject does more than append to its files, so they do not grow under a reader")

// growth is how the log of a picture grew.
func (p *picture) growth(j *viewer) (*grown, error) {
	var err error
	if p.grown == nil {
		p.grown, err = j.grow(p.file.Program)
	}
	return p.grown, err
}

// grow finds out how the log of a workload grew.
func (j *viewer) grow(p workload.Program) (*grown, error) {
	mem := faultfs.NewMem(nil)
	fsys := faultfs.New(mem, faultfs.WithOpLimit(opBudget*(1+len(p))))
	d := workload.Driver{Subject: j.subject, AckOnAppend: j.contract.AckOn == oracle.AckAppend}
	var err error
	if !within(j.patience, func() { err = j.finish(&d, fsys, p) }) || err != nil {
		return nil, errors.New("the workload fails")
	}
	g := &grown{final: mem.Image()}
	files := logFiles(g.final, j.subject.File())
	ops := fsys.Log().Ops()
	for _, op := range ops {
		if _, ok := files[op.Path]; ok && op.Kind == trace.Create && !slices.Contains(g.names, op.Path) {
			g.names = append(g.names, op.Path)
			g.data = append(g.data, g.final.Bytes(files[op.Path]))
		}
	}
	if len(g.names) == 0 || len(g.names) < len(files) {
		return nil, errRewrites
	}
	live := newLive(&crash.History{Base: image.New(), Ops: ops})
	for n, op := range ops {
		if !op.Changes() {
			continue
		}
		now, err := live.upTo(crash.Cut{At: n + 1})
		if err != nil {
			return nil, err
		}
		if !g.isOnItsWay(now) {
			return nil, errRewrites
		}
	}
	return g, nil
}

// isOnItsWay reports whether an image holds a beginning of the log and nothing else of it.
func (g *grown) isOnItsWay(now *image.Image) bool {
	ended := false
	for i, name := range g.names {
		ino, ok := now.Lookup(name)
		if !ok {
			ended = true
			continue
		}
		data := now.Bytes(ino)
		if ended || !bytes.HasPrefix(g.data[i], data) {
			return false
		}
		ended = len(data) < len(g.data[i])
	}
	return true
}

func (g *grown) size() (n int64) {
	for _, d := range g.data {
		n += int64(len(d))
	}
	return n
}

// at is the disk when the log had its first n bytes.
func (g *grown) at(n int64) (*faultfs.Mem, error) {
	mem := faultfs.NewMem(g.final)
	for i, name := range g.names {
		left := min(max(n, 0), int64(len(g.data[i])))
		var err error
		switch {
		case left > 0 || i == 0:
			err = resize(mem, name, left)
		default:
			err = mem.Remove(name)
		}
		if err != nil {
			return nil, err
		}
		n -= int64(len(g.data[i]))
	}
	return mem, nil
}

func resize(mem *faultfs.Mem, name string, size int64) error {
	f, err := mem.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
}

// write makes the log longer: its bytes from one place up to another are written.
func (g *grown) write(mem *faultfs.Mem, from, to int64) error {
	base := int64(0)
	for i, name := range g.names {
		end := base + int64(len(g.data[i]))
		if a, b := max(from, base), min(to, end); a < b {
			f, err := mem.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600)
			if err != nil {
				return err
			}
			_, err = f.WriteAt(g.data[i][a-base:b-base], a-base)
			if err = errors.Join(err, f.Close()); err != nil {
				return err
			}
		}
		base = end
	}
	return nil
}

// growing reads a log that grows. What the reader says must hold for some moment between the
// beginning and the end: the old records, and perhaps complete new ones, in order. A piece of
// a line is pending: a tail, or nothing, and never damage.
func (j *viewer) growing(r reading) ([]oracle.Violation, error) {
	g, err := r.pic.growth(j)
	if err != nil {
		return nil, err
	}
	plan, err := parseGrowth(r.done, g.size())
	if err != nil {
		return nil, err
	}
	mem, err := g.at(plan.from)
	if err != nil {
		return nil, err
	}
	own := j.readers()[0]
	j.plain(r.pic, r.reader) // for the limit
	limit := faultfs.WithOpLimit(r.pic.limit())
	old := j.tell(own, faultfs.New(faultfs.NewMem(mem.Image()), limit))
	if old.class != oracle.OK {
		return nil, nil // a beginning of the log that is refused: crashes are about that
	}
	eyes := newSpy(faultfs.New(mem, limit, faultfs.WithPlan(faultfs.Plan{Rules: pieceRules(plan.chunk)})))
	at, next := plan.from, 0
	eyes.before = func(call int) {
		for ; next < len(plan.steps) && plan.steps[next].call <= call; next++ {
			err = errors.Join(err, g.write(mem, at, plan.steps[next].to))
			at = plan.steps[next].to
		}
	}
	t := j.tell(r.reader, eyes)
	if err != nil {
		return nil, err
	}
	if j.excuse(t, eyes) {
		return nil, nil
	}
	var v oracle.Verdict
	if text, want := g.pending(old, r.pic.whole, t, j.contract.Binary); text != "" {
		v.Add("UP213", text, want, t.words())
	}
	return v.Violations, nil
}

// pending judges what was said of a log that grew from old to whole.
func (g *grown) pending(old, whole, t told, binary bool) (text string, want []string) {
	low, high := len(old.Last), len(whole.Last)
	want = append([]string{fmt.Sprintf("the first %d records, or up to %d, in order", low, high)}, oracle.Words(whole.Last)...)
	if t.class != oracle.OK {
		return "a log that grows while it is read is an error, and it is " + t.class.String(), want
	}
	if t.Count >= 0 && (t.Count < low || t.Count > high) {
		return "a reader counts records that were not there, of a log that grows while it is read", want
	}
	if t.Last != nil || t.Limit > 0 {
		ok := false
		for n := low; n <= high; n++ {
			from := 0
			if t.Limit > 0 {
				from = max(n-t.Limit, 0)
			}
			ok = ok || equalRecords(t.Last, whole.Last[from:n])
		}
		if !ok {
			return "a reader returns other records than were written, of a log that grows while it is read", want
		}
	}
	if t.Tail == nil || t.Tail.Length == 0 || binary {
		return "", nil
	}
	for i, name := range g.names {
		off := t.Tail.Offset
		if name == t.Tail.Path && off >= 0 && off+t.Tail.Length <= int64(len(g.data[i])) && (off == 0 || g.data[i][off-1] == '\n') {
			return "", nil
		}
	}
	return "a tail is reported that does not begin at the end of a line, of a log that grows while it is read", want
}

// growPieces are sizes of pieces that reads of a growing log give; 0 is all.
func growPieces() []int64 { return []int64{0, 1, 3, 16, 64, 512} }

// growDraws is how many growths each reader is given for each size of piece.
const growDraws = 30

// growths are readings of a log that grows.
func (s *showing) growths(pic *picture) []reading {
	g, err := pic.growth(s.viewer)
	if err != nil {
		s.remark(err.Error())
		return nil
	}
	marks := g.marks()
	rng := rand.New(rand.NewPCG(s.seed, 0x9404))
	var out []reading
	for _, r := range s.viewer.readers() {
		for _, piece := range growPieces() {
			if piece > 0 && !s.viewer.affords(pic, r, piece) {
				continue
			}
			calls := s.viewer.callsOf(r, pic, piece)
			for range growDraws {
				out = append(out, reading{pic: pic, reader: r, done: drawGrowth(rng, piece, calls, marks).String()})
			}
		}
	}
	return out
}

// callsOf is how many calls a reader makes that look at something, on a log that does not grow.
func (j *viewer) callsOf(r target.Reader, pic *picture, piece int64) int {
	eyes := newSpy(pic.layer(pieceRules(piece)...))
	j.tell(r, eyes)
	return eyes.all
}

// pieceRules make reads give small pieces; 0 is no limit.
func pieceRules(piece int64) []faultfs.Rule {
	if piece == 0 {
		return nil
	}
	rule, err := faultfs.ParseRule(shortReads(piece))
	if err != nil {
		panic(err) // it is spelt here
	}
	return []faultfs.Rule{rule}
}

// marks are the places at which a log may stop growing for a moment: where lines begin and end,
// one byte in front of that and behind, and in the middle.
func (g *grown) marks() []int64 {
	marks := []int64{0}
	at := int64(0)
	for _, data := range g.data {
		for line := range bytes.SplitAfterSeq(data, []byte("\n")) {
			n := int64(len(line))
			if n > 0 {
				marks = append(marks, at+1, at+n/2, at+n-1, at+n)
			}
			at += n
		}
	}
	slices.Sort(marks)
	return slices.Compact(marks)
}

// drawGrowth draws a place to begin at and one to three further ones, each in front of one of
// the calls that the reader makes.
func drawGrowth(rng *rand.Rand, piece int64, calls int, marks []int64) growth {
	g := growth{chunk: piece}
	i := rng.IntN(len(marks))
	g.from = marks[i]
	call := 1
	for range 1 + rng.IntN(3) {
		if i = min(i+1+rng.IntN(6), len(marks)-1); rng.IntN(8) == 0 {
			i = len(marks) - 1
		}
		call += rng.IntN(max(calls/2, 4))
		g.steps = append(g.steps, growStep{marks[i], call})
	}
	return g
}

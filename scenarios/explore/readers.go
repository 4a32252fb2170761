package explore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/target"
)

// A reading is one try of this scene: a reader reads a picture while something is done to it.
// Repros hold it as a probe of two words, the reader's name and what is done, and a third if
// the harness made the picture. What is done is one of
//
//	plain                              nothing: the reader is held against Recover
//	on read * * -> short 3             rules of a fault plan, parted by "; ": it is held
//	                                   against itself with no fault
//	grow from 120 to 150@3 180@5 by 7  the file grows between calls, see growth
//
// and the reader's name is [openName] when the journal is opened for writing instead.
type reading struct {
	pic    *picture
	reader target.Reader
	done   string
	piece  int64 // in place of done: every read gives at most so many bytes
}

// what is what is done. (There are many more readings than are performed.)
func (r reading) what() string {
	if r.piece > 0 {
		return shortReads(r.piece)
	}
	return r.done
}

// donePlain is a reading with nothing done to it.
const donePlain = "plain"

// chunks are the sizes of the pieces that reads give.
func chunks() []int64 {
	return []int64{1, 2, 3, 5, 7, 16, 63, 64, 65, 511, 512, 513, 4095, 4096, 4097}
}

const (
	smallLog = 4 << 10 // up to this size, pieces of every size are tried
	readsMax = 20_000  // pieces so small that a reading takes more reads are not
)

// showing is a run of the scene.
type showing struct {
	*stage
	viewer *viewer
}

// readerScene holds all readers of a subject against each other.
func readerScene(ctx context.Context, on *stage) error {
	s := &showing{on, &viewer{judge: on.judge}}
	pics, err := s.pictures(ctx)
	if err != nil {
		return err
	}
	if len(pics) == 0 {
		s.skip("the subject does not get through a workload")
		return nil
	}
	var groups [][]reading
	for _, r := range s.cfg.Subject.Readers {
		s.perform(readingsOf(pics, r, donePlain))
	}
	s.perform(readingsOf(pics, target.Reader{Name: openName}, donePlain))
	groups = append(groups, s.chunked(pics), s.everySize(pics), s.readFaults(pics), s.openFaults(pics), s.growths(pics[0]))
	if second := pics[min(1, len(pics)-1)]; second.file.Damage == "" && second.made == "" {
		groups = append(groups, s.growths(second))
	}
	s.sampled(groups)
	if s.viewer.gone {
		s.remark("a reader did not return, and nothing was tried after it")
	}
	if n := s.viewer.excused; n > 0 {
		s.remark(fmt.Sprintf("%d readings in pieces ended with the error of a ReadAt that gives less than was asked for, as it may, and tested nothing", n))
	}
	if len(s.cfg.Subject.Readers) == 0 {
		s.remark("the subject has no other readers (Subject.Readers)")
	}
	return ctx.Err()
}

// remark adds a sentence to the note of the row.
func (s *showing) remark(text string) {
	if strings.Contains(s.row.Note, text) {
		return
	}
	if s.row.Note != "" {
		text = s.row.Note + "; " + text
	}
	s.row.Note = text
}

// sampled performs as many readings of each group as the budget has room for.
func (s *showing) sampled(groups [][]reading) {
	counts, all := make([]int, len(groups)), 0
	for i, g := range groups {
		counts[i] = len(g)
		all += len(g)
	}
	limit := waterline(counts, max(s.cfg.Probes-s.row.Tried, len(groups)))
	rng := rand.New(rand.NewPCG(s.seed, 0x5ead))
	done := 0
	for _, g := range groups {
		if len(g) > limit {
			rng.Shuffle(len(g), func(i, k int) { g[i], g[k] = g[k], g[i] })
			g = g[:limit]
		}
		done += len(g)
		s.perform(g)
	}
	if done < all {
		s.remark(fmt.Sprintf("a seeded draw of %d of %d readings with faults", done, all))
	}
}

func readingsOf(pics []*picture, r target.Reader, done string) []reading {
	var out []reading
	for _, p := range pics {
		out = append(out, reading{pic: p, reader: r, done: done})
	}
	return out
}

// perform performs readings and tells what they found.
func (s *showing) perform(list []reading) {
	for _, r := range list {
		if s.stop() || s.viewer.gone {
			return
		}
		found, err := s.viewer.perform(r)
		if err != nil {
			panic(err) // the scene made the reading itself
		}
		args := []string{r.reader.Name, r.what()}
		if r.pic.made != "" {
			args = append(args, r.pic.made)
		}
		s.tried(found, r.story(), r.pic.file, args...)
	}
}

// story is how a reading came about.
func (r reading) story() string {
	does := "READ by " + r.reader.Name
	if r.reader.Name == openName {
		does = "OPEN for writing"
	}
	if r.what() == donePlain {
		return r.pic.story + " · " + does
	}
	return r.pic.story + " · " + does + " (" + r.what() + ")"
}

// chunked are readings in which every read gives a small piece.
func (s *showing) chunked(pics []*picture) []reading {
	var out []reading
	for _, p := range pics {
		for _, r := range s.viewer.readers() {
			for _, n := range chunks() {
				if n <= p.size+1 && s.viewer.affords(p, r, n) {
					out = append(out, reading{pic: p, reader: r, piece: n})
				}
			}
		}
	}
	return out
}

// everySize are readings of small logs in pieces of every size up to one byte more than there is.
func (s *showing) everySize(pics []*picture) []reading {
	var out []reading
	for _, p := range pics {
		if p.size > smallLog {
			continue
		}
		for _, r := range s.viewer.readers() {
			for n := int64(1); n <= p.size+1; n++ {
				if s.viewer.affords(p, r, n) {
					out = append(out, reading{pic: p, reader: r, piece: n})
				}
			}
		}
	}
	return out
}

// affords reports whether a reader can read a picture in pieces of n bytes in a fraction of a
// second.
func (j *viewer) affords(p *picture, r target.Reader, n int64) bool {
	return j.plain(p, r).bytes/n <= readsMax
}

func shortReads(n int64) string { return fmt.Sprintf("on read * * -> short %d", n) }

// perform performs one reading. An error means that it does not fit the picture.
func (j *viewer) perform(r reading) ([]oracle.Violation, error) {
	what := r.what()
	if strings.HasPrefix(what, growWord) {
		return j.growing(r)
	}
	var rules []faultfs.Rule
	if what != donePlain {
		for text := range strings.SplitSeq(what, "; ") {
			rule, err := faultfs.ParseRule(text)
			if err != nil {
				return nil, err
			}
			rules = append(rules, rule)
		}
	}
	if r.reader.Name == openName {
		return j.opening(r.pic, rules), nil
	}
	plain := j.plain(r.pic, r.reader).told
	if len(rules) == 0 {
		return j.plainly(r, plain), nil
	}
	fsys := r.pic.layer(rules...)
	eyes := newSpy(fsys)
	t := j.tell(r.reader, eyes)
	var v oracle.Verdict
	if rules[0].Fault.Kind != faultfs.Short {
		if text, want := faulted(plain, t); text != "" {
			v.Add("UP213", text, want, t.words())
		}
	} else if !t.same(plain) && !j.excuse(t, eyes) {
		v.Add("UP213", "a reader says something else when its reads give small pieces", plain.words(), t.words())
	}
	wrote(&v, fsys)
	return v.Violations, nil
}

// plainly holds a reader against Recover, with no fault.
func (j *viewer) plainly(r reading, t told) []oracle.Violation {
	var v oracle.Verdict
	if text, want := agree(r.pic.whole, t, r.pic.written); text != "" {
		v.Add("UP213", text, want, t.words())
	}
	fsys := r.pic.layer()
	j.tell(r.reader, fsys)
	wrote(&v, fsys)
	return v.Violations
}

// wrote holds readers to reading.
func wrote(v *oracle.Verdict, fsys *faultfs.FS) {
	if ops := fsys.Log().Ops(); len(ops) > 0 {
		v.Add("UP208", "a reader wrote, or took the lock", []string{"no operation"}, []string{ops[0].String()})
	}
}

// replayReading performs one try again.
func replayReading(j *judge, p *report.Repro, args []string) (*Replayed, error) {
	if len(args) < 2 || len(args) > 3 {
		return nil, fmt.Errorf("probe readers: want the reader's name, what is done, and perhaps %q or %q", madeEmpty, madeMissing)
	}
	v := &viewer{judge: j}
	pic, err := v.redo(p, strings.Join(args[2:], " "))
	if err != nil {
		return nil, err
	}
	for _, r := range append(v.readers(), target.Reader{Name: openName}) {
		if r.Name != args[0] {
			continue
		}
		try := reading{pic: pic, reader: r, done: args[1]}
		found, err := v.perform(try)
		if err != nil {
			return nil, err
		}
		return replayed(p, found, try.story()), nil
	}
	return nil, fmt.Errorf("probe readers: the subject has no reader %q", args[0])
}

package explore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/target"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// picture is one state of the disk on which all readers are held against each other.
type picture struct {
	image   *image.Image
	written [][]byte     // the records that were appended, oldest first
	file    report.Repro // how to have it again: program, and a cut or a damage
	made    string       // "empty" or "missing": the harness made it, no program did
	story   string       // how it came to be
	size    int64        // of all files of the log
	whole   told         // what Recover says of it
	plains  map[string]plain
	grown   *grown // how its log grew; made when it is asked for
}

// Pictures that no program makes.
const (
	madeEmpty   = "empty"
	madeMissing = "missing"
)

// pictures are the states that a round looks at: closed logs, what crashes left, damaged logs,
// an empty file and none.
func (s *showing) pictures(ctx context.Context) ([]*picture, error) {
	rng := rand.New(rand.NewPCG(s.seed, 0x7ead))
	short := s.shortProgram()
	var out []*picture
	for _, p := range []workload.Program{short, s.program, longRecord(short)} {
		if pic := s.viewer.closedPicture(p); pic != nil {
			out = append(out, pic)
		}
	}
	if len(out) == 0 {
		return nil, nil // the subject does not get through a workload: that was found elsewhere
	}
	out = append(out, madePicture(s.viewer, madeEmpty), madePicture(s.viewer, madeMissing))
	crashed, err := s.crashed(ctx, rng, short)
	if err != nil {
		return nil, err
	}
	out = append(out, crashed...)
	out = append(out, s.viewer.damagedPictures(rng, out[0])...)
	for _, p := range out {
		p.finish(s.viewer)
	}
	return out, nil
}

// finish fills in what follows from the image.
func (p *picture) finish(j *viewer) {
	for _, n := range sizes(p.image, j.subject.File()) {
		p.size += n
	}
	p.whole = j.plain(p, j.readers()[0]).told
}

// layer is the picture as a fault layer over a copy of it.
func (p *picture) layer(rules ...faultfs.Rule) *faultfs.FS {
	return faultfs.New(faultfs.NewMem(p.image), faultfs.WithPlan(faultfs.Plan{Rules: rules}), faultfs.WithOpLimit(p.limit()))
}

// limit is how many calls a reading may make: many more than there are if every read that any
// reader makes of the picture gives one byte.
func (p *picture) limit() int {
	most := p.size
	for _, r := range p.plains {
		most = max(most, r.bytes)
	}
	return opBudget + 8*int(most)
}

// plain is what a reader says of a picture with no fault, and what it read for that.
type plain struct {
	told
	calls map[string]int
	all   int
	bytes int64
}

// plain lets a reader read a picture with no fault; once, since it would say the same again.
func (j *viewer) plain(p *picture, r target.Reader) plain {
	if known, ok := p.plains[r.Name]; ok {
		return known
	}
	eyes := newSpy(p.layer())
	t := plain{told: j.tell(r, eyes), calls: eyes.calls, all: eyes.all, bytes: eyes.bytes}
	if p.plains == nil {
		p.plains = map[string]plain{}
	}
	p.plains[r.Name] = t
	return t
}

// longRecord is a short workload with a record in it that is longer than the buffers that
// readers usually have.
func longRecord(p workload.Program) workload.Program {
	long := []byte(`{"type":"message","role":"user","content":"` + strings.Repeat("as long as a novel ", 3700) + `"}`)
	out := slices.Clone(p[:min(len(p), 2)])
	return append(out, workload.Step{Kind: workload.Append, Records: [][]byte{long}},
		workload.Step{Kind: workload.Append, Records: [][]byte{[]byte(`{"type":"message","role":"user","content":"the end"}`)}})
}

// closedPicture is the disk after a workload and a clean close; nil if that fails, or leaves no
// log that can be read.
func (j *viewer) closedPicture(p workload.Program) *picture {
	img, err := closed(j.judge, p)
	if err != nil {
		return nil
	}
	t := j.tell(j.readers()[0], faultfs.New(faultfs.NewMem(img), faultfs.WithOpLimit(opBudget)))
	if t.class != oracle.OK {
		return nil
	}
	return &picture{image: img, written: t.Last, file: report.Repro{Program: p}, story: "the workload · close"}
}

// madePicture is a disk with an empty file for a log, or with the log's folder and no log.
func madePicture(j *viewer, what string) *picture {
	mem, file := faultfs.NewMem(nil), j.subject.File()
	err := mem.MkdirAll(path.Dir(file), 0o700)
	story := "a folder without the log"
	if what == madeEmpty {
		story = "an empty file"
		err = errors.Join(err, afero.WriteFile(mem, file, nil, 0o600))
	}
	if err != nil {
		panic(err) // an empty disk in memory has room, and no permissions to refuse
	}
	return &picture{image: mem.Image(), made: what, story: story}
}

// crashModels are the models whose states are looked at: tails that are cut, that are full of
// NULs, and that have a newline behind them; and a process that was killed.
func crashModels() []crash.Model {
	return []crash.Model{crash.Kill, crash.Prefix, crash.OwnPage, crash.Ext4OOO}
}

const (
	statesDrawn = 60 // crash states of a model that are recovered once, to choose among them
	statesKept  = 4  // that are chosen
)

// crashed are crash states of a workload: for each model a few that differ in what recovery
// says of their end.
func (s *showing) crashed(ctx context.Context, rng *rand.Rand, p workload.Program) ([]*picture, error) {
	l, bad, _ := drive(s.judge, p, faultfs.Plan{})
	if bad != nil {
		return nil, nil
	}
	var out []*picture
	for _, m := range crashModels() {
		cuts := cutsFor(m, places(l.hist.Ops, 0), l.hist.Ops, 0, nil)
		w, err := newWalk(l, m, crash.Options{Tear: m.DefaultTear()}, s.cfg.Subject.File(), cuts, statesDrawn)
		if err != nil {
			return nil, err
		}
		var all []*caseOf
		for c, err := range w.cases(ctx, s.seed) {
			if err != nil {
				return nil, err
			}
			c.cut.Choice = c.state.Choice()
			all = append(all, c)
		}
		if len(all) == 0 {
			continue
		}
		last := all[len(all)-1] // of a kill: behind all that the workload did
		rng.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		for _, c := range s.viewer.various(append([]*caseOf{last}, all...)) {
			out = append(out, crashPicture(c, p))
		}
	}
	return out, nil
}

// various chooses cases of as many sorts as there are.
func (j *viewer) various(all []*caseOf) []*caseOf {
	seen := map[string]int{}
	var kept []*caseOf
	for few := range 2 { // first one of each sort, then a second
		for _, c := range all[:min(len(all), statesDrawn)] {
			if len(kept) == statesKept {
				return kept
			}
			t := j.tell(j.readers()[0], faultfs.New(faultfs.NewMem(c.state.Image), faultfs.WithOpLimit(opBudget)))
			sort := t.class.String()
			if t.Tail != nil {
				sort += t.Tail.Kind
			}
			if seen[sort] == few && !slices.Contains(kept, c) {
				seen[sort]++
				kept = append(kept, c)
			}
		}
	}
	return kept
}

func crashPicture(c *caseOf, p workload.Program) *picture {
	pic := &picture{image: c.state.Image, file: report.Repro{Program: p, Cuts: []report.Cut{c.cut}}, story: story(c, "")}
	for _, call := range c.promise.Calls {
		pic.written = append(pic.written, call.Record)
	}
	return pic
}

// damagedPictures are a closed log with every kind of damage, each in two places.
func (j *viewer) damagedPictures(rng *rand.Rand, from *picture) []*picture {
	files := logFiles(from.image, j.subject.File())
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	var out []*picture
	for _, kind := range faultfs.DamageKinds() {
		for range 2 {
			if len(names) == 0 {
				return nil
			}
			name := names[rng.IntN(len(names))]
			data := from.image.Bytes(files[name])
			d := placed(rng, kind, data)
			if pic := damagedPicture(from, name, d); pic != nil {
				out = append(out, pic)
			}
		}
	}
	return out
}

// placed draws where a damage is done: anywhere, also in the last line.
func placed(rng *rand.Rand, kind faultfs.DamageKind, data []byte) faultfs.Damage {
	n, lines := int64(len(data)), int64(1)
	for _, c := range data {
		if c == '\n' {
			lines++
		}
	}
	d := faultfs.Damage{Kind: kind, Bit: uint8(rng.IntN(8))}
	switch kind {
	case faultfs.Duplicate, faultfs.DropLine, faultfs.Swap, faultfs.Repeat:
		d.Off, d.Len = 1+rng.Int64N(lines), 1+rng.Int64N(lines)
	case faultfs.Flip, faultfs.Nul, faultfs.Delete, faultfs.BadUTF8, faultfs.Truncate:
		d.Off, d.Len = rng.Int64N(max(n, 1)), 1+rng.Int64N(16)
	case faultfs.Splice:
		d.Off, d.Len, d.Text = rng.Int64N(max(n, 1)), rng.Int64N(2), `\ud800`
	case faultfs.BOM, faultfs.CRLF, faultfs.Again:
	}
	return d
}

// damagedPicture is a closed log with one damage in it; nil if it does not fit there.
func damagedPicture(from *picture, name string, d faultfs.Damage) *picture {
	img := from.image.Clone()
	ino, ok := img.Lookup(name)
	if !ok {
		return nil
	}
	data, err := d.Apply(img.Bytes(ino))
	if err != nil {
		return nil
	}
	img.Truncate(ino, 0)
	img.WriteAt(ino, data, 0)
	file := from.file
	file.Damage, file.File = d.String(), name
	return &picture{image: img, written: from.written, file: file, story: damageStory(d.String(), name)}
}

// redo makes the picture of a repro again.
func (j *viewer) redo(p *report.Repro, made string) (*picture, error) {
	var pic *picture
	switch {
	case made == madeEmpty || made == madeMissing:
		pic = madePicture(j, made)
	case made != "":
		return nil, fmt.Errorf("probe: %q: want %q, %q or nothing", made, madeEmpty, madeMissing)
	case len(p.Cuts) > 0:
		l, bad, _ := drive(j.judge, p.Program, faultfs.Plan{})
		if bad != nil {
			return nil, fmt.Errorf("the workload: %s: %s", bad.Text, strings.Join(bad.Got, ", "))
		}
		c, err := l.stateAt(p.Cuts[0], j.subject.File())
		if err != nil {
			return nil, fmt.Errorf("cut 1: %w", err)
		}
		pic = crashPicture(c, p.Program)
	default:
		if pic = j.closedPicture(p.Program); pic == nil {
			return nil, errors.New("the workload leaves no log that can be read")
		}
		if p.Damage == "" {
			break
		}
		rule, err := faultfs.ParseRule("after sync * 1 -> " + p.Damage) // a damage is spelt as in a plan
		if err != nil {
			return nil, fmt.Errorf("damage %q: %w", p.Damage, err)
		}
		if pic = damagedPicture(pic, p.File, rule.Fault.Damage); pic == nil {
			return nil, fmt.Errorf("damage %q does not fit %s", p.Damage, p.File)
		}
	}
	pic.finish(j)
	return pic, nil
}

package explore

import (
	"math/rand/v2"
	"slices"
	"sort"
	"sync"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/report"
	"github.com/unplug-go/unplug/scenarios/workload"
)

// damagedLog is a closed log and what can be done to it. The workload ran once; every damage is done to
// a copy of what it left.
type damagedLog struct {
	judge   *judge
	program workload.Program
	img     *image.Image
	whole   oracle.Outcome // of the log without damage
	files   []*damagedFile
	slots   []*damageSlot
	total   int // places
	bytes   int

	mu      sync.Mutex
	answers map[image.Hash]*answer // equal bytes are recovered once
}

// damageSlot is a kind of damage and a file that it is done to.
type damageSlot struct {
	kind  *damageKind
	file  *damagedFile
	count int // places
	share int // of these that are tried
}

// newDamagedLog finds the places in a closed log; nil if recovery fails with no damage at all.
func newDamagedLog(j *judge, p workload.Program, img *image.Image) *damagedLog {
	img.Hash()
	s := &damagedLog{judge: j, program: p, img: img.Clone(), answers: map[image.Hash]*answer{}}
	if !within(j.patience, func() { s.whole = j.recover(faultfs.New(faultfs.NewMem(img.Clone()), faultfs.WithOpLimit(opBudget))) }) || s.whole.Class != oracle.OK {
		return nil
	}
	inos := logFiles(img, j.subject.File())
	names := make([]string, 0, len(inos))
	for name := range inos {
		names = append(names, name)
	}
	sort.Slice(names, func(a, b int) bool { // segment 10 behind segment 9
		if len(names[a]) != len(names[b]) {
			return len(names[a]) < len(names[b])
		}
		return names[a] < names[b]
	})
	info, _ := img.Stat(inos[j.subject.File()])
	for i, name := range names {
		f := newDamagedFile(name, img.Bytes(inos[name]))
		f.later = i < len(names)-1 && inos[j.subject.File()] != 0 && !info.Dir
		s.bytes += len(f.data)
		s.files = append(s.files, f)
	}
	s.slot()
	return s
}

// slot lays out the places, kind by kind.
func (s *damagedLog) slot() {
	kinds := damageKinds()
	for i := range kinds {
		k := &kinds[i]
		if k.lines && s.judge.contract.Binary {
			continue
		}
		for _, f := range s.files {
			if n := k.count(f); n > 0 && len(f.data) > 0 {
				s.slots = append(s.slots, &damageSlot{kind: k, file: f, count: n})
				s.total += n
			}
		}
	}
}

// only leaves the slots of one kind, as plans spell it; the empty kind leaves all.
func (s *damagedLog) only(kind faultfs.DamageKind) {
	if kind == "" {
		return
	}
	s.slots = slices.DeleteFunc(s.slots, func(slot *damageSlot) bool { return slot.kind.at(slot.file, 0).Kind != kind })
	s.total = 0
	for _, slot := range s.slots {
		s.total += slot.count
	}
}

// share spreads a budget: all places if it is enough for them. Else what the contract promises
// something about has most of it, and each kind in each file an equal part, or all places that it has.
func (s *damagedLog) share(budget int) {
	var promised, others []*damageSlot
	for _, slot := range s.slots {
		if slot.share = 0; slot.kind.promises(s.judge.contract) {
			promised = append(promised, slot)
		} else {
			others = append(others, slot)
		}
	}
	if s.total <= budget {
		spread(s.slots, budget)
		return
	}
	first := budget
	if len(promised) > 0 && len(others) > 0 {
		first -= budget / 4
	}
	if len(promised) > 0 {
		budget -= spread(promised, first)
	}
	spread(others, budget)
}

// spread gives each slot an equal part, or all that it has, and says how much that is.
func spread(slots []*damageSlot, budget int) (used int) {
	order := append([]*damageSlot(nil), slots...)
	sort.SliceStable(order, func(a, b int) bool { return order[a].count < order[b].count })
	for i, slot := range order {
		slot.share = min(slot.count, (budget-used)/(len(order)-i))
		used += slot.share
	}
	return used
}

// place is the i-th place that is tried: every one, or one drawn from each of as many equal parts.
func (s *damageSlot) place(i int, rng *rand.Rand) int {
	if s.share == s.count {
		return i
	}
	from, to := i*s.count/s.share, (i+1)*s.count/s.share
	return from + rng.IntN(to-from)
}

func (s *damagedLog) file(name string) *damagedFile {
	for _, f := range s.files {
		if f.name == name {
			return f
		}
	}
	return nil
}

// graded is what a damage did.
type graded struct {
	nothing    bool // it changed nothing
	vouched    bool // the contract says that it is noticed
	hung       bool
	grades     report.Grades
	violations []oracle.Violation
}

// try does one damage and grades the answer.
func (s *damagedLog) try(f *damagedFile, d faultfs.Damage) graded {
	data, err := d.Apply(f.data)
	if err != nil {
		return graded{nothing: true}
	}
	bad := s.img.Clone()
	ino, ok := bad.Lookup(f.name)
	if !ok {
		return graded{nothing: true}
	}
	bad.Truncate(ino, 0)
	bad.WriteAt(ino, data, 0)
	a := s.answerTo(bad)
	g := graded{vouched: f.vouched(s.judge.contract, d, data), hung: a.class == oracle.Hung}
	g.grades = a.grade(!g.vouched && f.excusable(s.judge.contract, data))
	g.violations = a.broken(s.judge.contract, g.vouched)
	if len(g.violations) > 0 {
		g.grades.Bad = 1
	}
	return g
}

// answerTo recovers an image, unless one with the same bytes was.
func (s *damagedLog) answerTo(bad *image.Image) *answer {
	hash := bad.Hash()
	s.mu.Lock()
	a := s.answers[hash]
	if a == nil {
		a = &answer{}
		s.answers[hash] = a
	}
	s.mu.Unlock()
	a.once.Do(func() {
		var said answered
		if within(s.judge.patience, func() { said = s.judge.answer(bad, s.whole) }) {
			a.answered = said
		} else {
			a.answered = answered{class: oracle.Hung, err: "no answer in 30 s"}
		}
	})
	return a
}

// answer is what a subject makes of some bytes; it is asked once.
type answer struct {
	once sync.Once
	answered
}

type answered struct {
	class oracle.Class
	err   string
	tail  bool
	same  bool     // all records, and no other
	front bool     // the first of the records, and no other
	got   []string // the records, unless they are the same
	hands []oracle.Violation
}

// answer recovers a damaged log, and, when that is refused, opens it for writing too: that must
// be refused as well, and change nothing.
func (j *judge) answer(bad *image.Image, whole oracle.Outcome) answered {
	fsys := faultfs.New(faultfs.NewMem(bad.Clone()), faultfs.WithOpLimit(opBudget))
	o := j.recover(fsys)
	a := answered{class: o.Class, err: o.Err}
	if all, got := whole.Recovered.Records, o.Recovered.Records; o.Class == oracle.OK {
		a.tail = o.Recovered.Tail.Length > 0
		a.same = oracle.Repeats(all, got)
		a.front = len(got) <= len(all) && oracle.Repeats(all[:len(got)], got)
		a.got = oracle.Words(got)
	}
	if ops := fsys.Log().Ops(); len(ops) > 0 {
		a.hands = append(a.hands, oracle.Violation{
			Rule: "UP208", Text: "a read-only recovery of a damaged log wrote, or took the lock",
			Want: []string{"no operation"}, Got: []string{ops[0].String()},
		})
	}
	if a.class == oracle.Corrupt {
		a.hands = append(a.hands, j.refusesToWrite(bad, o.Err)...)
	}
	return a
}

// refusesToWrite opens a log for writing that recovery refused.
func (j *judge) refusesToWrite(bad *image.Image, why string) []oracle.Violation {
	mem := faultfs.NewMem(bad.Clone())
	writing := faultfs.New(mem, faultfs.WithOpLimit(opBudget))
	d := workload.Driver{Subject: j.subject}
	_, end := j.drive(&d, writing, nil)
	opened, hash := d.Journal() != nil, mem.Image().Hash()
	j.letGo(&d)
	switch {
	case end != nil || opened:
		return []oracle.Violation{{
			Rule: "UP208", Text: "an open for writing does not refuse a log that a read-only recovery refuses as damaged",
			Want: []string{why}, Got: []string{"it opened"},
		}}
	case hash != bad.Hash():
		return []oracle.Violation{{
			Rule: "UP208", Text: "an open of a damaged log failed, and changed the files",
			Want: []string{"the same bytes and names"}, Got: changes(writing.Log().Ops()),
		}}
	}
	return nil
}

// grade sorts an answer. legal: a crash may leave the same bytes.
func (a *answered) grade(legal bool) report.Grades {
	g := report.Grades{Tried: 1}
	switch {
	case a.class == oracle.Corrupt && legal:
		g.Over = 1
	case a.class == oracle.Corrupt:
		g.Refused = 1
	case a.class != oracle.OK:
		g.Other = 1
	case a.same && !a.tail:
		g.Exact = 1
	case a.front && a.tail:
		g.Tail = 1
	default:
		g.Silent = 1
	}
	return g
}

// broken is UP203: damage that the contract notices is refused with an error that says so. What it
// does not vouch for may be answered in any way, but is answered.
func (a *answered) broken(c oracle.Contract, vouched bool) []oracle.Violation {
	v := oracle.Violation{Rule: "UP203", Want: []string{"a corruption error"}, Got: a.got}
	refusal := a.class == oracle.Corrupt || c.Detect == oracle.DetectNothing && a.class == oracle.Failed
	switch {
	case a.class == oracle.Hung:
		v.Text, v.Got = "damage was not answered", []string{a.err}
	case a.class == oracle.Panicked:
		v.Text, v.Got = "recovery panicked at a damaged log", []string{a.err}
	case !vouched || refusal:
		return a.hands
	case a.class != oracle.OK:
		v.Text, v.Got = "damage was answered with another error than corruption", []string{a.class.String() + ": " + a.err}
	case a.same && a.tail:
		return a.hands // everything is there, and what was added behind it is reported
	case a.same:
		v.Text = "a damaged log was read as if nothing had happened"
	case a.tail:
		v.Text = "damage to synced bytes was reported as a partial tail"
	case c.NoTail && len(a.got) == 0:
		v.Text = "a file that damage emptied was taken for a new one"
	default:
		v.Text = "damage to synced bytes changed what recovery returns, without a word"
	}
	return append([]oracle.Violation{v}, a.hands...)
}

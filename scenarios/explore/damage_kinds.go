package explore

import (
	"bytes"
	"strings"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/scenarios/oracle"
)

// damageKind is one kind of damage, and every place for it in a file.
type damageKind struct {
	name  string
	lines bool // only where records are lines
	count func(f *damagedFile) int
	at    func(f *damagedFile, i int) faultfs.Damage // i counts from 0
}

// run16 is a run of bytes that is longer than any word and shorter than most lines.
const run16 = 16

// damageKinds are all kinds. The words are those of plans where one word is enough.
func damageKinds() []damageKind {
	return append(byteKinds(), lineKinds()...)
}

// byteKinds are done to bytes, and to the whole file.
func byteKinds() []damageKind {
	each := func(f *damagedFile) int { return len(f.data) }
	once := func(*damagedFile) int { return 1 }
	return []damageKind{
		{"flip", false, func(f *damagedFile) int { return 8 * len(f.data) }, func(_ *damagedFile, i int) faultfs.Damage {
			return faultfs.Damage{Kind: faultfs.Flip, Off: int64(i / 8), Bit: uint8(i % 8)}
		}},
		{"nul", false, func(f *damagedFile) int { return 2*len(f.data) + f.sectors() }, func(f *damagedFile, i int) faultfs.Damage {
			if n := i - 2*len(f.data); n >= 0 {
				return f.part(faultfs.Nul, n*sector, sector)
			}
			return f.byteOrRun(faultfs.Nul, i)
		}},
		{"delete", false, func(f *damagedFile) int { return 2 * len(f.data) }, func(f *damagedFile, i int) faultfs.Damage {
			return f.byteOrRun(faultfs.Delete, i)
		}},
		{"badutf8", false, each, func(_ *damagedFile, i int) faultfs.Damage {
			return faultfs.Damage{Kind: faultfs.BadUTF8, Off: int64(i)}
		}},
		{"truncate", false, func(f *damagedFile) int { return max(len(f.data)-1, 0) }, func(_ *damagedFile, i int) faultfs.Damage {
			return faultfs.Damage{Kind: faultfs.Truncate, Off: int64(i + 1)}
		}},
		{"empty", false, once, func(*damagedFile, int) faultfs.Damage { return faultfs.Damage{Kind: faultfs.Truncate} }},
		{"again", false, once, func(*damagedFile, int) faultfs.Damage { return faultfs.Damage{Kind: faultfs.Again} }},
		{"bom", false, once, func(*damagedFile, int) faultfs.Damage { return faultfs.Damage{Kind: faultfs.BOM} }},
		{"digit", false, func(f *damagedFile) int { return 9 * len(f.digits) }, func(f *damagedFile, i int) faultfs.Damage {
			at := f.digits[i/9]
			return splice(at, 1, string('0'+(f.data[at]-'0'+1+byte(i%9))%10))
		}},
		{"newline", true, each, func(_ *damagedFile, i int) faultfs.Damage { return splice(i, 0, "\n") }},
		{"surrogate", true, each, func(_ *damagedFile, i int) faultfs.Damage { return splice(i, 0, `\ud800`) }},
		{"member", true, func(f *damagedFile) int { return len(f.members) }, func(f *damagedFile, i int) faultfs.Damage {
			m := f.members[i]
			return splice(m.key, 0, string(f.data[m.key:m.value])+"null,")
		}},
		{"type", true, func(f *damagedFile) int { return len(f.types) }, func(f *damagedFile, i int) faultfs.Damage {
			m := f.members[f.types[i]]
			return splice(m.value, m.end-m.value, `"unheard_of"`)
		}},
	}
}

// lineKinds are done to whole lines and their ends.
func lineKinds() []damageKind {
	each := func(f *damagedFile) int { return len(f.lines) }
	line := func(kind faultfs.DamageKind) func(*damagedFile, int) faultfs.Damage {
		return func(_ *damagedFile, i int) faultfs.Damage { return faultfs.Damage{Kind: kind, Off: int64(i + 1)} }
	}
	return []damageKind{
		{"glue", true, each, func(f *damagedFile, i int) faultfs.Damage { return f.part(faultfs.Delete, f.lines[i].end, 1) }},
		{"crlf", true, func(f *damagedFile) int { return len(f.lines) + 1 }, func(f *damagedFile, i int) faultfs.Damage {
			if i == len(f.lines) {
				return faultfs.Damage{Kind: faultfs.CRLF}
			}
			return splice(f.lines[i].end, 0, "\r")
		}},
		{"duplicate", true, each, line(faultfs.Duplicate)},
		{"dropline", true, each, line(faultfs.DropLine)},
		{"swap", true, func(f *damagedFile) int { return len(f.lines) * (len(f.lines) - 1) / 2 }, func(_ *damagedFile, i int) faultfs.Damage {
			a, b := pair(i)
			return faultfs.Damage{Kind: faultfs.Swap, Off: int64(a + 1), Len: int64(b + 1)}
		}},
		{"repeat", true, func(f *damagedFile) int { return len(f.lines) * (len(f.lines) + 1) }, func(f *damagedFile, i int) faultfs.Damage {
			n := len(f.lines) + 1
			return faultfs.Damage{Kind: faultfs.Repeat, Off: int64(i/n + 1), Len: int64(i%n + 1)}
		}},
	}
}

// pair is the i-th pair a < b: 0 1, 0 2, 1 2, 0 3, ….
func pair(i int) (a, b int) {
	for b = 1; i >= b; b++ {
		i -= b
	}
	return i, b
}

func splice(off, n int, text string) faultfs.Damage {
	return faultfs.Damage{Kind: faultfs.Splice, Off: int64(off), Len: int64(n), Text: text}
}

// promises reports whether a contract may notice damage of a kind anywhere.
func (k *damageKind) promises(c oracle.Contract) bool {
	switch c.Detect {
	case oracle.DetectBytes:
		return true
	case oracle.DetectStructure:
		return k.name == "nul" || k.name == "glue"
	default:
		return c.NoTail && k.name == "empty"
	}
}

// sector is the unit in which devices lose bytes.
const sector = 512

// damagedFile is a file of a log, with the places in it.
type damagedFile struct {
	name    string
	data    []byte
	lines   []lineAt
	last    int  // where the last line begins
	later   bool // a later segment stands behind it, so all of it lies in front of the log's last line
	digits  []int
	members []memberAt // of the objects that are lines, and of those in them
	types   []int      // members whose name is "type"
}

// lineAt is a line without its newline, which stands at end, if there is one.
type lineAt struct{ start, end int }

// memberAt is a member of an object: where its name, its value, and what follows it begin.
type memberAt struct{ key, value, end int }

// newDamagedFile finds the places.
func newDamagedFile(name string, data []byte) *damagedFile {
	f := &damagedFile{name: name, data: data}
	for at := 0; at < len(data); {
		end := len(data)
		if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
			end = at + n
		}
		f.lines = append(f.lines, lineAt{at, end})
		f.last = at
		f.findMembers(at, end)
		at = end + 1
	}
	for i, c := range data {
		if c >= '0' && c <= '9' {
			f.digits = append(f.digits, i)
		}
	}
	return f
}

// findMembers goes along a line that is an object, as it was written: without white space. Members of
// objects inside count too.
func (f *damagedFile) findMembers(at, end int) {
	if end-at < 2 || f.data[at] != '{' || f.data[end-1] != '}' {
		return
	}
	var open []memberAt // the member that is read, in each object or list around i
	text := false
	for i := at; i < end; i++ {
		switch c := f.data[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{' || c == '[':
			open = append(open, memberAt{key: i + 1})
		case len(open) == 0:
			return // not what it looked like
		case c == ':':
			open[len(open)-1].value = i + 1
		case c == ',' || c == '}' || c == ']':
			m := &open[len(open)-1]
			if m.end = i; m.value > m.key {
				f.addMember(*m)
			}
			if *m = (memberAt{key: i + 1}); c != ',' {
				open = open[:len(open)-1]
			}
		}
	}
}

func (f *damagedFile) addMember(m memberAt) {
	if strings.TrimSuffix(string(f.data[m.key:m.value]), ":") == `"type"` {
		f.types = append(f.types, len(f.members))
	}
	f.members = append(f.members, m)
}

func (f *damagedFile) sectors() int { return (len(f.data) + sector - 1) / sector }

// byteOrRun is a byte, or, in the second half of the places, a run of bytes.
func (f *damagedFile) byteOrRun(kind faultfs.DamageKind, i int) faultfs.Damage {
	if n := i - len(f.data); n >= 0 {
		return f.part(kind, n, run16)
	}
	return f.part(kind, i, 1)
}

// part is a damage to n bytes, or as many as there are.
func (f *damagedFile) part(kind faultfs.DamageKind, off, n int) faultfs.Damage {
	return faultfs.Damage{Kind: kind, Off: int64(off), Len: int64(min(n, max(len(f.data)-off, 1)))}
}

// vouched reports whether the contract says that it notices this damage: it was done in front of
// the last line, and the last line is still there to vouch for it.
func (f *damagedFile) vouched(c oracle.Contract, d faultfs.Damage, damaged []byte) bool {
	switch {
	case c.NoTail && len(damaged) == 0:
		return true // a file that is only ever replaced is never empty
	case c.Detect == oracle.DetectNothing,
		c.Detect == oracle.DetectStructure && !f.breaksForm(d):
		return false
	case f.later || c.NoTail:
		return true
	}
	same := sameUpTo(f.data, damaged)
	switch {
	case same == int64(len(f.data)): // it goes on where the last line ended: that is the last line no more
		return true
	case same >= int64(f.last):
		return false
	case d.Kind == faultfs.CRLF, d.Kind == faultfs.Swap: // every line is still there
		return true
	default:
		return bytes.HasSuffix(damaged, f.data[f.last:])
	}
}

// breaksForm reports whether a damage is one of those that show without checksums: NULs, and two
// lines that became one.
func (f *damagedFile) breaksForm(d faultfs.Damage) bool {
	return d.Kind == faultfs.Nul || d.Kind == faultfs.Delete && d.Len == 1 && f.data[d.Off] == '\n' && d.Off < int64(len(f.data)-1)
}

// excusable reports whether a crash, with no damage at all, may leave the same bytes.
func (f *damagedFile) excusable(c oracle.Contract, damaged []byte) bool {
	return !c.NoTail && !f.later && len(damaged) < len(f.data) && bytes.HasPrefix(f.data, damaged)
}

// sameUpTo is how many bytes two contents have in common from their beginning on.
func sameUpTo(a, b []byte) int64 {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return int64(i)
		}
	}
	return int64(n)
}

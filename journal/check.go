package journal

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// maxDepth is how deep arrays and objects may nest.
const maxDepth = 512

// fewKeys is up to how many members each new key is compared with the ones before; larger
// objects are sorted when they end.
const fewKeys = 16

// checker tells whether bytes are JSON, by stricter rules than package encoding/json: the text
// is UTF-8, surrogates come in pairs, no object has a key twice (however it is escaped), no
// control characters, no depth without end. It keeps its scratch memory from text to text.
type checker struct {
	b      []byte
	i      int
	bad    string // why the text is refused
	own    []byte // a key of the outermost object that is one of a line's own, if guard is set
	guard  bool   // refuse such keys
	escape bool   // the last string had an escape
	spaces bool   // there was white space outside of strings
	keys   [][]byte
	plain  []byte // keys without their escapes
}

// object reports whether b is one object and nothing else.
func (c *checker) object(b []byte) bool {
	c.reset(b)
	return c.oneObject()
}

// payload reports whether b is an object that can become a line's members.
func (c *checker) payload(b []byte) bool {
	c.reset(b)
	c.guard = true
	return c.oneObject()
}

func (c *checker) oneObject() bool {
	b := c.b
	c.skip()
	if c.i == len(b) || b[c.i] != '{' {
		return c.fail("not a JSON object")
	}
	if !c.value(0) {
		return false
	}
	return c.end()
}

// members reports whether b is a line's members, without braces.
func (c *checker) members(b []byte) bool {
	c.reset(b)
	c.guard = true
	return c.body(1) && c.end()
}

func (c *checker) reset(b []byte) {
	c.b, c.i, c.bad, c.spaces, c.guard = b, 0, "", false, false
	c.keys, c.plain = c.keys[:0], c.plain[:0]
}

func (c *checker) end() bool {
	c.skip()
	return c.i == len(c.b) || c.fail("bytes behind the end of the object")
}

func (c *checker) fail(why string) bool {
	if c.bad == "" {
		c.bad = why
	}
	return false
}

// skip passes white space. 0x0A ends a line and never comes here.
func (c *checker) skip() {
	for c.i < len(c.b) {
		switch c.b[c.i] {
		case ' ', '\t', '\r', '\n':
			c.spaces = true
			c.i++
		default:
			return
		}
	}
}

func (c *checker) value(depth int) bool {
	if c.i == len(c.b) {
		return c.fail("the JSON text ends too early")
	}
	switch c.b[c.i] {
	case '{':
		c.i++
		return c.container(depth, '}')
	case '[':
		c.i++
		return c.container(depth, ']')
	case '"':
		return c.str()
	case 't':
		return c.literal("true")
	case 'f':
		return c.literal("false")
	case 'n':
		return c.literal("null")
	default:
		return c.number()
	}
}

func (c *checker) literal(word string) bool {
	if !bytes.HasPrefix(c.b[c.i:], []byte(word)) {
		return c.fail("not a JSON value")
	}
	c.i += len(word)
	return true
}

// container checks an object or array from behind its opening bracket.
func (c *checker) container(depth int, closing byte) bool {
	if depth++; depth > maxDepth {
		return c.fail("nested too deep")
	}
	c.skip()
	if c.i < len(c.b) && c.b[c.i] == closing {
		c.i++
		return true
	}
	if closing == '}' {
		if !c.body(depth) {
			return false
		}
	} else if !c.elements(depth) {
		return false
	}
	if c.i == len(c.b) {
		return c.fail("the JSON text ends too early")
	}
	if c.b[c.i] != closing {
		return c.fail("not a comma between two values")
	}
	c.i++
	return true
}

func (c *checker) elements(depth int) bool {
	for {
		c.skip()
		if !c.value(depth) {
			return false
		}
		if c.skip(); !c.comma() {
			return true
		}
	}
}

func (c *checker) comma() bool {
	if c.i < len(c.b) && c.b[c.i] == ',' {
		c.i++
		return true
	}
	return false
}

// body checks the members of an object, at least one.
func (c *checker) body(depth int) bool {
	base := len(c.keys)
	for {
		c.skip()
		if c.i == len(c.b) {
			return c.fail("the JSON text ends too early")
		}
		if c.b[c.i] != '"' {
			return c.fail("an object's key is not a string")
		}
		from := c.i + 1
		if !c.str() || !c.key(c.b[from:c.i-1], base) {
			return false
		}
		c.skip()
		if c.i == len(c.b) {
			return c.fail("the JSON text ends too early")
		}
		if c.b[c.i] != ':' {
			return c.fail("no colon behind an object's key")
		}
		c.i++
		c.skip()
		if !c.value(depth) {
			return false
		}
		if c.skip(); !c.comma() {
			return c.unique(base)
		}
	}
}

// key takes a key of the object whose keys begin at base.
func (c *checker) key(k []byte, base int) bool {
	if c.escape {
		from := len(c.plain)
		c.plain = appendUnquoted(c.plain, k)
		k = c.plain[from:]
	}
	if c.guard && base == 0 && reserved(k) {
		c.own = k
		return c.fail("a member is named like one of the line's own")
	}
	if len(c.keys)-base < fewKeys {
		for _, other := range c.keys[base:] {
			if len(other) == len(k) && string(other) == string(k) {
				return c.fail("a key stands twice in one object")
			}
		}
	}
	c.keys = append(c.keys, k)
	return true
}

// unique ends an object: large ones were not compared key by key.
func (c *checker) unique(base int) bool {
	if keys := c.keys[base:]; len(keys) > fewKeys {
		slices.SortFunc(keys, bytes.Compare)
		for i := 1; i < len(keys); i++ {
			if bytes.Equal(keys[i-1], keys[i]) {
				return c.fail("a key stands twice in one object")
			}
		}
	}
	c.keys = c.keys[:base]
	return true
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks the bytes of w, by their high bits, that a string cannot take as they are:
// quote, backslash, control characters, and all that is not ASCII. Only the lowest mark is sure.
func special(w uint64) uint64 {
	quote, back := w^ones*'"', w^ones*'\\'
	return ((quote-ones)&^quote | (back-ones)&^back | (w-ones*0x20)&^w | w) & highs
}

// str passes a string; c.i is at its opening quote.
func (c *checker) str() bool {
	b, i := c.b, c.i+1
	c.escape = false
	for {
		for i+8 <= len(b) {
			if m := special(binary.LittleEndian.Uint64(b[i:])); m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		if i >= len(b) {
			c.i = i
			return c.fail("a string does not end")
		}
		switch ch := b[i]; {
		case ch == '"':
			c.i = i + 1
			return true
		case ch == '\\':
			c.escape = true
			n := escapeLen(b[i:])
			if n == 0 {
				return c.fail("a bad escape, or half of a surrogate pair")
			}
			i += n
		case ch < 0x20:
			return c.fail("a control character in a string")
		case ch < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n <= 1 {
				return c.fail("not UTF-8")
			}
			i += n
		}
	}
}

// escapeLen is the length of the escape that b begins with, both halves of a surrogate pair
// included, or 0.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
	default:
		return 0
	}
	r, ok := hex4(b)
	switch {
	case !ok || r >= 0xdc00 && r < 0xe000:
		return 0
	case r < 0xd800 || r >= 0xe000:
		return 6
	}
	if low, ok := hex4(b[6:]); !ok || low < 0xdc00 || low >= 0xe000 {
		return 0
	}
	return 12
}

// hex4 reads \uXXXX.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, ch := range b[2:6] {
		var d byte
		switch {
		case ch >= '0' && ch <= '9':
			d = ch - '0'
		case ch >= 'a' && ch <= 'f':
			d = ch - 'a' + 10
		case ch >= 'A' && ch <= 'F':
			d = ch - 'A' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

func (c *checker) number() bool {
	b, i := c.b, c.i
	if i < len(b) && b[i] == '-' {
		i++
	}
	from := i
	i = digits(b, i)
	if i == from || b[from] == '0' && i > from+1 {
		return c.fail("not a JSON value")
	}
	if i < len(b) && b[i] == '.' {
		frac := i + 1
		if i = digits(b, frac); i == frac {
			return c.fail("a number without digits behind its point")
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		exp := i
		if i = digits(b, exp); i == exp {
			return c.fail("a number without digits in its exponent")
		}
	}
	c.i = i
	return true
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}

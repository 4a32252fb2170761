package journal

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendQuoted writes s as a JSON string. Besides what must be escaped, it escapes the line
// separators U+0085, U+2028 and U+2029, at which other readers break lines, and DEL.
// Text that is not UTF-8 is refused: JSON has no way to say it.
func appendQuoted(dst []byte, s string) (out []byte, ok bool) {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		ch := s[i]
		if ch < utf8.RuneSelf {
			if ch >= 0x20 && ch != '"' && ch != '\\' && ch != 0x7f {
				i++
				continue
			}
			dst = append(dst, s[from:i]...)
			dst = appendEscaped(dst, ch)
			i++
			from = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return dst, false
		}
		if r == 0x85 || r == 0x2028 || r == 0x2029 {
			dst = append(dst, s[from:i]...)
			dst = append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
			from = i + n
		}
		i += n
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"'), true
}

func appendEscaped(dst []byte, ch byte) []byte {
	switch ch {
	case '"', '\\':
		return append(dst, '\\', ch)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	default:
		return append(dst, '\\', 'u', '0', '0', hexDigits[ch>>4], hexDigits[ch&15])
	}
}

// appendUnquoted writes what the inside of a checked JSON string means.
func appendUnquoted(dst, s []byte) []byte {
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			dst = append(dst, s[i])
			i++
			continue
		}
		switch ch := s[i+1]; ch {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, _ := hex4(s[i:])
			i += 4
			if utf16.IsSurrogate(r) {
				low, _ := hex4(s[i+2:])
				r = utf16.DecodeRune(r, low)
				i += 6
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, ch)
		}
		i += 2
	}
	return dst
}

// compact takes the white space between the tokens out of a checked JSON text.
func compact(dst, b []byte) []byte {
	for i := 0; i < len(b); {
		switch b[i] {
		case ' ', '\t', '\r', '\n':
			i++
		case '"':
			end := stringEnd(b, i)
			dst = append(dst, b[i:end]...)
			i = end
		default:
			dst = append(dst, b[i])
			i++
		}
	}
	return dst
}

// stringEnd is where the checked string that begins at b[i] ends.
func stringEnd(b []byte, i int) int {
	for i++; ; {
		end := i + bytes.IndexByte(b[i:], '"')
		back := bytes.IndexByte(b[i:end], '\\')
		if back < 0 {
			return end + 1
		}
		i += back + 2
	}
}

// member is one member of a checked object.
type member struct {
	key   []byte // the inside of its string, escapes and all
	value []byte
}

// name is the key without escapes.
func (m member) name() string { return string(appendUnquoted(nil, m.key)) }

// text is the value if it is a string.
func (m member) text() (string, bool) {
	if len(m.value) < 2 || m.value[0] != '"' {
		return "", false
	}
	return string(appendUnquoted(nil, m.value[1:len(m.value)-1])), true
}

// eachMember calls yield for the members of a checked object until it says no.
func eachMember(obj []byte, yield func(member) bool) {
	for i := 0; i < len(obj); {
		if obj[i] != '"' {
			i++ // the brace, a comma, white space
			continue
		}
		end := stringEnd(obj, i)
		m := member{key: obj[i+1 : end-1]}
		for i = end; obj[i] == ':' || isSpace(obj[i]); i++ {
		}
		end = valueEnd(obj, i)
		m.value = obj[i:end]
		if !yield(m) {
			return
		}
		i = end
	}
}

// eachElement calls yield for the elements of a checked array.
func eachElement(array []byte, yield func([]byte)) {
	for i := 1; i < len(array)-1; {
		if array[i] == ',' || isSpace(array[i]) {
			i++
			continue
		}
		end := valueEnd(array, i)
		yield(array[i:end])
		i = end
	}
}

func isSpace(ch byte) bool { return ch == ' ' || ch == '\t' || ch == '\r' || ch == '\n' }

// valueEnd is where the checked value that begins at b[i] ends.
func valueEnd(b []byte, i int) int {
	depth := 0
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = stringEnd(b, i) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 {
				return i // of the container around a number or literal
			}
			depth--
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return i
}

// findMember looks a member up by its name.
func findMember(obj []byte, name string) (member, bool) {
	var found member
	ok := false
	eachMember(obj, func(m member) bool {
		if string(m.key) == name || m.name() == name {
			found, ok = m, true
		}
		return !ok
	})
	return found, ok
}

// textOf is a string member of an object.
func textOf(obj []byte, name string) (string, bool) {
	m, ok := findMember(obj, name)
	if !ok {
		return "", false
	}
	return m.text()
}

package crash

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// text is a position in three words: "n" and the choice of names in each part, "s" and the
// size step of each file, "u" and the content of each cell that has a choice. Numbers are
// joined by dots; "7x3" is 7.7.7.
func (s *product) text(p place) string {
	at := s.position(p)
	words := make([]string, 0, 3)
	for i, digits := range [][]int{at.fams, at.boxes, at.opts} {
		if len(digits) > 0 {
			words = append(words, "nsu"[i:i+1]+pack(digits))
		}
	}
	return strings.Join(words, " ")
}

func pack(digits []int) string {
	var b strings.Builder
	for i := 0; i < len(digits); {
		n := 1
		for i+n < len(digits) && digits[i+n] == digits[i] {
			n++
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(strconv.Itoa(digits[i]))
		if n > 1 {
			b.WriteString("x" + strconv.Itoa(n))
		}
		i += n
	}
	return b.String()
}

var errForeign = errors.New("no state of this space is called that: it belongs to another cut, model or history")

func (s *product) parse(choice string) (place, error) {
	words := map[byte][]int{}
	for word := range strings.FieldsSeq(choice) {
		digits, err := unpack(word[1:])
		if err != nil || !strings.Contains("nsu", word[:1]) {
			return place{}, fmt.Errorf("%q: want n, s or u and numbers joined by dots", word)
		}
		words[word[0]] = digits
	}
	at := &position{words['n'], words['s'], words['u']}
	if !fits(at.fams, len(s.parts), func(i int) int { return len(s.parts[i].fams) }) {
		return place{}, errForeign
	}
	slots := s.slots(at.fams)
	if !fits(at.boxes, len(slots), func(i int) int { return len(slots[i].boxes) }) {
		return place{}, errForeign
	}
	cells := choices(slots, at.boxes)
	if !fits(at.opts, len(cells), func(i int) int { return len(cells[i].opts) }) {
		return place{}, errForeign
	}
	return place{at: at}, nil
}

func fits(digits []int, n int, base func(i int) int) bool {
	if len(digits) != n {
		return false
	}
	for i, d := range digits {
		if d < 0 || d >= base(i) {
			return false
		}
	}
	return true
}

// unpack reads what pack wrote. A count past any space is an error, not an allocation.
func unpack(text string) ([]int, error) {
	const most = 1 << 24
	var digits []int
	for word := range strings.SplitSeq(text, ".") {
		num, times, many := strings.Cut(word, "x")
		d, err := strconv.Atoi(num)
		n := 1
		if err == nil && many {
			n, err = strconv.Atoi(times)
		}
		if err != nil || n < 1 || len(digits)+n > most {
			return nil, fmt.Errorf("%q is no list of numbers", text)
		}
		for range n {
			digits = append(digits, d)
		}
	}
	return digits, nil
}

package crash

import (
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// ramp is n bytes, none of them NUL, none equal to its neighbour.
func ramp(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(1 + i%251)
	}
	return string(b)
}

func countOf(t require.TestingT, m Model, s *script, o Options) string {
	sp, err := NewSpace(m, s.history(), s.end(), o)
	require.NoError(t, err)
	return sp.Count().String()
}

// TestCountsOfTheTable are the worked figures of the study of real file systems: one append
// of 14,000 bytes at offset 2,500.
func TestCountsOfTheTable(t *testing.T) {
	s := newScript().create("/log").append("/log", ramp(2500)).durable().append("/log", ramp(14000))
	for m, want := range map[Model][2]string{
		Contiguous:  {"6", "6"},
		Ext4Ordered: {"11", "81"},
		OwnPage:     {"32", "269488146"},
		Ext4OOO:     {"33", "269488161"},
		Writeback:   {"63", "806359057"},
	} {
		assert.Equal(t, want[0], countOf(t, m, s, Options{Tear: 4096}), "%s at 4096", m)
		assert.Equal(t, want[1], countOf(t, m, s, Options{Tear: 512}), "%s at 512", m)
	}
	assert.Equal(t, "14001", countOf(t, Prefix, s, Options{}), "every byte, and none")
}

// TestCountsOfOneAppend holds the closed formulas for one append over pages 0..P with s_j
// changed units in page j.
func TestCountsOfOneAppend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		off := rapid.IntRange(1, 4095).Draw(t, "off")
		n := rapid.IntRange(1, 5*4096).Draw(t, "bytes")
		tear := rapid.SampledFrom([]int{512, 4096}).Draw(t, "tear")
		s := newScript().create("/log").append("/log", ramp(off)).durable().append("/log", ramp(n))

		end := off + n
		last := (end - 1) / 4096
		sums := make([]int, last+2) // sums[k]: changed units in pages before k
		for u := off / tear; u <= (end-1)/tear; u++ {
			for k := u*tear/4096 + 1; k < len(sums); k++ {
				sums[k]++
			}
		}
		two := func(n int) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(n)) }
		sum := func(from, to int) *big.Int {
			all := big.NewInt(1)
			for k := from; k <= to; k++ {
				all.Add(all, two(sums[k]))
			}
			return all
		}
		ordered := new(big.Int).Mul(two(sums[1]), bigOf(last+1))
		for m, want := range map[Model]*big.Int{
			Prefix:      bigOf(1 + n),
			Contiguous:  bigOf(2 + last),
			Ext4Ordered: ordered.Add(ordered, bigOf(1)),
			OwnPage:     sum(0, last),
			Ext4OOO:     new(big.Int).Add(two(sums[1]), sum(1, last)),
			Writeback:   sum(1, last+1),
			PosixWorst:  sum(1, last+1), // one write: nothing to reorder
		} {
			o := Options{Tear: tear}
			if m == Prefix {
				o.Tear = 1
			}
			assert.Equal(t, want.String(), countOf(t, m, s, o), "%s at %d, %d bytes at %d", m, tear, n, off)
		}
	})
}

// TestCountsOfAppends: n unsynced appends inside one existing page.
func TestCountsOfAppends(t *testing.T) {
	for n := range 12 {
		s := newScript().create("/log").append("/log", ramp(10)).durable()
		for i := range n {
			s.append("/log", ramp(10+i))
		}
		want := bigOf((n + 1) * (n + 2) / 2).String()
		for _, m := range []Model{Ext4Ordered, Ext4OOO, Writeback} {
			assert.Equal(t, want, countOf(t, m, s, Options{Tear: 4096}), "%s, %d appends", m, n)
		}
		for _, m := range []Model{Contiguous, OwnPage} {
			// A step needs its page as of itself, so the later versions look the same.
			assert.Equal(t, bigOf(n+1).String(), countOf(t, m, s, Options{Tear: 4096}), "%s, %d appends", m, n)
		}
		// Each size shows any subset of the writes below it.
		assert.Equal(t, bigOf(1<<(n+1)-1).String(), countOf(t, PosixWorst, s, Options{Tear: 4096}), "%d appends", n)
	}
}

// TestCountsOfNames: E independent names double the states E times.
func TestCountsOfNames(t *testing.T) {
	for e := range 40 {
		s := newScript()
		for i := range e {
			s.create("/" + strings.Repeat("n", i+1))
		}
		assert.Equal(t, new(big.Int).Lsh(big.NewInt(1), uint(e)).String(), countOf(t, PosixWorst, s, Options{}), "%d names", e)
		assert.Equal(t, bigOf(e+1).String(), countOf(t, OwnPage, s, Options{}), "%d names in a chain", e)
	}
}

// TestCountIsNotAWalk: a space that nobody could walk is counted at once.
func TestCountIsNotAWalk(t *testing.T) {
	s := newScript().create("/log").durable().append("/log", ramp(1<<20))
	want := new(big.Int).Lsh(big.NewInt(1), 2048) // one state more or less for each page
	n, _ := new(big.Int).SetString(countOf(t, Writeback, s, Options{Tear: 512}), 10)
	assert.Positive(t, n.Cmp(want))
	assert.Equal(t, 2049, n.BitLen())
}

package crash

import (
	"bytes"
	"fmt"
	"testing"
)

// BenchmarkStates walks the states of the last records of a log of the given size: a batch
// of 100-byte appends that was never synced. One op is one state, its image included.
func BenchmarkStates(b *testing.B) {
	for _, m := range []Model{Prefix, Contiguous, OwnPage, Ext4Ordered, Ext4OOO, Writeback, PosixWorst} {
		for _, size := range []int{4 << 10, 64 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%s/%s", m, kib(size)), func(b *testing.B) { benchStates(b, m, size) })
		}
	}
}

func kib(n int) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%dMiB", n>>20)
	}
	return fmt.Sprintf("%dKiB", n>>10)
}

func benchStates(b *testing.B, m Model, size int) {
	b.Helper()
	s := logOf(size)
	for range 60 {
		s.append("/log", record)
	}
	sp, err := NewSpace(m, s.history(), s.end(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	n := 0
	for n < b.N {
		for st := range sp.All() {
			if n++; st.Image == nil || n == b.N {
				break
			}
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "states/s")
}

var record = string(bytes.Repeat([]byte("0123456789"), 10))

// logOf is a durable log of size bytes.
func logOf(size int) *script {
	s := newScript().create("/log")
	return s.write("/log", 0, string(bytes.Repeat([]byte{'.'}, size))).durable()
}

// BenchmarkWholeFile walks every byte of a log that was never synced, so that the state
// changes over the whole file.
func BenchmarkWholeFile(b *testing.B) {
	for _, size := range []int{4 << 10, 64 << 10, 1 << 20} {
		b.Run(kib(size), func(b *testing.B) {
			s := newScript().create("/log").durable()
			for s.size("/log") < int64(size) {
				s.append("/log", record)
			}
			sp, err := NewSpace(Prefix, s.history(), s.end(), Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for n := 0; n < b.N; {
				for range sp.All() {
					if n++; n == b.N {
						break
					}
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "states/s")
		})
	}
}

// BenchmarkEpochs plans the space of every epoch of n appends, each synced. One op is one
// epoch.
func BenchmarkEpochs(b *testing.B) {
	for _, m := range []Model{Kill, Synced, Prefix, OwnPage, Ext4OOO, PosixWorst, LyingFlush} {
		for _, n := range []int{10, 1000, 10000} {
			b.Run(fmt.Sprintf("%s/%d", m, n), func(b *testing.B) { benchEpochs(b, m, n) })
		}
	}
}

func benchEpochs(b *testing.B, m Model, n int) {
	b.Helper()
	s := newScript().create("/log")
	for range n {
		s.append("/log", record).sync("/log")
	}
	cuts := Epochs(s.ops)
	h := s.history()
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; {
		p, err := NewPlanner(m, h, Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, cut := range cuts {
			if _, err := p.Space(cut); err != nil {
				b.Fatal(err)
			}
			if done++; done == b.N {
				break
			}
		}
	}
}

// BenchmarkNewSpace is the set-up of a small history, as nested lives need it.
func BenchmarkNewSpace(b *testing.B) {
	for _, m := range Models() {
		b.Run(string(m), func(b *testing.B) {
			s := newScript().create("/log").append("/log", record).append("/log", record).sync("/log").append("/log", record)
			h, cut := s.history(), Cut{At: len(s.ops)}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := NewSpace(m, h, cut, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkContains is the membership test on the newest state of a log of 64 KiB.
func BenchmarkContains(b *testing.B) {
	for _, m := range []Model{Prefix, OwnPage, PosixWorst} {
		b.Run(string(m), func(b *testing.B) {
			s := logOf(64 << 10)
			for range 20 {
				s.append("/log", record)
			}
			sp, err := NewSpace(m, s.history(), s.end(), Options{})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := sp.Contains(s.live); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

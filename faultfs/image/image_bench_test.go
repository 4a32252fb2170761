package image_test

import (
	"fmt"
	"testing"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// The sinks keep the compiler from leaving out what is measured.
var (
	stateSink *image.Image
	hashSink  image.Hash
)

var sizes = []struct {
	name  string
	bytes int
}{{"4KiB", 4 << 10}, {"64KiB", 64 << 10}, {"1MiB", 1 << 20}, {"16MiB", 16 << 20}}

func grown(size int) (*image.Image, trace.Ino) {
	m := image.New()
	ino := m.Alloc(false, 0o600)
	m.Bind(trace.Root, "log.jsonl", ino)
	p := make([]byte, 4096)
	for i := range p {
		p[i] = byte(i*7 + 1)
	}
	for off := 0; off < size; off += len(p) {
		m.WriteAt(ino, p, int64(off))
	}
	return m, ino
}

// BenchmarkState is one crash state per round: a change of up to 512 bytes to one image, and a
// clone of it handed out. Every 64 rounds the file is what it was, so that its size stays.
func BenchmarkState(b *testing.B) {
	for _, kind := range []string{"append", "overwrite", "sector"} {
		for _, s := range sizes {
			b.Run(kind+"/"+s.name, func(b *testing.B) { benchState(b, kind, s.bytes, false) })
		}
	}
}

// BenchmarkStateHash is the same with the hash of every state.
func BenchmarkStateHash(b *testing.B) {
	for _, s := range sizes {
		b.Run("append/"+s.name, func(b *testing.B) { benchState(b, "append", s.bytes, true) })
	}
}

func benchState(b *testing.B, kind string, size int, hash bool) {
	b.Helper()
	base, ino := grown(size)
	base.Hash()
	line := []byte(fmt.Sprintf("%0100d", 7))
	sector := make([]byte, 512)
	b.ReportAllocs()
	m := base.Clone()
	for i := 0; b.Loop(); i++ {
		k := i % 64
		if k == 0 {
			m = base.Clone()
		}
		switch kind {
		case "append":
			m.WriteAt(ino, line, int64(size+k*len(line)))
		case "overwrite":
			m.WriteAt(ino, line, int64(k*8191%(size-100)))
		case "sector":
			m.WriteAt(ino, sector, int64(k*8192%size))
		}
		stateSink = m.Clone()
		if hash {
			hashSink = stateSink.Hash()
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "states/s")
}

// BenchmarkRead is a whole file in one call.
func BenchmarkRead(b *testing.B) {
	for _, s := range sizes[:3] {
		b.Run(s.name, func(b *testing.B) {
			m, ino := grown(s.bytes)
			p := make([]byte, s.bytes)
			b.SetBytes(int64(s.bytes))
			b.ReportAllocs()
			for b.Loop() {
				m.ReadAt(ino, p, 0)
			}
		})
	}
}

// BenchmarkCreate adds a file to a folder that holds n, a clone handed out before each.
func BenchmarkCreate(b *testing.B) {
	for _, n := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			base := image.New()
			for i := range n {
				base.Bind(trace.Root, fmt.Sprintf("f%06d", i*2), base.Alloc(false, 0o600))
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				m := base.Clone()
				m.Bind(trace.Root, fmt.Sprintf("f%06d", i*2%(n*2)+1), m.Alloc(false, 0o600))
				stateSink = m
			}
		})
	}
}

package faultfs_test

import (
	"os"
	"testing"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
)

// One layer over one image, as exploration makes and drops them by the million: open, read,
// append, sync, close.
func BenchmarkLayer(b *testing.B) {
	mem := faultfs.NewMem(nil)
	if err := afero.WriteFile(mem, "/log.jsonl", make([]byte, 2000), 0o600); err != nil {
		b.Fatal(err)
	}
	base := mem.Image()
	plan, err := faultfs.ParsePlan("after sync *.jsonl 9 -> kill")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("plain", func(b *testing.B) { benchmarkLayer(b, base) })
	b.Run("plan", func(b *testing.B) { benchmarkLayer(b, base, faultfs.WithPlan(plan)) })
}

func benchmarkLayer(b *testing.B, base *image.Image, opts ...faultfs.Option) {
	b.Helper()
	line, buf := make([]byte, 100), make([]byte, 4096)
	b.ReportAllocs()
	for b.Loop() {
		f := faultfs.New(faultfs.NewMem(base), opts...)
		h, err := f.OpenFile("/log.jsonl", os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = h.Read(buf)
		_, _ = h.Write(line)
		_ = h.Sync()
		if err := h.Close(); err != nil || f.Log().Len() != 2 {
			b.Fatal(err, f.Log().Len())
		}
	}
}

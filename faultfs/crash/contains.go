package crash

import (
	"bytes"
	"fmt"

	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/faultfs/trace"
)

// contains finds, part by part, the one family that shows img's names and whose files may
// hold img's bytes; then all that is not in doubt must be as it is in the durable image.
// Parts do not depend on each other, so no product is walked.
func (s *product) contains(img *image.Image) error {
	want := s.dur.Clone() // comes to show the names that fit, part by part
	got := pathsByName(img)
	open := map[trace.Ino]bool{}
	for i := range s.parts {
		f, err := s.fitting(&s.parts[i], want, img, got)
		if err != nil {
			return err
		}
		f.show(want)
		for _, sl := range f.slots {
			open[sl.ino] = true
		}
	}
	if d := diff(want, img, open); d.level != 0 {
		return fmt.Errorf("no choice leaves this: %s", d.text)
	}
	return nil
}

func pathsByName(img *image.Image) map[string]image.Info {
	paths := map[string]image.Info{}
	img.Walk(func(path string, info image.Info) bool {
		paths[path] = info
		return true
	})
	return paths
}

// show gives img the names and modes of f.
func (f *family) show(img *image.Image) {
	for _, e := range f.sel {
		e.apply(img)
	}
	for _, m := range f.modes {
		if info, ok := img.Stat(m.ino); ok && info.Mode != m.mode {
			img.Chmod(m.ino, m.mode)
		}
	}
}

// fitting is the family of p that img may be of.
func (s *product) fitting(p *part, want, img *image.Image, got map[string]image.Info) (*family, error) {
	var best misfit
	for _, f := range p.fams {
		try := want.Clone()
		f.show(try)
		bad := s.fitNames(f, try, got)
		if bad.err == nil {
			bad = s.fitFiles(f, try, img, got)
		}
		if bad.err == nil {
			return f, nil
		}
		if best.err == nil || bad.level > best.level || bad.level == best.level && bad.off > best.off {
			best = bad
		}
	}
	return nil, best.err
}

// misfit is why a family does not fit, and how far it got.
type misfit struct {
	level int
	off   int64
	err   error
}

// fitNames compares the entries that the family sets, by path.
func (s *product) fitNames(f *family, try *image.Image, got map[string]image.Info) misfit {
	paths := pathsOf(try)
	for _, e := range f.sel {
		dir, ok := paths[e.dir]
		if !ok {
			continue
		}
		path := join(dir, e.name)
		info, there := got[path]
		switch {
		case e.ino == 0 && there:
			return misfit{levelName, 0, fmt.Errorf("the name %s should not be there", path)}
		case e.ino == 0:
			continue
		case !there:
			return misfit{levelName, 0, fmt.Errorf("the name %s is missing", path)}
		}
		if d, _ := try.Stat(e.ino); d.Dir != info.Dir || d.Mode.Perm() != info.Mode.Perm() {
			return misfit{levelMode, 0, fmt.Errorf("%s is %s, not %s", path, kindText(info), kindText(d))}
		}
	}
	for _, m := range f.modes {
		if path, ok := paths[m.ino]; ok {
			if info, there := got[path]; there && info.Mode.Perm() != m.mode.Perm() {
				return misfit{levelMode, 0, fmt.Errorf("%s has mode %04o, not %04o", path, info.Mode.Perm(), m.mode.Perm())}
			}
		}
	}
	return misfit{}
}

func join(dir, name string) string {
	if dir == "/" {
		return dir + name
	}
	return dir + "/" + name
}

// fitFiles compares the content of each slot, under all its names.
func (s *product) fitFiles(f *family, try, img *image.Image, got map[string]image.Info) misfit {
	paths := map[trace.Ino][]string{}
	try.Walk(func(path string, info image.Info) bool {
		paths[info.Ino] = append(paths[info.Ino], path)
		return true
	})
	for _, sl := range f.slots {
		var content []byte
		for i, path := range paths[sl.ino] {
			info, there := got[path]
			if !there || info.Dir {
				return misfit{levelName, 0, fmt.Errorf("the file %s is missing", path)}
			}
			b := img.Bytes(info.Ino)
			if bad := s.fitFile(sl, path, b); bad.err != nil {
				return bad
			}
			if i > 0 && !bytes.Equal(b, content) {
				return misfit{levelSize, 0, fmt.Errorf("%s and %s are one file, but differ", paths[sl.ino][0], path)}
			}
			content = b
		}
	}
	return misfit{}
}

func (s *product) fitFile(sl *slot, path string, content []byte) misfit {
	var best misfit
	for i := range sl.boxes {
		b := &sl.boxes[i]
		bad := misfit{levelSize, 0, fmt.Errorf("%s: the size %d is none that the model allows", path, len(content))}
		if b.size == int64(len(content)) {
			bad = b.fit(path, content, durable(s.dur, sl.ino, b.size))
		}
		if bad.err == nil {
			return bad
		}
		if best.err == nil || bad.level > best.level || bad.level == best.level && bad.off > best.off {
			best = bad
		}
	}
	return best
}

// fit compares content with the cells of b, and with base between them.
func (b *box) fit(path string, content, base []byte) misfit {
	at := int64(0)
	for _, c := range b.cells {
		end := c.off + int64(len(c.opts[0]))
		if i := mismatch(base[at:c.off], content[at:c.off]); i >= 0 {
			return b.bad(path, content, at+int64(i))
		}
		if c.index(content[c.off:end]) < 0 {
			return b.bad(path, content, c.off+int64(c.nearest(content[c.off:end])))
		}
		at = end
	}
	if i := mismatch(base[at:], content[at:]); i >= 0 {
		return b.bad(path, content, at+int64(i))
	}
	return misfit{}
}

func (b *box) bad(path string, content []byte, off int64) misfit {
	return misfit{levelByte, off, fmt.Errorf("%s: byte 0x%02x at %d of %d is not allowed (first of its range that no version has)",
		path, content[off], off, len(content))}
}

// nearest is how far the content that agrees with b longest does.
func (c *cell) nearest(b []byte) int {
	most := 0
	for _, opt := range c.opts {
		most = max(most, mismatch(opt, b))
	}
	return most
}

package image

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/unplug-go/unplug/faultfs/trace"
)

// FromDir reads a real folder into a new image: names, permission bits and bytes. Hard links
// become separate files. Symbolic links, devices and the like are errors: a journal's folder
// holds none.
func FromDir(dir string) (*Image, error) {
	m := New()
	inos := map[string]trace.Ino{".": trace.Root}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if name == "." {
			m.Chmod(trace.Root, info.Mode())
			return nil
		}
		if !info.IsDir() && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is neither a file nor a folder: copy the folder without it", name)
		}
		ino := m.Alloc(info.IsDir(), info.Mode())
		inos[name] = ino
		m.Bind(inos[filepath.ToSlash(filepath.Dir(name))], d.Name(), ino)
		if info.IsDir() {
			return nil
		}
		b, err := fs.ReadFile(root, name)
		m.WriteAt(ino, b, 0)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("image from %s: %w", dir, err)
	}
	return m, nil
}

// WriteDir writes the visible tree into a real folder, which is made if it is not there and
// must be empty. Holes are written as holes. Two names of one file become two files.
func (m *Image) WriteDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(list) > 0 {
		return fmt.Errorf("image to %s: it holds %d names, want an empty folder", dir, len(list))
	}
	type late struct {
		path string
		mode fs.FileMode
	}
	var folders []late // their modes come last: a folder may be read-only
	m.Walk(func(path string, info Info) bool {
		to := filepath.Join(dir, filepath.FromSlash(path))
		if info.Dir {
			folders = append(folders, late{to, info.Mode})
			if path != "/" {
				err = os.Mkdir(to, 0o700)
			}
			return err == nil
		}
		err = m.writeFile(to, info)
		return err == nil
	})
	for i := len(folders) - 1; i >= 0 && err == nil; i-- {
		err = os.Chmod(folders[i].path, folders[i].mode)
	}
	if err != nil {
		return fmt.Errorf("image to %s: %w", dir, err)
	}
	return nil
}

func (m *Image) writeFile(to string, info Info) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // a second close after the checked one
	n := m.inode(info.Ino)
	for at, c := range n.data.all() {
		off := int64(at) << chunkBits
		if _, err := f.WriteAt(c.data[:min(chunkSize, info.Size-off)], off); err != nil {
			return err
		}
	}
	if err := f.Truncate(info.Size); err != nil {
		return err
	}
	if err := f.Chmod(info.Mode); err != nil {
		return err
	}
	return f.Close()
}

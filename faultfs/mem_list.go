package faultfs

import (
	"io"
	"io/fs"
	"syscall"

	"github.com/unplug-go/unplug/faultfs/image"
)

// memList is where a listing of a folder stands. The names are those of its first call; one
// that is gone by the time its description is asked for is left out.
type memList struct {
	names []image.Entry
	read  bool
}

// next takes up to n names (all if n <= 0). io.EOF comes when n > 0 and none are left.
func (f *memFile) next(n int, take func(image.Entry) bool) error {
	if err := f.check("readdirent"); err != nil {
		return err
	}
	if !f.dir {
		return memError("readdirent", f.name, syscall.ENOTDIR)
	}
	if !f.list.read {
		f.list = memList{names: f.fs.img.Entries(f.ino), read: true}
	}
	got, left := 0, n
	for len(f.list.names) > 0 && (n <= 0 || left > 0) {
		if take(f.list.names[0]) {
			got++
		}
		f.list.names = f.list.names[1:]
		left--
	}
	switch {
	case n > 0 && left == 0: // names that are gone count too, as in package os
		return nil
	case f.fs.removed(f.ino): // the kernel is asked for more, and refuses
		return memError("readdirent", f.name, syscall.ENOENT)
	case n > 0 && got == 0:
		return io.EOF
	}
	return nil
}

// Readdir describes what the folder holds, sorted by name, as [os.File.Readdir] counts.
func (f *memFile) Readdir(n int) ([]fs.FileInfo, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	infos := []fs.FileInfo{}
	err := f.next(n, func(e image.Entry) bool {
		ino, ok := f.fs.img.Child(f.ino, e.Name)
		if ok {
			i := &memInfo{name: e.Name}
			i.info, _ = f.fs.img.Stat(ino)
			infos = append(infos, i)
		}
		return ok
	})
	return infos, err
}

// Readdirnames lists the folder, sorted, as [os.File.Readdirnames] counts.
func (f *memFile) Readdirnames(n int) ([]string, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	names := []string{}
	err := f.next(n, func(e image.Entry) bool {
		names = append(names, e.Name)
		return true
	})
	return names, err
}

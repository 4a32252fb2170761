//go:build linux

package faultfs_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/faultfs/image"
)

// posixOp is one call, as a value. Paths have no leading slash: each side puts its root in front.
type posixOp struct {
	Do          string
	Name, Name2 string
	Slot        int // a handle, counted from the first open that succeeded
	Flag        int
	Perm        fs.FileMode
	N           int
	Off         int64
	Data        string
}

func (o posixOp) String() string {
	s := o.Do
	if o.Name != "" {
		s += fmt.Sprintf(" %q", o.Name)
	}
	if o.Name2 != "" {
		s += fmt.Sprintf(" %q", o.Name2)
	}
	return fmt.Sprintf("%s slot=%d flag=%#x perm=%o n=%d off=%d data=%.20q(%d)", s, o.Slot, o.Flag, o.Perm, o.N, o.Off, o.Data, len(o.Data))
}

// posixSide is one of the file systems that are held against each other.
type posixSide struct {
	fs    afero.Fs
	root  string
	files []afero.File
	kept  fs.FileInfo
}

func (s *posixSide) path(name string) string {
	if name == "" && s.root != "" {
		return s.root
	}
	return s.root + "/" + name
}

// short is path without the side's root.
func (s *posixSide) short(path string) string {
	if path == s.root {
		return "/"
	}
	return strings.TrimPrefix(path, s.root)
}

// run performs o and says what the caller sees, in words that are the same on every side.
func (s *posixSide) run(o posixOp) string {
	switch o.Do {
	case "open":
		f, err := s.fs.OpenFile(s.path(o.Name), o.Flag, o.Perm)
		if err != nil {
			return s.err(err)
		}
		s.files = append(s.files, f)
		return s.ok("name %s", s.short(f.Name()))
	case "create":
		f, err := s.fs.Create(s.path(o.Name))
		if err == nil {
			s.files = append(s.files, f)
		}
		return s.err(err)
	case "mkdir":
		return s.err(s.fs.Mkdir(s.path(o.Name), o.Perm))
	case "mkdirall":
		return s.err(s.fs.MkdirAll(s.path(o.Name), o.Perm))
	case "remove":
		return s.err(s.fs.Remove(s.path(o.Name)))
	case "removeall": // the op and path of its errors name steps inside of it: only the cause is compared
		return s.cause(s.fs.RemoveAll(s.path(o.Name)))
	case "rename":
		return s.err(s.fs.Rename(s.path(o.Name), s.path(o.Name2)))
	case "link":
		return s.err(s.link(s.path(o.Name), s.path(o.Name2)))
	case "chmod":
		return s.err(s.fs.Chmod(s.path(o.Name), o.Perm))
	case "chown":
		return s.err(s.fs.Chown(s.path(o.Name), os.Getuid(), os.Getgid()))
	case "chtimes":
		at := time.Unix(o.Off, 0)
		return s.err(s.fs.Chtimes(s.path(o.Name), at, at))
	case "stat":
		return s.info(s.fs.Stat(s.path(o.Name)))
	case "lstat":
		info, _, err := s.fs.(afero.Lstater).LstatIfPossible(s.path(o.Name))
		return s.info(info, err)
	case "time":
		info, err := s.fs.Stat(s.path(o.Name))
		if err != nil {
			return s.err(err)
		}
		return s.ok("%d", info.ModTime().UnixNano())
	case "keep":
		info, err := s.fs.Stat(s.path(o.Name))
		s.kept = info
		return s.info(info, err)
	case "kept":
		return s.info(s.kept, nil)
	default:
		if len(s.files) == 0 {
			return "no handle"
		}
		return s.handle(s.files[o.Slot%len(s.files)], o)
	}
}

func (s *posixSide) link(oldname, newname string) error {
	if l, ok := s.fs.(interface{ Link(o, n string) error }); ok {
		return l.Link(oldname, newname)
	}
	return os.Link(oldname, newname)
}

func (s *posixSide) handle(f afero.File, o posixOp) string {
	switch o.Do {
	case "read":
		p := make([]byte, o.N)
		n, err := f.Read(p)
		return s.bytes(p, n, err)
	case "readat":
		p := make([]byte, o.N)
		n, err := f.ReadAt(p, o.Off)
		return s.bytes(p, n, err)
	case "write":
		n, err := f.Write([]byte(o.Data))
		return s.count(int64(n), err)
	case "writestring":
		n, err := f.WriteString(o.Data)
		return s.count(int64(n), err)
	case "writeat":
		n, err := f.WriteAt([]byte(o.Data), o.Off)
		return s.count(int64(n), err)
	case "seek":
		if info, err := f.Stat(); err == nil && info.IsDir() {
			o.Off, o.N = 0, 0 // every file system has positions of its own in a folder, but for its start
		}
		n, err := f.Seek(o.Off, o.N)
		return s.count(n, err)
	case "truncate":
		return s.err(f.Truncate(o.Off))
	case "sync":
		return s.err(f.Sync())
	case "close":
		return s.err(f.Close())
	case "fstat":
		return s.info(f.Stat())
	case "readdir":
		infos, err := f.Readdir(o.N)
		var lines []string
		for _, i := range infos {
			lines = append(lines, s.info(i, nil))
		}
		slices.Sort(lines) // each file system has an order of its own
		return s.err(err) + " " + strings.Join(lines, "; ")
	case "readdirn": // a part of a listing: which names come first is free, how many is not
		names, err := f.Readdirnames(o.N)
		return s.count(int64(len(names)), err)
	case "same":
		own, err := f.Stat()
		other, err2 := s.fs.Stat(s.path(o.Name))
		if err != nil || err2 != nil {
			return s.err(err) + ", " + s.err(err2)
		}
		return s.ok("same %v", posixSame(own, other))
	default:
		panic("unknown op " + o.Do)
	}
}

// posixSame is os.SameFile for both kinds of description.
func posixSame(a, b fs.FileInfo) bool {
	x, ok := a.Sys().(*image.Info)
	y, ok2 := b.Sys().(*image.Info)
	if ok && ok2 {
		return x.Ino == y.Ino
	}
	return os.SameFile(a, b)
}

func (s *posixSide) ok(format string, args ...any) string { return fmt.Sprintf(format, args...) }

func (s *posixSide) bytes(p []byte, n int, err error) string {
	return fmt.Sprintf("%d %q %s", n, p[:n], s.err(err))
}

func (s *posixSide) count(n int64, err error) string { return fmt.Sprintf("%d %s", n, s.err(err)) }

func (s *posixSide) info(i fs.FileInfo, err error) string {
	if err != nil {
		return s.err(err)
	}
	name, size := i.Name(), i.Size()
	if i.IsDir() {
		size = 0
	}
	if s.root != "" && name == filepath.Base(s.root) || name == "/" {
		name = "root"
	}
	return fmt.Sprintf("%s %v %d", name, i.Mode(), size)
}

// err tells all that a program can learn from an error: its type, op, paths, cause and classes.
func (s *posixSide) err(err error) string {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p) && p.Op == "readdirent" && (errors.Is(err, fs.ErrClosed) || strings.HasSuffix(err.Error(), "use of closed file")):
		return "listing a closed handle" // package os lets an error of its inside out here; Mem says fs.ErrClosed
	case errors.As(err, &p):
		return fmt.Sprintf("PathError %s %s %s", p.Op, s.short(p.Path), s.cause(err))
	case errors.As(err, &l):
		return fmt.Sprintf("LinkError %s %s %s %s", l.Op, s.short(l.Old), s.short(l.New), s.cause(err))
	}
	return s.cause(err)
}

func (s *posixSide) cause(err error) string {
	if err == nil {
		return "ok"
	}
	text := err
	for u := errors.Unwrap(text); u != nil; u = errors.Unwrap(text) {
		text = u
	}
	words := text.Error()
	for _, class := range []error{fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrClosed, fs.ErrInvalid, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, class) {
			words += " [" + class.Error() + "]"
		}
	}
	return words
}

func (s *posixSide) close() {
	for _, f := range s.files {
		f.Close() //nolint:errcheck // a second close of some is an error
	}
}

// tree is everything below the root, read through the side's own calls, one line a path.
func (s *posixSide) tree() []string {
	var lines []string
	var first []fs.FileInfo
	err := afero.Walk(s.fs, s.root+"/", func(path string, info fs.FileInfo, err error) error {
		if err != nil {
			lines = append(lines, path+": "+s.err(err))
			return nil
		}
		line := fmt.Sprintf("%s %v", s.short(path), info.Mode())
		if !info.IsDir() {
			b, err := afero.ReadFile(s.fs, path)
			line += fmt.Sprintf(" %d %q %s", info.Size(), b, s.err(err))
			at := slices.IndexFunc(first, func(o fs.FileInfo) bool { return posixSame(o, info) })
			if at < 0 {
				at = len(first)
				first = append(first, info)
			}
			line += fmt.Sprintf(" is file %d", at)
		}
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		lines = append(lines, err.Error())
	}
	return lines
}

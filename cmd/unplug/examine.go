package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/image"
	"github.com/unplug-go/unplug/journal"
)

// openLog finds a log by name; "-" is stdin, held in memory. Nothing can be written through
// what it gives.
func (a *app) openLog(name string) (fsys afero.Fs, path string, err error) {
	if name == "-" {
		data, err := io.ReadAll(a.stdin)
		if err != nil {
			return nil, "", fmt.Errorf("stdin: %w", err)
		}
		mem := faultfs.NewMem(image.New())
		if err := afero.WriteFile(mem, "/stdin.jsonl", data, 0o600); err != nil {
			return nil, "", internal(err)
		}
		return afero.NewReadOnlyFs(mem), "/stdin.jsonl", nil
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("%s: %w", name, plain(err))
	case info.IsDir():
		return nil, "", fmt.Errorf("%s: %w", name, errFolder)
	case !info.Mode().IsRegular():
		return nil, "", fmt.Errorf("%s: is no regular file (pass it on stdin, with -)", name)
	}
	return afero.NewReadOnlyFs(afero.NewOsFs()), name, nil
}

// examine reads a journal without writing anything. An error is about the file as such
// (missing, a folder, unreadable); what is wrong inside it are findings.
func (a *app) examine(name string, f *examineFlags) (*examined, error) {
	fsys, path, err := a.openLog(name)
	if err != nil {
		return nil, err
	}
	x := &examined{
		File: name, Contract: f.contract, Verdict: "clean",
		Types: map[string]int{}, Findings: []byteFinding{}, fsys: fsys, content: f.showContent,
	}
	if x.Files, err = segments(fsys, path); err != nil {
		return nil, fmt.Errorf("%s: %w", name, plain(err))
	}
	opt := journal.Options{Keep: journal.KeepNone, MaxLine: f.maxLine, MaxVersion: journal.SchemaVersion}
	if f.contract == "watermark" {
		opt.Contract = journal.Watermark
	}
	r, err := journal.Scan(fsys, path, opt, func(e journal.Event) error {
		x.take(&e, f.lines)
		return nil
	})
	switch {
	case err == nil:
		x.opened(r)
	case !x.failed(err):
		return nil, fmt.Errorf("%s: %w", name, plain(err))
	}
	if x.code == exitTail && f.allowTail {
		x.code = exitClean
	}
	if name == "-" {
		x.rename("-")
	}
	return x, nil
}

// segments sizes up the files of a log: s.jsonl, s_2.jsonl and so on.
func segments(fsys afero.Fs, path string) ([]segment, error) {
	var out []segment
	ext := filepath.Ext(path)
	for name := path; ; {
		lines, size, err := countLines(fsys, name, math.MaxInt64)
		if len(out) > 0 && errors.Is(err, fs.ErrNotExist) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, segment{name, size, lines})
		name = fmt.Sprintf("%s_%d%s", strings.TrimSuffix(path, ext), len(out)+1, ext)
	}
}

// countLines counts the newlines and bytes of a file up to a limit.
func countLines(fsys afero.Fs, name string, limit int64) (lines int, size int64, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = f.Close() }() // it was only read
	in, buf := io.LimitReader(f, limit), make([]byte, 64<<10)
	for {
		n, err := in.Read(buf)
		lines += bytes.Count(buf[:n], []byte{'\n'})
		size += int64(n)
		if errors.Is(err, io.EOF) {
			return lines, size, nil
		}
		if err != nil {
			return lines, size, err
		}
	}
}

// lineMax is how much of one line is looked at to say what is wrong with it.
const lineMax = 1 << 20

// lineAt is the line that begins at off, without its newline, or the first lineMax bytes of it.
func lineAt(fsys afero.Fs, path string, off int64) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.NewSectionReader(f, off, lineMax))
	if err != nil {
		return nil, err
	}
	line, _, _ := bytes.Cut(data, []byte{'\n'})
	return line, nil
}

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"unicode/utf8"
)

// textMax is the size in bytes above which a file is no plan and no repro.
const textMax = 16 << 20

// readText reads a text file that configures a run. what is how errors call it. "-" is stdin.
func (a *app) readText(what, name string) (string, error) {
	data, err := a.readAll(name)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s %s: %w", what, name, err)
	case len(data) > textMax:
		return "", fmt.Errorf("%s %s: more than 16 MiB, so it is no %s", what, name, what)
	case len(bytes.TrimSpace(data)) == 0:
		return "", fmt.Errorf("%s %s: is empty", what, name)
	case bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data):
		return "", fmt.Errorf("%s %s: is binary, want a text file", what, name)
	}
	return string(data), nil
}

// readAll reads at most one byte more than textMax.
func (a *app) readAll(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(a.stdin, textMax+1))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, plain(err)
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errFolder
	}
	data, err := io.ReadAll(io.LimitReader(f, textMax+1))
	return data, plain(err)
}

var (
	errFolder  = errors.New("is a folder, want a file")
	errMissing = errors.New("no such file")
	errDenied  = errors.New("may not be read (permission denied)")
)

// plain is an error of package os without the path, which the message names already.
func plain(err error) error {
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errMissing
	case errors.Is(err, fs.ErrPermission):
		return errDenied
	case errors.As(err, &p):
		return p.Err
	default:
		return err
	}
}

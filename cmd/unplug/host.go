package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"
)

// host is the world around the program, as far as it looks at it; tests give another.
type host struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	now            func() time.Time
	self           string           // how a person calls this program
	demand         <-chan os.Signal // a line of progress is wanted now; nil where that is not offered
}

// system is the real world.
func system() *host {
	return &host{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		getenv: os.Getenv, now: time.Now, self: self(), demand: onDemand(),
	}
}

// self is how to call this program again: as it was called, or by go run if that built it.
func self() string {
	if exe, err := os.Executable(); err == nil {
		dir := filepath.ToSlash(filepath.Dir(exe))
		if strings.Contains(dir, "/go-build") && strings.HasSuffix(dir, "/exe") {
			return "go run ./cmd/unplug"
		}
	}
	if name := os.Args[0]; strings.ContainsAny(name, `/\`) {
		return quoteArg(name)
	}
	return "unplug"
}

// terminal is the width of a writer that is a terminal, and whether it is one.
func terminal(w io.Writer) (width int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	return width, err == nil
}

// quoteArg makes a word safe to paste into a POSIX shell.
func quoteArg(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@+"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

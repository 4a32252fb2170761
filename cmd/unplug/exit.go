package main

import (
	"errors"
	"fmt"
)

// The exit codes.
const (
	exitClean        = 0
	exitBroken       = 1
	exitUsage        = 2
	exitTail         = 3
	exitInconclusive = 4
	exitInternal     = 70
	exitInterrupted  = 130
)

// exitError ends the program with a code. With no cause, everything was said already.
type exitError struct {
	code  int
	cause error
}

// Error is the cause, or the bare code.
func (e *exitError) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.cause.Error()
}

// Unwrap gives the cause.
func (e *exitError) Unwrap() error { return e.cause }

// done ends the program with a code and nothing more to say.
func done(code int) error {
	if code == exitClean {
		return nil
	}
	return &exitError{code: code}
}

// internal is a failure of unplug itself or of what it prints to.
func internal(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitInternal, err}
}

// codeOf is the exit code of an error; those of no other kind are about usage.
func codeOf(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &e):
		return e.code
	default:
		return exitUsage
	}
}

// worse is the more severe of two codes, for several files.
func worse(a, b int) int {
	for _, c := range []int{exitInterrupted, exitInternal, exitBroken, exitUsage, exitInconclusive, exitTail} {
		if a == c || b == c {
			return c
		}
	}
	return exitClean
}

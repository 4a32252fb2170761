package faultfs

import (
	"errors"
	"io/fs"
	"os"
)

// ErrKilled is the cause of every error after a kill: the process is thought dead, and what
// it would have done next did not happen.
var ErrKilled = errors.New("killed by the fault layer: nothing after the kill takes effect")

// ErrOpLimit is the cause when a run made more calls than [WithOpLimit] allows: it hangs in a
// loop, or the limit is too small for the work.
var ErrOpLimit = errors.New("more calls than the limit allows: the program loops, or the limit is too small")

// FaultError is the error of a call that the layer made fail. Unwrap gives the cause that the
// kernel would have given (a syscall.Errno, io.ErrShortWrite) or [ErrKilled], [ErrOpLimit].
// errors.As also finds an [*fs.PathError] in it, as in an error of package os; the old
// os.IsPermission and its like do not look that deep.
type FaultError struct {
	Op   string // the call, as plans spell it: "write", "sync"
	Path string // the name that the caller used
	Rule string // the plan rule, or the option, that made the call fail
	Err  error
}

// Error gives call, path, cause and rule.
func (e *FaultError) Error() string {
	s := e.Op + " " + e.Path + ": " + e.Err.Error()
	if e.Rule == "" {
		return s
	}
	return s + " (injected by: " + e.Rule + ")"
}

// Unwrap gives the cause.
func (e *FaultError) Unwrap() error { return e.Err }

// As lets errors.As find the [*fs.PathError] that the kernel's own failure would have been.
func (e *FaultError) As(target any) bool {
	p, ok := target.(**fs.PathError)
	if ok {
		*p = &fs.PathError{Op: e.Op, Path: e.Path, Err: e.Err}
	}
	return ok
}

// cause is what an op's record says of an error: the kernel's word, without the path.
func cause(err error) string {
	if e, ok := errors.AsType[*FaultError](err); ok {
		return e.Err.Error()
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

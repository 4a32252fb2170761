package faultfs

// Locker is what a file offers when it can hold a writer's lock. The lock belongs to the file,
// not to its name: it goes with a rename, and a handle of a replaced file locks nothing that a
// new open sees. It is advisory: reads and writes do not ask for it.
type Locker interface {
	// TryLock takes the lock for this handle, or fails at once with an error that
	// errors.Is(err, syscall.EWOULDBLOCK) knows when another handle has it. Taking it twice is
	// taking it once.
	TryLock() error
	// Unlock gives the lock back; closing the handle, or the death of the process, does too.
	// Without the lock it does nothing.
	Unlock() error
}

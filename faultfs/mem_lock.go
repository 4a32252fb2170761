package faultfs

import "syscall"

var _ Locker = (*memFile)(nil)

// TryLock takes the file's lock for this handle; see [Locker].
func (f *memFile) TryLock() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check("lock"); err != nil {
		return err
	}
	o := f.fs.open[f.ino]
	if o.holder != nil && o.holder != f {
		return memError("lock", f.name, syscall.EWOULDBLOCK)
	}
	o.holder = f
	f.fs.open[f.ino] = o
	return nil
}

// Unlock gives the lock back; see [Locker].
func (f *memFile) Unlock() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check("unlock"); err != nil {
		return err
	}
	if o := f.fs.open[f.ino]; o.holder == f {
		o.holder = nil
		f.fs.open[f.ino] = o
	}
	return nil
}

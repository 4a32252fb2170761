package workload

import (
	"errors"
	"sync"
)

// together appends records at the same time, each from a goroutine of its own, and notes for
// each when it was called, returned and was acknowledged. It comes back when all have
// returned. A panic of the subject is passed on to the caller.
func (d *Driver) together(records [][]byte) error {
	if !d.Subject.Concurrent {
		return d.append(records)
	}
	first := d.next
	d.next += len(records)
	errs, panics := make([]error, len(records)), make([]any, len(records))
	var all sync.WaitGroup
	for i, r := range records {
		record := d.Encoded(r)
		all.Go(func() {
			defer func() { panics[i] = recover() }()
			errs[i] = d.one(first+i, record)
		})
	}
	all.Wait()
	for i := range records {
		if panics[i] != nil {
			panic(panics[i])
		}
		if errs[i] == nil && !d.AckOnAppend {
			d.waiting = append(d.waiting, first+i)
		}
	}
	return errors.Join(errs...)
}

// one appends one record of several that are appended at the same time.
func (d *Driver) one(n int, record []byte) error {
	d.noteAppend(n, Called)
	err := d.journal.Append(record)
	d.noteAppend(n, outcome(err))
	if err == nil && d.AckOnAppend {
		d.noteAppend(n, Acked)
	}
	return err
}

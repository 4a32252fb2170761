package catalog

import (
	"fmt"
	"math"

	"github.com/spf13/afero"

	"github.com/unplug-go/unplug/journal"
	"github.com/unplug-go/unplug/scenarios/target"
)

// referenceReaders are the ways in which package journal reads a log beside Recover.
func referenceReaders(opt journal.Options) []target.Reader {
	return []target.Reader{
		lastReader(1, opt), lastReader(3, opt), lastReader(1000, opt),
		pagesReader(4, opt),
		keepReader(2, opt),
		{Name: "scan", Read: func(fsys afero.Fs, path string) (target.Reading, error) { return scanned(fsys, path, opt) }},
		{Name: "verify", Read: func(fsys afero.Fs, path string) (target.Reading, error) { return verified(fsys, path, opt) }},
	}
}

// lastReader takes the last n events from the end backwards.
func lastReader(n int, opt journal.Options) target.Reader {
	return target.Reader{Name: fmt.Sprintf("last %d", n), Read: func(fsys afero.Fs, path string) (target.Reading, error) {
		w, err := journal.Last(fsys, path, n, opt)
		if err != nil {
			return target.Reading{}, err
		}
		return target.Reading{Count: -1, Last: records(w.Events), Limit: n, Tail: tailOf(w.Tail)}, nil
	}}
}

// pagesReader turns page after page towards the start, n events a page.
func pagesReader(n int, opt journal.Options) target.Reader {
	return target.Reader{Name: fmt.Sprintf("pages of %d", n), Read: func(fsys afero.Fs, path string) (target.Reading, error) {
		var all []journal.Event
		var tail *journal.Tail
		for before := int64(math.MaxInt64); ; {
			w, err := journal.Before(fsys, path, before, n, opt)
			if err != nil {
				return target.Reading{}, err
			}
			if before == math.MaxInt64 {
				tail = w.Tail
			}
			all = append(w.Events, all...)
			if w.Start || len(w.Events) == 0 {
				return target.Reading{Count: len(all), Last: records(all), Tail: tailOf(tail)}, nil
			}
			before = w.Events[0].Sequence
		}
	}}
}

// keepReader reads the whole log and keeps the last n events.
func keepReader(n int, opt journal.Options) target.Reader {
	opt.Keep = n
	return target.Reader{Name: fmt.Sprintf("recover, keep %d", n), Read: func(fsys afero.Fs, path string) (target.Reading, error) {
		r, err := journal.Recover(fsys, path, opt)
		if err != nil {
			return target.Reading{}, err
		}
		return target.Reading{Count: r.Total, Last: records(r.Events), Limit: n, Tail: tailOf(r.Tail)}, nil
	}}
}

// scanned takes event after event.
func scanned(fsys afero.Fs, path string, opt journal.Options) (target.Reading, error) {
	opt.Keep = journal.KeepNone
	var all []journal.Event
	r, err := journal.Scan(fsys, path, opt, func(e journal.Event) error {
		all = append(all, e)
		return nil
	})
	if err != nil {
		return target.Reading{}, err
	}
	return target.Reading{Count: r.Total, Last: records(all), Tail: tailOf(r.Tail)}, nil
}

// verified only counts, as a check of a file does.
func verified(fsys afero.Fs, path string, opt journal.Options) (target.Reading, error) {
	opt.Keep, opt.MaxVersion = journal.KeepNone, journal.SchemaVersion
	events := 0
	r, err := journal.Scan(fsys, path, opt, func(journal.Event) error {
		events++
		return nil
	})
	if err != nil {
		return target.Reading{}, err
	}
	return target.Reading{Count: events, Tail: tailOf(r.Tail)}, nil
}

// records are events as they were appended; never nil.
func records(events []journal.Event) [][]byte {
	out := make([][]byte, len(events))
	for i := range events {
		out[i] = appendRecord(nil, &events[i])
	}
	return out
}

// tailOf is a tail in the suite's words; none is a tail of length 0.
func tailOf(t *journal.Tail) *target.Tail {
	if t == nil || t.Kind == journal.TailComplete {
		return &target.Tail{}
	}
	return &target.Tail{Path: t.Path, Offset: t.Offset, Length: t.Length, Kind: string(t.Kind)}
}

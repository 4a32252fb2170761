package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/report"
)

// at is progress half a minute into a run.
func at(duration time.Duration) (*progress, *bytes.Buffer) {
	h, _, stderr := fake()
	start := time.Unix(1000, 0)
	h.now = func() time.Time { return start.Add(30 * time.Second) }
	a := &app{host: h, progress: "auto"}
	p := a.newProgress("torture lines", start, duration)
	p.update(explore.Progress{Model: "ext4-ooo", States: 9120, Unique: 3580, Tails: 7301, Closed: 1742})
	return p, stderr
}

func TestProgressInALog(t *testing.T) {
	p, _ := at(0)
	assert.Equal(t, "unplug: elapsed: 30s, states: 9120 (304/sec), unique: 3580, tail: 7301, closed: 1742, bad: 0", p.line())
}

func TestProgressOnATerminal(t *testing.T) {
	p, _ := at(2 * time.Minute)
	assert.Equal(t, " 00:30/02:00 ██░░░░░░ 25%  9120 states 304/s  bad 0  ext4-ooo  unique 3580  tail 7301  closed 1742", p.bar())
	p.width = 40
	assert.Equal(t, 39, utf8.RuneCountInString(p.bar()), "it must not wrap, or it cannot be redrawn")
	p, _ = at(0)
	assert.True(t, strings.HasPrefix(p.bar(), " 00:30  9120 states"), "no bar without a known end")
}

// watched runs the watcher until it has taken what it is sent.
func watched(p *progress, send func(ticks chan<- time.Time, demand chan<- os.Signal)) {
	ticks, demand, stop, stopped := make(chan time.Time), make(chan os.Signal), make(chan struct{}), make(chan struct{})
	p.app.demand = demand
	go func() {
		defer close(stopped)
		p.watch(ticks, stop)
	}()
	send(ticks, demand)
	close(stop)
	<-stopped
}

func TestProgressAtEachTickAndOnDemand(t *testing.T) {
	p, stderr := at(0)
	watched(p, func(ticks chan<- time.Time, demand chan<- os.Signal) {
		ticks <- time.Time{}
		demand <- os.Interrupt
	})
	assert.Equal(t, p.line()+"\n"+p.line()+"\n", stderr.String())
	p, stderr = at(0)
	p.redraw = true
	watched(p, func(ticks chan<- time.Time, _ chan<- os.Signal) { ticks <- time.Time{} })
	assert.Equal(t, "\r"+p.bar()+"\x1b[K\r\x1b[K", stderr.String(), "the line is gone at the end")
}

func TestProgressKeepsQuiet(t *testing.T) {
	for _, a := range []*app{{quiet: true, progress: "auto"}, {progress: "none"}} {
		h, _, stderr := fake()
		a.host = h
		p := a.newProgress("", h.now(), 0)
		want := errors.New("what work returns")
		rep, err := p.during(func() (*report.Report, error) { return &report.Report{States: 7}, want })
		require.ErrorIs(t, err, want)
		assert.Equal(t, 7, rep.States)
		assert.Empty(t, stderr.String())
		assert.True(t, p.silent)
	}
}

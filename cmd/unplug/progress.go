package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/report"
)

// How often progress shows.
const (
	redrawEvery = 250 * time.Millisecond
	lineEvery   = 30 * time.Second
)

// barCells is how long the bar is.
const barCells = 8

// progress shows on stderr how far a run is.
type progress struct {
	app      *app
	w        io.Writer
	title    string
	start    time.Time
	duration time.Duration // 0: one round
	redraw   bool          // one line of a terminal, drawn again and again
	silent   bool
	width    int

	mu   sync.Mutex
	last explore.Progress
}

// newProgress decides how progress shows.
func (a *app) newProgress(title string, start time.Time, duration time.Duration) *progress {
	width, tty := terminal(a.stderr)
	return &progress{
		app: a, w: a.stderr, title: title, start: start, duration: duration,
		redraw: a.progress == "auto" && tty && a.getenv("TERM") != "dumb",
		silent: a.quiet || a.progress == "none",
		width:  width,
	}
}

// update keeps how far the run is.
func (p *progress) update(now explore.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = now
}

// during shows progress while work runs.
func (p *progress) during(work func() (*report.Report, error)) (*report.Report, error) {
	if p.silent {
		return work()
	}
	every := lineEvery
	if p.redraw {
		every = redrawEvery
		fmt.Fprintln(p.w, p.title)
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		p.watch(ticker.C, stop)
	}()
	defer func() {
		close(stop)
		<-stopped
	}()
	return work()
}

// watch shows progress at each tick and whenever somebody asks, until stop closes.
func (p *progress) watch(ticks <-chan time.Time, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			if p.redraw {
				fmt.Fprint(p.w, "\r\x1b[K")
			}
			return
		case <-ticks:
			if p.redraw {
				fmt.Fprintf(p.w, "\r%s\x1b[K", p.bar())
			} else {
				fmt.Fprintln(p.w, p.line())
			}
		case <-p.app.demand:
			if p.redraw {
				fmt.Fprint(p.w, "\r\x1b[K")
			}
			fmt.Fprintln(p.w, p.line())
		}
	}
}

func (p *progress) now() (now explore.Progress, elapsed time.Duration, rate int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	elapsed = p.app.now().Sub(p.start)
	if s := elapsed.Seconds(); s > 0 {
		rate = int(float64(p.last.States) / s)
	}
	return p.last, elapsed, rate
}

// line is progress for a log.
func (p *progress) line() string {
	now, elapsed, rate := p.now()
	if now.Shrinking != "" {
		return fmt.Sprintf("unplug: elapsed: %s, shrinking: %s, steps: %d, states: %d",
			elapsed.Truncate(time.Second), now.Shrinking, now.Steps, now.States)
	}
	return fmt.Sprintf("unplug: elapsed: %s, states: %d (%d/sec), unique: %d, tail: %d, closed: %d, bad: %d",
		elapsed.Truncate(time.Second), now.States, rate, now.Unique, now.Tails, now.Closed, now.Bad)
}

// bar is progress for a terminal, in at most its width.
func (p *progress) bar() string {
	now, elapsed, rate := p.now()
	head := " " + clock(elapsed)
	share := -1.0
	switch {
	case p.duration > 0:
		share = min(float64(elapsed)/float64(p.duration), 1)
		head += "/" + clock(p.duration)
	case now.Of > 0:
		share = float64(now.Done) / float64(now.Of)
	}
	if share >= 0 {
		full := int(share * barCells)
		head += fmt.Sprintf(" %s%s %d%%", strings.Repeat("█", full), strings.Repeat("░", barCells-full), int(share*100))
	}
	if now.Shrinking != "" {
		return p.clip(fmt.Sprintf(" %s  shrinking %s  %d steps  %d states", clock(elapsed), now.Shrinking, now.Steps, now.States))
	}
	s := fmt.Sprintf("%s  %d states %d/s  bad %d  %s  unique %d  tail %d  closed %d",
		head, now.States, rate, now.Bad, now.Model, now.Unique, now.Tails, now.Closed)
	return p.clip(s)
}

// clip cuts a line off at the terminal's width.
func (p *progress) clip(s string) string {
	if r := []rune(s); p.width > 0 && len(r) >= p.width {
		return string(r[:p.width-1])
	}
	return s
}

// clock is minutes and seconds.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	return fmt.Sprintf("%02d:%02d", s/60, s%60)
}

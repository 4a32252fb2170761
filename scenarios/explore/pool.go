package explore

import (
	"fmt"
	"sync/atomic"
	"time"
)

// watchdog is how many seconds one case may take before the harness says that the
// subject hangs. A subject that only does many file operations is stopped long before, by
// their number.
const watchdog = 30

// job is one case on its way through a worker.
type job struct {
	c    *caseOf
	res  *caseResult
	done atomic.Bool // set by whoever gives the result first: the worker or the watchdog
}

// beats is how many nested cases it has begun.
func (j *job) beats() int64 {
	if j == nil {
		return 0
	}
	return j.c.beat.Load()
}

// pool judges cases on several workers and gives the results in the order of the cases.
type pool struct {
	workers  int
	patience int // seconds
	work     func(*caseOf) *caseResult
}

// run judges a batch.
func (p *pool) run(cases []*caseOf) []*caseResult {
	jobs := make([]*job, len(cases))
	queue := make(chan *job, len(cases))
	for i, c := range cases {
		jobs[i] = &job{c: c}
		queue <- jobs[i]
	}
	close(queue)
	finished := make(chan struct{}, len(cases))
	running := make([]atomic.Pointer[job], p.workers)
	for w := range running {
		go p.worker(&running[w], queue, finished)
	}
	p.wait(running, queue, finished, len(cases))
	results := make([]*caseResult, len(jobs))
	for i, j := range jobs {
		results[i] = j.res
	}
	return results
}

func (p *pool) worker(current *atomic.Pointer[job], queue <-chan *job, finished chan<- struct{}) {
	for j := range queue {
		current.Store(j)
		res := p.safe(j.c)
		if !j.done.CompareAndSwap(false, true) {
			return // the watchdog gave this case up, and put another worker in this place
		}
		j.res = res
		finished <- struct{}{}
	}
}

// safe turns a panic of the harness itself into an error. (A panic of the subject is a
// finding, and does not come this far.)
func (p *pool) safe(c *caseOf) (res *caseResult) {
	defer func() {
		if v := recover(); v != nil {
			res = &caseResult{err: fmt.Errorf("the harness failed at %s, cut %d: %v", c.cut.Model, c.cut.At, v)}
		}
	}()
	return p.work(c)
}

// within runs f, and reports whether it came back within so many seconds. What an
// f that hangs does later is lost.
func within(patience int, f func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for range patience {
		select {
		case <-done:
			return true
		case <-ticker.C:
		}
	}
	return false
}

// wait counts finished cases, and every second looks for one that does not finish.
func (p *pool) wait(running []atomic.Pointer[job], queue <-chan *job, finished chan struct{}, n int) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	stuck, beats, ticks := make([]*job, len(running)), make([]int64, len(running)), make([]int, len(running))
	for n > 0 {
		select {
		case <-finished:
			n--
		case <-ticker.C:
			for w := range running {
				j := running[w].Load()
				if b := j.beats(); j != stuck[w] || b != beats[w] {
					stuck[w], beats[w], ticks[w] = j, b, 0
					continue
				}
				ticks[w]++
				if j == nil || ticks[w] < p.patience || !j.done.CompareAndSwap(false, true) {
					continue
				}
				j.res = hung(j.c)
				n--
				go p.worker(&running[w], queue, finished)
			}
		}
	}
}

// hung is the result of a case that did not come back.
func hung(*caseOf) *caseResult {
	res := &caseResult{}
	res.verdict.Add("UP205", "the subject did not return", []string{"it opens"}, []string{"no answer in 30 s, and no file operation"})
	return res
}

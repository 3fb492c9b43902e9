package kernel

import (
	"sync"
	"sync/atomic"
)

// Team is a number of goroutines that stay ready for work, so that a step
// made a thousand times a second starts none and allocates nothing. The zero
// value, and nil, do all work on the caller's goroutine.
//
// A Team is for one goroutine at a time. Close ends its goroutines.
type Team struct {
	threads int
	start   []chan struct{}
	done    sync.WaitGroup
	next    atomic.Int64
	tasks   int
	work    func(worker, task int)
}

// NewTeam returns a team of threads goroutines, the caller's among them (0: one a CPU).
func NewTeam(threads int) *Team {
	threads = Threads(threads)
	t := &Team{threads: threads}
	for w := 1; w < threads; w++ {
		start := make(chan struct{}, 1)
		t.start = append(t.start, start)
		go func() {
			for range start {
				t.share(w)
				t.done.Done()
			}
		}()
	}
	return t
}

// Threads returns the number of goroutines; workers are numbered below it.
func (t *Team) Threads() int {
	if t == nil {
		return 1
	}
	return max(1, t.threads)
}

// Run calls work(worker, task) once for each task of 0..tasks-1. No two calls
// at a time have the same worker. Who does a task is left to chance, so no
// result may depend on the worker.
func (t *Team) Run(tasks int, work func(worker, task int)) {
	helpers := min(t.Threads(), tasks) - 1
	if helpers <= 0 {
		for i := range tasks {
			work(0, i)
		}
		return
	}
	t.next.Store(0)
	t.tasks, t.work = tasks, work
	t.done.Add(helpers)
	for _, start := range t.start[:helpers] {
		start <- struct{}{}
	}
	t.share(0)
	t.done.Wait()
	t.work = nil
}

func (t *Team) share(worker int) {
	for i := int(t.next.Add(1)) - 1; i < t.tasks; i = int(t.next.Add(1)) - 1 {
		t.work(worker, i)
	}
}

// Close ends the goroutines; the team is then one of the caller's alone.
func (t *Team) Close() {
	if t == nil {
		return
	}
	for _, start := range t.start {
		close(start)
	}
	t.start, t.threads = nil, 1
}

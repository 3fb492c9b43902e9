package kernel

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Team is a number of goroutines that stay ready for work, so that a step
// made a thousand times a second starts none and allocates nothing. The zero
// value, and nil, do all work on the caller's goroutine.
//
// A Team is for one goroutine at a time. Close ends its goroutines.
type Team struct {
	start  []chan struct{} // of each goroutine but the caller's
	phases []Phase
	counts []phaseCount
	one    [1]Phase

	away   atomic.Int32 // goroutines that have not finished the run
	caller sleeper      // until they have
	back   func() bool  // tells that
}

// Phase is some tasks, none of which begins before those of the phase before are
// done.
type Phase struct {
	Tasks int
	Work  func(worker, task int)
}

// phaseCount is how far a phase is.
type phaseCount struct {
	begun, done atomic.Int32
}

// NewTeam returns a team of threads goroutines, the caller's among them (0: one a CPU).
func NewTeam(threads int) *Team {
	t := &Team{caller: newSleeper()}
	t.back = func() bool { return t.away.Load() == 0 }
	for w := 1; w < Threads(threads); w++ {
		start := make(chan struct{}, 1)
		t.start = append(t.start, start)
		go func() {
			for range start {
				t.join(w)
				if t.away.Add(-1) == 0 {
					t.caller.rouse()
				}
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
	return 1 + len(t.start)
}

// Run calls work(worker, task) once for each task of 0..tasks-1. No two calls
// at a time have the same worker. Who does a task is left to chance, so no
// result may depend on the worker.
func (t *Team) Run(tasks int, work func(worker, task int)) {
	if t.Threads() == 1 {
		for i := range tasks {
			work(0, i)
		}
		return
	}
	t.one[0] = Phase{tasks, work}
	t.RunPhases(t.one[:])
	t.one[0] = Phase{}
}

// RunPhases is Run for one phase after the other. It costs less than as many
// runs: to wake a goroutine takes some ten microseconds.
func (t *Team) RunPhases(phases []Phase) {
	tasks := 0
	for _, p := range phases {
		tasks = max(tasks, p.Tasks)
	}
	helpers := min(t.Threads(), tasks) - 1
	if helpers <= 0 {
		for _, p := range phases {
			for i := range p.Tasks {
				p.Work(0, i)
			}
		}
		return
	}
	if len(t.counts) < len(phases) {
		t.counts = make([]phaseCount, len(phases))
	}
	for i := range phases {
		t.counts[i].begun.Store(0)
		t.counts[i].done.Store(0)
	}
	t.phases = phases
	t.away.Store(int32(helpers))
	for _, start := range t.start[:helpers] {
		start <- struct{}{}
	}
	t.join(0)
	if look(&t.away, 0, 0); !t.back() {
		t.caller.sleep(t.back)
	}
	t.phases = nil
}

// join takes part in a run.
func (t *Team) join(worker int) {
	for n, p := range t.phases {
		c := &t.counts[n]
		for i := int(c.begun.Add(1)) - 1; i < p.Tasks; i = int(c.begun.Add(1)) - 1 {
			p.Work(worker, i)
			c.done.Add(1)
		}
		if n < len(t.phases)-1 {
			for round := 0; int(c.done.Load()) < p.Tasks; round++ {
				look(&c.done, int32(p.Tasks), round)
			}
		}
	}
}

// looks is how often a goroutine looks at a number before it gives way: some ten
// microseconds.
const looks = 10_000

// look waits a little for a number to become n. The other goroutine may be
// without a processor, so from the second round on it gives way: to goroutines
// first, then to other threads.
func look(number *atomic.Int32, n int32, round int) {
	switch {
	case round > 50:
		time.Sleep(50 * time.Microsecond)
	case round > 0:
		runtime.Gosched()
	}
	for range looks {
		if number.Load() == n {
			return
		}
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
	t.start = nil
}

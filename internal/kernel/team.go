package kernel

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Team is a number of goroutines that stay ready for work, so that a step
// made a thousand times a second starts none and allocates nothing. Each watches
// for work some 200 microseconds before it sleeps, because to wake it takes some
// ten. Nobody waits for one that is late, its core being busy with something else:
// the others do the work.
//
// The zero value, and nil, do all work on the caller's goroutine. A Team is for
// one goroutine at a time. Close ends its goroutines.
type Team struct {
	helpers []*helper
	caller  sleeper
	watch   int // how often a goroutine looks before it sleeps

	phases []Phase // of this run
	counts []phaseCount
	one    [1]Phase
	part   func(part int) // of this run, if it is one of parts
	taken  []atomic.Bool  // which of them have begun
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

// helper is one of the goroutines but the caller's, alone in two cache lines, which
// are fetched in pairs.
type helper struct {
	sleeper
	state atomic.Int32
	_     [104]byte
}

// States of a helper. The caller makes it called and, unless it has begun, idle
// again; the helper makes that working, and then idle.
const (
	idle int32 = iota
	called
	working
	over
)

// watches is how often a goroutine looks for work, with a pause of about 50 ns
// between.
const watches = 4000

// NewTeam returns a team of threads goroutines, the caller's among them (0: one a CPU).
func NewTeam(threads int) *Team {
	threads = Threads(threads)
	t := &Team{caller: newSleeper(), taken: make([]atomic.Bool, threads)}
	if threads <= runtime.GOMAXPROCS(0) { // else it would watch in the place of one that works
		t.watch = watches
	}
	for w := 1; w < threads; w++ {
		h := &helper{sleeper: newSleeper()}
		t.helpers = append(t.helpers, h)
		go t.help(h, w)
	}
	return t
}

// help is the life of a helper.
func (t *Team) help(h *helper, worker int) {
	for {
		h.await(t.watch, func() bool { return h.state.Load() != idle })
		if h.state.Load() == over {
			return
		}
		if h.state.CompareAndSwap(called, working) {
			t.join(worker)
			h.state.Store(idle)
			t.caller.rouse()
		}
	}
}

// Threads returns the number of goroutines; workers are numbered below it.
func (t *Team) Threads() int {
	if t == nil {
		return 1
	}
	return 1 + len(t.helpers)
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

// RunPhases is Run for one phase after the other. It costs less than as many runs.
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
	t.together(t.helpers[:helpers])
	t.phases = nil
}

// RunParts calls work once for each of as many parts as the team has goroutines,
// each on its own goroutine if that is not late, so that what a part works on stays
// in the caches of one core from run to run. No result may depend on who does it.
func (t *Team) RunParts(work func(part int)) {
	if t.Threads() == 1 {
		work(0)
		return
	}
	for i := range t.taken {
		t.taken[i].Store(false)
	}
	t.part = work
	t.together(t.helpers)
	t.part = nil
}

// together lets the caller and the helpers take part in a run, and returns when all
// is done and no helper is at work.
func (t *Team) together(helpers []*helper) {
	for _, h := range helpers {
		h.state.Store(called)
		h.rouse()
	}
	t.join(0)
	for _, h := range helpers {
		if !h.state.CompareAndSwap(called, idle) { // it has begun
			t.caller.await(t.watch, func() bool { return h.state.Load() == idle })
		}
	}
}

// join takes part in a run.
func (t *Team) join(worker int) {
	if t.part != nil {
		for n := range t.taken {
			if part := (worker + n) % len(t.taken); t.taken[part].CompareAndSwap(false, true) {
				t.part(part)
			}
		}
		return
	}
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
	for _, h := range t.helpers {
		h.state.Store(over)
		h.rouse()
	}
	t.helpers = nil
}

// sleeper is how a goroutine sleeps until something has come, which it has to see
// for itself, and how whoever brought that wakes it.
type sleeper struct {
	asleep atomic.Bool
	wake   chan struct{}
}

// newSleeper returns one that is awake. One token is enough for its channel: a rouse
// comes only after the mark that an await has set.
func newSleeper() sleeper { return sleeper{wake: make(chan struct{}, 1)} }

// await returns when come does, for which someone rouses the sleeper. It looks so
// many times before it sleeps.
func (s *sleeper) await(watch int, come func() bool) {
	for range watch {
		if come() {
			return
		}
		pause()
	}
	for !come() {
		s.asleep.Store(true)
		// What came before this line was brought by someone who saw no sleeper,
		// unless he has just taken the mark off and wakes one.
		if !come() || !s.asleep.CompareAndSwap(true, false) {
			<-s.wake
		}
	}
}

// rouse wakes the sleeper if there is one. It is called after what it waits for
// has come.
func (s *sleeper) rouse() {
	if s.asleep.CompareAndSwap(true, false) {
		s.wake <- struct{}{}
	}
}

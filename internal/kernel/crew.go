package kernel

import (
	"runtime"
	"sync/atomic"
)

// Crew is a number of goroutines that do the same parts of one work over and
// over, each its own, so that what a part works on stays in the caches of one
// core. It is for work that comes again within some 100 microseconds: a goroutine
// watches for it that long before it sleeps, because to wake it takes as long. The part
// of one that is late, its core being busy with something else, is done by another.
//
// nil does all work on the caller's goroutine. A Crew is for one goroutine at a
// time. Close ends its goroutines.
type Crew struct {
	work  func(part int)
	round atomic.Int64
	taken []atomic.Int64 // the last round in which each part was taken
	left  atomic.Int64   // parts of this round that are not done
	watch int            // how often a goroutine looks before it sleeps

	helpers []crewSleeper
	caller  crewSleeper
}

// crewSleeper is a sleeper alone in two cache lines, which are fetched in pairs.
type crewSleeper struct {
	sleeper
	_ [112]byte
}

// watches is how often a goroutine looks, with a pause of about 50 ns between.
const watches = 4000

// NewCrew returns a crew of parts goroutines, the caller's among them.
func NewCrew(parts int) *Crew {
	parts = max(1, parts)
	c := &Crew{taken: make([]atomic.Int64, parts), helpers: make([]crewSleeper, parts-1)}
	c.caller.sleeper = newSleeper()
	if parts <= runtime.GOMAXPROCS(0) { // else it would watch in the place of one that works
		c.watch = watches
	}
	for n := range c.helpers {
		c.helpers[n].sleeper = newSleeper()
		go c.help(n)
	}
	return c
}

// help is the life of a helper.
func (c *Crew) help(n int) {
	me, seen := &c.helpers[n].sleeper, int64(0)
	for {
		c.await(me, func() bool { return c.round.Load() != seen })
		if seen = c.round.Load(); seen < 0 {
			return
		}
		if c.share(n+1, seen) {
			c.caller.rouse()
		}
	}
}

// await returns when come does, for which someone wakes the sleeper.
func (c *Crew) await(me *sleeper, come func() bool) {
	for range c.watch {
		if come() {
			return
		}
		pause()
	}
	me.sleep(come)
}

// Parts returns the number of parts.
func (c *Crew) Parts() int {
	if c == nil {
		return 1
	}
	return len(c.taken)
}

// Run calls work once for each part and returns when all are done. No result may
// depend on which goroutine does a part. It must not be called after Close.
func (c *Crew) Run(work func(part int)) {
	if c.Parts() == 1 {
		work(0)
		return
	}
	c.work = work
	c.left.Store(int64(len(c.taken)))
	round := c.begin(c.round.Load() + 1) // from here on parts can be taken
	if !c.share(0, round) {
		c.await(&c.caller.sleeper, func() bool { return c.left.Load() == 0 })
	}
	c.work = nil
}

// begin announces a round.
func (c *Crew) begin(round int64) int64 {
	c.round.Store(round)
	for n := range c.helpers {
		c.helpers[n].rouse()
	}
	return round
}

// share does a part and then those that nobody has begun. It tells whether it
// finished the round.
func (c *Crew) share(first int, round int64) bool {
	for n := range c.taken {
		part := (first + n) % len(c.taken)
		// Whoever takes a part keeps its round from ending, and so work from changing.
		if !c.taken[part].CompareAndSwap(round-1, round) {
			continue
		}
		c.work(part)
		if c.left.Add(-1) == 0 {
			return true
		}
	}
	return false
}

// Close ends the goroutines.
func (c *Crew) Close() {
	if c != nil {
		c.begin(-1)
	}
}

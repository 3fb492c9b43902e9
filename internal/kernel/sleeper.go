package kernel

import "sync/atomic"

// sleeper is how a goroutine sleeps until something has come, which it has to see
// for itself, and how whoever brought that wakes it.
type sleeper struct {
	asleep atomic.Bool
	wake   chan struct{}
}

func newSleeper() sleeper { return sleeper{wake: make(chan struct{}, 1)} }

// sleep returns when come does.
func (s *sleeper) sleep(come func() bool) {
	s.asleep.Store(true)
	// What came before this line was brought by someone who saw no sleeper, unless
	// he has just taken the mark off and wakes one.
	if !come() || !s.asleep.CompareAndSwap(true, false) {
		<-s.wake
	}
}

// rouse wakes the sleeper if there is one. It is called after what it waits for
// has come.
func (s *sleeper) rouse() {
	if s.asleep.CompareAndSwap(true, false) {
		s.wake <- struct{}{}
	}
}

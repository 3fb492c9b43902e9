package main

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// onOneCore does work on the last core alone, as do the programs started
// meanwhile, so that both sides of a row meet the same neighbours.
func onOneCore(work func() error) error {
	var all, one unix.CPUSet
	if unix.SchedGetaffinity(0, &all) == nil {
		for cpu := range 64 * len(all) {
			if all.IsSet(cpu) {
				one.Zero()
				one.Set(cpu)
			}
		}
		moveThreads(&one)
		// Threads that began meanwhile come back too.
		defer moveThreads(&all)
	}
	return work()
}

// moveThreads lets all threads of this process run on some cores only. Linux sets this
// for each thread; new ones take it from the thread that starts them.
func moveThreads(to *unix.CPUSet) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range tasks {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.SchedSetaffinity(id, to) // a thread may have ended
		}
	}
}

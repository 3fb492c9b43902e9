package main

import "golang.org/x/sys/unix"

// onOneCore does work of the main thread, and of programs started there, on the
// last core alone, so that both sides of a row meet the same neighbours.
func onOneCore(work func() error) error {
	var all, one unix.CPUSet
	if unix.SchedGetaffinity(0, &all) == nil {
		for cpu := range 64 * len(all) {
			if all.IsSet(cpu) {
				one.Zero()
				one.Set(cpu)
			}
		}
		if unix.SchedSetaffinity(0, &one) == nil {
			defer func() { _ = unix.SchedSetaffinity(0, &all) }()
		}
	}
	return work()
}

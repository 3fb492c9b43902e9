//go:build unix

package covertree

import (
	"syscall"
	"time"
)

// cpuTime returns the time that this process has spent on all processors,
// which a busy machine does not stretch as it does the clock's time.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

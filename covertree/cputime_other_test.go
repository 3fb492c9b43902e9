//go:build !unix

package covertree

import "time"

var start = time.Now()

// cpuTime is the clock's time where there is no better.
func cpuTime() time.Duration { return time.Since(start) }

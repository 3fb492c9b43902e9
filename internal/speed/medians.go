package speed

import (
	"slices"
	"time"
)

// Clock returns the time from some start, such as the time of day or the CPU
// time of the process.
type Clock func() time.Duration

// Wall returns a Clock of the time of day.
func Wall() Clock {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}

// shortest is how long a call, or several in a row, is timed at least: a clock
// has its own cost.
const shortest = 200 * time.Microsecond

// Medians returns the median time of a call of each work, in seconds. The works
// take turns, so that whatever else the machine does hits all equally, until each
// was timed for the budget and at least three times. One call of each goes
// before and is not counted.
func Medians(clock Clock, budget time.Duration, works ...func()) []float64 {
	calls := make([]int, len(works))
	for i, work := range works {
		work()
		begin := clock()
		work()
		// A clock that stands still counts as a nanosecond.
		calls[i] = max(1, int(shortest/max(clock()-begin, 1)))
	}
	times := make([][]float64, len(works))
	for begin := clock(); clock()-begin < budget*time.Duration(len(works)) || len(times[0]) < 3; {
		for i, work := range works {
			start := clock()
			for range calls[i] {
				work()
			}
			times[i] = append(times[i], (clock()-start).Seconds()/float64(calls[i]))
		}
	}
	medians := make([]float64, len(works))
	for i := range times {
		medians[i] = Median(times[i])
	}
	return medians
}

// Median returns the median of x, the mean of the two in the middle if their
// number is even. It sorts x; an empty x gives 0.
func Median(x []float64) float64 {
	n := len(x)
	if n == 0 {
		return 0
	}
	slices.Sort(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}

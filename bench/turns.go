package main

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/internal/speed"
)

// side does the work of one side of a row and returns the seconds of a call. It takes as
// long as it needs: what other programs do in the meantime should hit both sides alike,
// so they take turns.
type side = func() (float64, error)

// turns lets the sides take turns and returns the median of each.
func (s *suite) turns(sides ...side) ([]float64, error) { return turns(s.rounds, sides...) }

// turns makes a number of rounds; see suite.turns. The first error ends it.
func turns(rounds int, sides ...side) ([]float64, error) {
	times := make([][]float64, rounds)
	for i := range times {
		var err error
		if times[i], err = takeTurns(sides); err != nil {
			return nil, err
		}
	}
	return medians(times), nil
}

// takeTurns is one round: the seconds of each side.
func takeTurns(sides []side) ([]float64, error) {
	times := make([]float64, len(sides))
	for i, side := range sides {
		var err error
		if times[i], err = side(); err != nil {
			return nil, err
		}
	}
	return times, nil
}

// medians returns that of each side over the rounds.
func medians(rounds [][]float64) []float64 {
	m := make([]float64, len(rounds[0]))
	for i := range m {
		var times []float64
		for _, r := range rounds {
			times = append(times, r[i])
		}
		m[i] = speed.Median(times)
	}
	return m
}

const (
	// shorter is how many times more and shorter the turns of quietTurns are: a
	// neighbour comes and goes within seconds.
	shorter = 4
	// quiet is the share of its best rate that a core must reach before and after
	// a round.
	quiet = 0.9
	// tries is how many times the wanted rounds are made at most.
	tries = 4
	// rest is how long a side with several threads waits for those of the side
	// before to fall asleep: OpenBLAS's look for work that long and keep a core busy.
	rest = 150 * time.Millisecond
)

// quietTurns is turns for sides that multiply. On a virtual machine a core does
// down to half as much while the host is busy with its other hyperthread and the
// shared cache, and ratios change with it. Of up to four times the rounds those
// count in which the core multiplied fastest, as a meter before and after each
// tells; the times of the sides have no say in it.
func (s *suite) quietTurns(threads int, sides ...side) ([]float64, *coreRate, error) {
	m := s.meters[threads]
	if m == nil {
		m = newMeter(threads)
		s.meters[threads] = m
	}
	// With one thread nobody looks for work after a side.
	if threads > 1 {
		for i, side := range sides {
			sides[i] = func() (float64, error) {
				time.Sleep(rest)
				return side()
			}
		}
	}
	return quietTurns(m, s.rounds*shorter, sides)
}

// quietTurns makes rounds until as many as are wanted had a core at 90 % of the best
// rate of m so far, and takes the fastest of them.
func quietTurns(m *meter, wanted int, sides []side) ([]float64, *coreRate, error) {
	type round struct {
		rate  float64 // of the core, the lower of before and after
		times []float64
	}
	var rounds []round
	for enough := 0; len(rounds) < tries*wanted && enough < wanted; {
		rate := m.rate()
		times, err := takeTurns(sides)
		if err != nil {
			return nil, nil, err
		}
		rounds = append(rounds, round{min(rate, m.rate()), times})
		enough = 0
		for _, r := range rounds {
			if r.rate >= quiet*m.best {
				enough++
			}
		}
	}
	// Where too few rounds were quiet those count that were quietest.
	slices.SortStableFunc(rounds, func(a, b round) int { return cmp.Compare(b.rate, a.rate) })
	rounds = rounds[:min(wanted, len(rounds))]
	var times [][]float64
	for _, r := range rounds {
		times = append(times, r.times)
	}
	return medians(times), &coreRate{rounds[len(rounds)-1].rate, m}, nil
}

// meter tells how fast the cores multiply now.
type meter struct {
	measure func() float64
	best    float64 // of all so far
}

// rate measures how many products a second there are now.
func (m *meter) rate() float64 {
	r := m.measure()
	m.best = max(m.best, r)
	return r
}

// newMeter measures threads at a time with products that stay in the first
// cache; the slowest counts.
func newMeter(threads int) *meter {
	const long = 3 * time.Millisecond
	clock, _ := clockOf(threads)
	works := make([]func(), threads)
	for t := range works {
		b, d, k := small.B, small.D, small.K
		g, w, x := speed.Random(1, b*k), speed.Random(2, k*d), make([]float32, b*d)
		p := kernel.NewProduct(nil)
		works[t] = func() { p.NN(speed.Rect(x, b, d), speed.Rect(g, b, k), speed.Rect(w, k, d)) }
	}
	return &meter{measure: func() float64 {
		rates := make([]float64, threads)
		var all sync.WaitGroup
		for t := range works {
			all.Go(func() { rates[t] = 1 / speed.Medians(clock, long, works[t])[0] })
		}
		all.Wait()
		return slices.Min(rates)
	}}
}

// coreRate is the slowest that the core multiplied in the rounds that count. A rate well
// below 100 % says that the host was busy all the time, and the row is to be read with
// care.
type coreRate struct {
	slowest float64
	of      *meter
}

// String is that rate in per cent of the best of the whole run.
func (c *coreRate) String() string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100*c.slowest/c.of.best)
}

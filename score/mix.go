package score

import (
	"fmt"
	"math"
)

// Mix is a truth that several classes share: Share[n] of it belongs to
// Class[n]. Shares are at least 0 and sum to 1.
type Mix struct {
	Class []int32
	Share []float32
}

// Truth returns the class with the largest share, the first of equals.
func (m Mix) Truth() int {
	best := 0
	for n, s := range m.Share {
		if s > m.Share[best] {
			best = n
		}
	}
	return int(m.Class[best])
}

// AddMix is Add for an example whose truth several classes share. The class
// with the largest share, the first of equals, is the true one in every rate
// and distance; the log loss is the cross entropy against the shares. With costs
// that are not nil it is AddCosts. Shares that are no distribution over the k
// classes are errors; the Counter is then unchanged.
func (c *Counter) AddMix(mix Mix, probabilities []float32, costs []float64) error {
	if len(mix.Class) == 0 || len(mix.Class) != len(mix.Share) {
		return fmt.Errorf("score: example %d: %d shares of %d classes, want one for each", c.examples, len(mix.Share), len(mix.Class))
	}
	var sum float64
	for n, class := range mix.Class {
		if class < 0 || int(class) >= c.k {
			return fmt.Errorf("score: example %d: a share of class %d, want 0 to %d", c.examples, class, c.k-1)
		}
		if s := float64(mix.Share[n]); !(s >= 0) {
			return fmt.Errorf("score: example %d: class %d has the share %v, want at least 0", c.examples, class, s)
		}
		sum += float64(mix.Share[n])
	}
	if math.Abs(sum-1) > 1e-3 {
		return fmt.Errorf("score: example %d: the shares sum to %v, want 1", c.examples, sum)
	}
	if costs != nil {
		if err := c.checkCosts(costs); err != nil {
			return err
		}
	}
	return add(c, mix.Truth(), mix, ranking[float32]{p: probabilities, cost: costs})
}

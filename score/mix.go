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

// check returns an error unless the shares are a distribution over k classes.
func (m Mix) check(k int) error {
	if len(m.Class) == 0 || len(m.Class) != len(m.Share) {
		return fmt.Errorf("%d shares of %d classes, want one for each", len(m.Share), len(m.Class))
	}
	var sum float64
	for n, class := range m.Class {
		if class < 0 || int(class) >= k {
			return fmt.Errorf("a share of class %d, want 0 to %d", class, k-1)
		}
		if s := float64(m.Share[n]); !(s >= 0) {
			return fmt.Errorf("class %d has the share %v, want at least 0", class, s)
		}
		sum += float64(m.Share[n])
	}
	if math.Abs(sum-1) > 1e-3 {
		return fmt.Errorf("the shares sum to %v, want 1", sum)
	}
	return nil
}

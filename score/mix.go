package score

import (
	"fmt"
	"math"

	"github.com/treeloss/treeloss/loss"
)

// Mix is a truth that several classes share.
type Mix = loss.Mix

// checkMix returns an error unless the shares are a distribution over k classes.
func checkMix(m Mix, k int) error {
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

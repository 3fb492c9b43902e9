package decide

import (
	"fmt"
	"math"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
)

// Softmax sets p to the probabilities at a temperature T,
//
//	p_c = exp(s_c / T) / Σ_c' exp(s_c' / T).
//
// The scores s are logits or log probabilities: both give the same, since they
// differ by a constant a row. So this also serves an output that is no flat
// softmax, such as a hierarchical one, by the log probabilities of its classes:
// p_c is then p_c(1)^(1/T), normalised over the classes, and T scales whole
// paths, not the choice at each node. At T = 1 it is kernel.Softmax to the bit.
//
// A temperature that is not finite and above 0, lengths that differ, no scores,
// a score that is NaN or +Inf, also once divided, and scores that are all -Inf
// are errors; p is then undefined. p may be scores. It takes O(k).
func Softmax[T matrix.Float](p, scores []T, temperature float64) error {
	if err := checkTemperature(temperature); err != nil {
		return err
	}
	if len(scores) == 0 || len(p) != len(scores) {
		return fmt.Errorf("decide: room for %d probabilities of %d scores, want as many and at least one", len(p), len(scores))
	}
	for c, s := range scores {
		p[c] = s
		if temperature != 1 {
			p[c] = T(float64(s) / temperature)
		}
	}
	if total := kernel.Softmax(p, p); math.IsNaN(total) || math.IsInf(total, 0) {
		return fmt.Errorf("decide: the scores of a row, divided by %v, have no softmax; want no NaN, no +Inf and one that is finite", temperature)
	}
	return nil
}

func checkTemperature(t float64) error {
	if !(t > 0) || math.IsInf(t, 1) {
		return fmt.Errorf("decide: temperature %v, want a finite number above 0", t)
	}
	return nil
}

package train

import (
	"cmp"
	"math"

	"github.com/treeloss/treeloss/internal/option"
)

// Schedule is a learning rate over the epochs: it grows evenly from Base/100 to
// Base over the warm-up (Goyal et al. 2017), and is multiplied by Factor at each milestone
// (He et al. 2016). It begins at Base/100 and not at 0, as a first step of 0 changes nothing.
type Schedule struct {
	Base       float64   // the rate, more than 0
	WarmUp     float64   // epochs of warm-up
	Milestones []float64 // epochs, ascending
	Factor     float64   // 0 means 0.1
}

// Rate returns the rate at an epoch: 2.5 is half way through the third.
func (s Schedule) Rate(epoch float64) float64 {
	if epoch < s.WarmUp {
		return s.Base * (0.01 + 0.99*epoch/s.WarmUp)
	}
	rate, factor := s.Base, cmp.Or(s.Factor, 0.1)
	for _, at := range s.Milestones {
		if epoch >= at {
			rate *= factor
		}
	}
	return rate
}

// Check returns an *option.Error if a number is none, or milestones do not ascend.
func (s Schedule) Check() error {
	last := 0.0
	for _, at := range s.Milestones {
		if !(at > last) || math.IsInf(at, 1) {
			return option.Check("Milestones", at, false, "epochs above 0 that ascend, such as 30,60")
		}
		last = at
	}
	return cmp.Or(
		option.Check("Rate", s.Base, s.Base > 0 && !math.IsInf(s.Base, 1), "a number above 0, such as 0.1"),
		option.Check("WarmUp", s.WarmUp, s.WarmUp >= 0 && !math.IsInf(s.WarmUp, 1), "a number of epochs, 0 or more"),
		option.Check("Factor", s.Factor, s.Factor >= 0 && !math.IsInf(s.Factor, 1), "a number of at least 0"))
}

package train

import (
	"fmt"
	"math"
)

// Schedule is a learning rate over the epochs: it grows evenly from Base/100 to
// Base over the warm-up, and is multiplied by Factor at each milestone.
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
	factor := s.Factor
	if factor == 0 {
		factor = 0.1
	}
	rate := s.Base
	for _, at := range s.Milestones {
		if epoch >= at {
			rate *= factor
		}
	}
	return rate
}

// Check returns an error if a number is none, or milestones do not ascend.
func (s Schedule) Check() error {
	if !(s.Base > 0) || math.IsInf(s.Base, 1) {
		return fmt.Errorf("train: learning rate %v, want a number above 0", s.Base)
	}
	if !(s.WarmUp >= 0) || !(s.Factor >= 0) || math.IsInf(s.Factor, 1) {
		return fmt.Errorf("train: warm-up of %v epochs and factor %v, want numbers of at least 0", s.WarmUp, s.Factor)
	}
	last := 0.0
	for _, at := range s.Milestones {
		if !(at > last) {
			return fmt.Errorf("train: milestone %v after %v, want epochs above 0 that ascend", at, last)
		}
		last = at
	}
	return nil
}

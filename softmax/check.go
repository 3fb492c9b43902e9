package softmax

import (
	"cmp"
	"math"

	"github.com/treeloss/treeloss/internal/option"
)

// Check returns an *option.Error for a number that is out of range.
func (s SGD) Check() error {
	err := cmp.Or(checkEpochs(s.Epochs, s.Batch, s.Patience, s.Rate, s.WeightDecay),
		option.Check("Momentum", s.Momentum, s.Momentum >= 0 && s.Momentum < 1, "a number from 0 to below 1, such as 0.9"))
	if err == nil && s.Nesterov && s.Momentum == 0 {
		return option.Refuse("%s does nothing without a momentum; give one, such as %s 0.9", "Nesterov", "Momentum")
	}
	return err
}

// Check returns an *option.Error for a number that is out of range.
func (a AdamW) Check() error {
	return cmp.Or(checkEpochs(a.Epochs, a.Batch, a.Patience, a.Rate, a.WeightDecay),
		option.Check("Beta1", a.Beta1, a.Beta1 >= 0 && a.Beta1 < 1, "a number between 0 and 1"),
		option.Check("Beta2", a.Beta2, a.Beta2 >= 0 && a.Beta2 < 1, "a number between 0 and 1"),
		option.Check("Epsilon", a.Epsilon, a.Epsilon >= 0, "a number above 0"))
}

// maxEpochs is more than anybody waits for.
const maxEpochs = 1e6

// checkEpochs checks what both trainers in epochs have; 0 stands for the default
// everywhere, so it is in range.
func checkEpochs(epochs, batch, patience int, rate, decay float64) error {
	return cmp.Or(
		option.Check("Epochs", epochs, epochs >= 0 && epochs <= maxEpochs, "at least 1 and at most a million"),
		option.Check("Batch", batch, batch >= 0, "at least 1"),
		option.Check("Patience", patience, patience >= 0, "at least 1, or 0 for never"),
		option.Check("Rate", rate, rate >= 0 && !math.IsInf(rate, 1), "a number above 0, such as 0.5, or 0 for the default"),
		option.Check("WeightDecay", decay, finite(decay), "a number, such as 1e-4"))
}

package softmax

import (
	"fmt"
	"math"

	"github.com/treeloss/treeloss/decide"
)

// ClassScores sets out (k) to what decide.Softmax makes the probabilities of one
// input from, at any temperature: logits, or with a Hierarchy the logarithms of
// the class probabilities, those that round to 0 at the smallest number above.
// scratch has room for 2*Outputs numbers. O(nonzeros x outputs), no allocation.
func (l *Layer) ClassScores(out, scratch []float32, index []int32, value []float32) {
	if l.Hierarchy == nil {
		l.Scores(out[:l.Classes], index, value)
		return
	}
	l.Probabilities(out, scratch, index, value)
	for c, p := range out[:l.Classes] {
		out[c] = float32(math.Log(max(float64(p), math.SmallestNonzeroFloat32)))
	}
}

// Temperature returns what the scores are divided by before they become
// probabilities: 1 unless the model was calibrated.
func (m *Model) Temperature() float64 {
	if c := m.Training.Calibration; c != nil {
		return c.Temperature
	}
	return 1
}

// checkTemperature refuses a calibration that no fit can have found.
func (m *Model) checkTemperature() error {
	if t := m.Temperature(); !(t >= decide.MinTemperature && t <= decide.MaxTemperature) {
		return fmt.Errorf("softmax: calibrated to a temperature of %v, want %v to %v", t, decide.MinTemperature, decide.MaxTemperature)
	}
	return nil
}

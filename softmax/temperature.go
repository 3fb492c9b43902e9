package softmax

import (
	"fmt"
	"math"
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
// probabilities: 1 unless the model was calibrated. The temperature of a row may
// depend on how sure it is (Predictor.Temperature).
func (m *Model) Temperature() float64 {
	if c := m.Training.Calibration; c != nil {
		return c.Temperature
	}
	return 1
}

// checkCalibration refuses a calibration that no fit can have found.
func (m *Model) checkCalibration() error {
	if c := m.Training.Calibration; c != nil {
		if err := c.Check(); err != nil {
			return fmt.Errorf("softmax: %w", err)
		}
		if c.Answers != nil && c.Answers.Tree && m.Tree == nil && m.Layer.Hierarchy == nil {
			return fmt.Errorf("softmax: answers to held-out examples by a tree, and there is none")
		}
	}
	return nil
}

package decide

import (
	"fmt"
	"math"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/score"
)

// One temperature serves the rows that are easy and those that are hard badly: on
// most data it leaves sure answers too sure and unsure ones too unsure, or the
// other way round. So the scores of a row are divided by a temperature of its own,
//
//	T(x) = T / (scale (-log(1 - p(x)))^power),
//
// where p(x) is the probability of its most probable class at T. Scale 1 and power 0
// are a plain temperature. The power is 0 or less: on the data that we have seen the
// sure answers need the higher temperature, and with few rows, most of them right, a
// power above 0 makes them certain. Every T(x) is above 0, so the order of the classes
// of a row never changes.

// leastDoubt bounds p(x) away from 0 and 1.
const leastDoubt = 1e-6

// confidencePenalty is the weight of the squares of log scale and power beside the
// loss summed over rows: that of a normal prior with a deviation of 0.13. With a few
// hundred rows, less would follow their chance.
const confidencePenalty = 60

// The range of what FitConfidence finds.
const (
	maxConfidenceScale = 20
	maxConfidencePower = 1
)

// Probabilities sets p to the probabilities of a row of scores, and returns the
// temperature of the row. p and scores must not overlap. Errors are those of
// Softmax. It takes O(k).
func Probabilities[T matrix.Float](c *Calibration, p, scores []T) (temperature float64, err error) {
	if c == nil {
		return 1, Softmax(p, scores, 1)
	}
	if err := Softmax(p, scores, c.Temperature); err != nil || c.ConfidenceScale == 0 {
		return c.Temperature, err
	}
	top := p[0]
	for _, v := range p {
		top = max(top, v)
	}
	t := c.Temperature / math.Exp(math.Log(c.ConfidenceScale)+c.ConfidencePower*confidence(float64(top)))
	return t, Softmax(p, scores, t)
}

// confidence is log(-log(1 - p)) of the probability of the most probable class.
func confidence(p float64) float64 {
	return math.Log(-math.Log1p(-min(max(p, leastDoubt), 1-leastDoubt)))
}

// Check refuses what no fit can have found.
func (c *Calibration) Check() error {
	if t := c.Temperature; !(t >= MinTemperature && t <= MaxTemperature) {
		return fmt.Errorf("calibrated to a temperature of %v, want %v to %v", t, MinTemperature, MaxTemperature)
	}
	if s := c.ConfidenceScale; s != 0 && !(s >= 1./maxConfidenceScale && s <= maxConfidenceScale) || !(c.ConfidencePower >= -maxConfidencePower && c.ConfidencePower <= 0) {
		return fmt.Errorf("calibrated with a confidence scale of %v and a power of %v, want a scale of %v to %v and a power from -%v to 0",
			s, c.ConfidencePower, 1./maxConfidenceScale, maxConfidenceScale, maxConfidencePower)
	}
	if c.Answers != nil {
		return c.Answers.Check()
	}
	return nil
}

// FitConfidence adds scale and power to a temperature that FitTemperature found on the
// same rows: those with the lowest log
// loss of the statement "the most probable class is right",
//
//   - r log c - (1 - r) log(1 - c),
//
// where c is its probability and r is 1 if it is right, with a mix the share of the
// class. Unlike the log loss over all classes this is about what a reader is told.
//
// With η = log c - log(1 - c) the slope in η is c - r and the expected curvature
// c (1 - c). Gauss-Newton steps in (log scale, power), halved until the loss falls,
// end after some ten passes over the rows. A quadratic penalty, small beside 1000 rows,
// keeps the parameters finite where all rows are right.
//
// optimism is how much of the accuracy on the rows is not to be expected of others, as a
// fraction: the best of many methods is so on the rows that chose it by chance, too. The
// scale is then lowered until the mean of c is lower by that. Of one class, or AtLimit, c
// is returned as it is. Errors are those of FitTemperature.
func FitConfidence(c Calibration, rows []float32, k int, classes []int, mixes []score.Mix, optimism float64, threads int) (Calibration, error) {
	h, err := newHeldOut(rows, k, classes, mixes, threads)
	if err != nil || k < 2 || c.AtLimit {
		return c, err
	}
	x := h.confidences(c.Temperature)
	at := h.fitConfidence(c.Temperature, x)
	if optimism > 0 {
		at = h.lower(c.Temperature, x, at, optimism)
	}
	c.ConfidenceScale, c.ConfidencePower, c.Optimism = math.Exp(at[0]), at[1], optimism
	c.LogLossAfter, c.CalibrationErrorAfter, err = h.measure(&c)
	return c, err
}

// confidences returns confidence of each row at a temperature.
func (h *heldOut) confidences(temperature float64) []float64 {
	x := make([]float64, len(h.classes))
	kernel.Parallel(h.threads, len(x), h.grain(), func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			top, total := h.top(i), 0.0
			for _, s := range h.row(i) {
				total += math.Exp((float64(s) - top) / temperature)
			}
			x[i] = confidence(1 / total)
		}
	})
	return x
}

// fitConfidence returns log scale and power.
func (h *heldOut) fitConfidence(temperature float64, x []float64) (at [2]float64) {
	loss, slope, curvature := h.confidenceLoss(temperature, x, at)
	for range 50 {
		step := solve2(curvature, slope)
		if at[1] == 0 && step[1] < 0 {
			step = [2]float64{slope[0] / curvature[0], 0} // along the bound of the power
		}
		if math.Abs(step[0])+math.Abs(step[1]) < 1e-6 {
			break
		}
		fell := false
		for range 20 {
			next := [2]float64{
				clip(at[0]-step[0], math.Log(maxConfidenceScale)),
				min(max(at[1]-step[1], -maxConfidencePower), 0)}
			if l, s, k := h.confidenceLoss(temperature, x, next); l < loss {
				at, loss, slope, curvature, fell = next, l, s, k, true
				break
			}
			step[0], step[1] = step[0]/2, step[1]/2
		}
		if !fell {
			break
		}
	}
	return at
}

// lower returns at with a log scale at which the mean confidence is lower by a share,
// found by Newton's method to a thousandth of a point, at most log 4 below.
func (h *heldOut) lower(temperature float64, x []float64, at [2]float64, by float64) [2]float64 {
	mean, slope := h.meanConfidence(temperature, x, at)
	aim, least := mean-by, max(at[0]-math.Log(4), -math.Log(maxConfidenceScale))
	for range 20 {
		if math.Abs(mean-aim) < 1e-5 || slope == 0 {
			break
		}
		step := clip((mean-aim)/slope, 0.5)
		if at[0] == least && step >= 0 {
			break
		}
		at[0] = max(at[0]-step, least)
		mean, slope = h.meanConfidence(temperature, x, at)
	}
	return at
}

// meanConfidence returns the mean probability of the most probable class at log scale and
// power, and its slope in the log scale. Blocks of rows are added in their order.
func (h *heldOut) meanConfidence(temperature float64, x []float64, at [2]float64) (mean, slope float64) {
	grain := h.grain()
	part := make([][2]float64, (len(x)+grain-1)/grain)
	kernel.Parallel(h.threads, len(x), grain, func(block, lo, hi int) {
		for i := lo; i < hi; i++ {
			// c = 1 / Σ exp(β z) as in confidenceLoss: dc/d(log scale) = -c² β Σ z exp(β z).
			beta, top, total, first := math.Exp(at[0]+at[1]*x[i])/temperature, h.top(i), 0.0, 0.0
			for _, s := range h.row(i) {
				if z := float64(s) - top; z > math.Inf(-1) {
					e := math.Exp(beta * z)
					total += e
					first += e * z
				}
			}
			part[block][0] += 1 / total
			part[block][1] -= beta * first / (total * total)
		}
	})
	for _, p := range part {
		mean += p[0] / float64(len(x))
		slope += p[1] / float64(len(x))
	}
	return mean, slope
}

// clip returns the number nearest to v that is at most bound from 0.
func clip(v, bound float64) float64 { return min(max(v, -bound), bound) }

// confidenceLoss returns the penalised loss of fitConfidence summed over rows, its
// slope and its expected curvature (the entries 00, 01 and 11) at log scale and
// power. Blocks of rows are added in their order.
func (h *heldOut) confidenceLoss(temperature float64, x []float64, at [2]float64) (loss float64, slope [2]float64, curvature [3]float64) {
	grain := h.grain()
	type sums struct {
		loss      float64
		slope     [2]float64
		curvature [3]float64
	}
	part := make([]sums, (len(x)+grain-1)/grain)
	kernel.Parallel(h.threads, len(x), grain, func(block, lo, hi int) {
		var sum sums
		for i := lo; i < hi; i++ {
			// c = 1 / Σ exp(β z), z <= 0 the scores above that of the top class:
			// dη/dβ = -(Σ z e^βz / Σ e^βz) / (1 - c), and dβ/d(log scale) = β.
			beta := math.Exp(at[0]+at[1]*x[i]) / temperature
			top, right := h.topShare(i)
			var rest, first float64 // sums over all but one class of the top score
			for _, s := range h.row(i) {
				if z := float64(s) - top; z > math.Inf(-1) {
					e := math.Exp(beta * z)
					rest += e
					first += e * z
				}
			}
			rest = max(rest-1, math.SmallestNonzeroFloat32)
			total := 1 + rest
			sum.loss += math.Log(total) - (1-right)*math.Log(rest)
			wrong := rest / total // 1 - c
			d := -first / total / wrong * beta
			g, q := (1-wrong-right)*d, (1-wrong)*wrong*d*d
			sum.slope[0] += g
			sum.slope[1] += g * x[i]
			sum.curvature[0] += q
			sum.curvature[1] += q * x[i]
			sum.curvature[2] += q * x[i] * x[i]
		}
		part[block] = sum
	})
	loss = confidencePenalty * (at[0]*at[0] + at[1]*at[1]) / 2
	slope = [2]float64{confidencePenalty * at[0], confidencePenalty * at[1]}
	curvature = [3]float64{confidencePenalty, 0, confidencePenalty}
	for _, p := range part {
		loss += p.loss
		for j := range slope {
			slope[j] += p.slope[j]
		}
		for j := range curvature {
			curvature[j] += p.curvature[j]
		}
	}
	return loss, slope, curvature
}

// topShare returns the largest score of a row and what its class, the first of
// equals, has of the truth.
func (h *heldOut) topShare(i int) (top, share float64) {
	row, c := h.row(i), 0
	for j, s := range row {
		if s > row[c] {
			c = j
		}
	}
	if h.mixes == nil {
		if c == h.classes[i] {
			share = 1
		}
		return float64(row[c]), share
	}
	for n, class := range h.mixes[i].Class {
		if int(class) == c {
			share += float64(h.mixes[i].Share[n])
		}
	}
	return float64(row[c]), min(share, 1)
}

// solve2 solves a positive definite system of two equations.
func solve2(a [3]float64, b [2]float64) [2]float64 {
	det := a[0]*a[2] - a[1]*a[1]
	return [2]float64{(a[2]*b[0] - a[1]*b[1]) / det, (a[0]*b[1] - a[1]*b[0]) / det}
}

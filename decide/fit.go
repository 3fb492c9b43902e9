package decide

import (
	"fmt"
	"math"
	"slices"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/score"
)

// The range in which FitTemperature looks for a temperature.
const (
	MinTemperature = 0.01
	MaxTemperature = 100
)

// Calibration is a temperature and what it does to the rows that it was fitted
// on. Log losses are in nats, calibration errors fractions, both as in
// score.Report; before means at temperature 1.
type Calibration struct {
	Temperature            float64 `json:"temperature"`
	LogLossBefore          float64 `json:"log_loss_before"`
	LogLossAfter           float64 `json:"log_loss_after"`
	CalibrationErrorBefore float64 `json:"calibration_error_before"`
	CalibrationErrorAfter  float64 `json:"calibration_error_after"`
	Rows                   int     `json:"rows"`

	// How the temperature of a row depends on how sure it is, see Probabilities. A
	// scale of 0 means not at all.
	ConfidenceScale float64 `json:"confidence_scale,omitempty"`
	ConfidencePower float64 `json:"confidence_power,omitempty"`
	Optimism        float64 `json:"optimism,omitempty"` // what was taken off the accuracy on the rows

	// Answers says what thresholds on the calibrated probabilities did on the same rows; nil:
	// not counted, see CountAnswers.
	Answers *RiskCoverage `json:"answers,omitempty"`

	// AtLimit says that the temperature is the end of the range. With
	// MinTemperature, every row is right and the fit would be sure of
	// everything; with MaxTemperature, scores are no better than chance. Either
	// way do not use it: fit on more held-out rows.
	AtLimit bool `json:"at_limit"`
}

// String says what was found, or why there is none.
func (c Calibration) String() string {
	switch {
	case c.AtLimit && c.Temperature < 1:
		return fmt.Sprintf("not calibrated: no temperature fits the %d held-out rows, all of which are right; give more examples with Options.Valid", c.Rows)
	case c.AtLimit:
		return fmt.Sprintf("not calibrated: no temperature fits the %d held-out rows, on which the scores are no better than chance; give more examples with Options.Valid", c.Rows)
	}
	text := fmt.Sprintf("calibrated on %d held-out rows: temperature %.3f, log loss %.4f -> %.4f nats, calibration error %.1f -> %.1f points",
		c.Rows, c.Temperature, c.LogLossBefore, c.LogLossAfter, 100*c.CalibrationErrorBefore, 100*c.CalibrationErrorAfter)
	if c.Optimism > 0 {
		text += fmt.Sprintf("; %.1f points are taken off for the choice on these rows", 100*c.Optimism)
	}
	return text
}

// FitTemperature returns the temperature for Softmax or Temper that minimises
// the log loss on n held-out rows (Guo et al. 2017, Section 4.2). Row i holds
// the scores of the k classes, rows[i*k:(i+1)*k], logits or log probabilities,
// and classes[i] is its true class. The rows must not be those that the
// classifier was trained on, where it is surer than it should be. The most
// probable class, and with it the accuracy, never changes.
//
// With β = 1/T the loss is a mean of log Σ_c exp(β s_c) - β s_y: convex in β, its
// slope the expected minus the true score, its curvature the variance of the
// scores. So it has one minimum, which Newton's method finds, kept within a
// bracket that shrinks at every step; 5 to 10 passes over the rows are usual. A
// row whose true class has the score -Inf costs the same at every temperature
// and has no say.
//
// The rows are read where they are, 4nk bytes, on up to threads goroutines (0:
// one a CPU; never a different result), and little is allocated beside them. For
// many classes a few thousand rows are plenty for one number.
//
// No classes, no rows, another number of scores than n k, a class outside
// 0..k-1, a score that is NaN or +Inf and a row of nothing but -Inf are errors.
//
// With mixes, one a row, the truth of a row is a distribution over the classes, and
// what is minimised is the cross entropy against it; classes then only say how many
// rows there are. nil: each row is of its class alone.
func FitTemperature(rows []float32, k int, classes []int, mixes []score.Mix, threads int) (Calibration, error) {
	h, err := newHeldOut(rows, k, classes, mixes, threads)
	if err != nil {
		return Calibration{}, err
	}
	beta, limit := minimize(h.derivatives, 1/float64(MaxTemperature), 1/MinTemperature)
	c := Calibration{Temperature: 1 / beta, Rows: len(h.classes), AtLimit: limit}
	if c.LogLossBefore, c.CalibrationErrorBefore, err = h.measure(&Calibration{Temperature: 1}); err != nil {
		return Calibration{}, err
	}
	if c.LogLossAfter, c.CalibrationErrorAfter, err = h.measure(&c); err != nil {
		return Calibration{}, err
	}
	return c, nil
}

// minimize returns the minimum in [low, high] of a convex function on the
// positive numbers given by its first two derivatives, and whether it lies at
// an end, beyond which the function falls on or is flat. It begins at 1 and
// stays there if the function is flat.
func minimize(derivatives func(x float64) (slope, curvature float64), low, high float64) (x float64, limit bool) {
	const tolerance = 1e-10
	x = 1
	slope, curvature := derivatives(x)
	if slope == 0 {
		return x, false
	}
	if slope > 0 {
		high = x
		if at, _ := derivatives(low); at >= 0 {
			return low, true
		}
	} else {
		low = x
		if at, _ := derivatives(high); at <= 0 {
			return high, true // 0 where every row has become sure
		}
	}
	// The minimum is between low, where the slope is negative, and high. After a
	// step that did not halve the slope, or if Newton's leaves the bracket, the
	// next goes to the geometric mean, as x is a scale.
	halved := true
	for range 200 {
		step, before := slope/curvature, math.Abs(slope)
		if math.Abs(step) <= tolerance*x || high-low <= tolerance*x {
			return min(max(x-step, low), high), false
		}
		if x -= step; !halved || !(x > low && x < high) {
			x = math.Sqrt(low * high)
		}
		switch slope, curvature = derivatives(x); {
		case slope == 0:
			return x, false
		case slope < 0:
			low = x
		default:
			high = x
		}
		halved = math.Abs(slope) <= before/2
	}
	return x, false
}

// heldOut is what a temperature is fitted on.
type heldOut struct {
	rows    []float32
	k       int
	classes []int
	mixes   []score.Mix // nil: each row is of its class alone
	threads int
}

func newHeldOut(rows []float32, k int, classes []int, mixes []score.Mix, threads int) (*heldOut, error) {
	if k < 1 || len(classes) == 0 {
		return nil, fmt.Errorf("decide: fit a temperature on %d rows of %d classes, want at least one of each", len(classes), k)
	}
	if len(rows)%k != 0 || len(rows)/k != len(classes) {
		return nil, fmt.Errorf("decide: %d scores for %d rows of %d classes, want a score for each class of each row", len(rows), len(classes), k)
	}
	h := &heldOut{rows: rows, k: k, classes: classes, mixes: mixes, threads: threads}
	if mixes != nil && len(mixes) != len(classes) {
		return nil, fmt.Errorf("decide: %d mixes for %d rows, want one for each", len(mixes), len(classes))
	}
	for i, m := range mixes {
		if len(m.Class) == 0 || len(m.Share) != len(m.Class) || slices.ContainsFunc(m.Class, func(c int32) bool { return c < 0 || int(c) >= k }) {
			return nil, fmt.Errorf("decide: row %d has %d shares of %d classes, want one for each and classes from 0 to %d", i, len(m.Share), len(m.Class), k-1)
		}
	}
	for i, y := range classes {
		if y < 0 || y >= k {
			return nil, fmt.Errorf("decide: row %d has class %d, want 0 to %d; leave rows of other classes out", i, y, k-1)
		}
		if top := h.top(i); math.IsInf(top, 0) || math.IsNaN(top) {
			return nil, fmt.Errorf("decide: the largest score of row %d is %v, want finite scores, or -Inf where a probability is 0", i, top)
		}
	}
	return h, nil
}

func (h *heldOut) row(i int) []float32 { return h.rows[i*h.k : (i+1)*h.k] }

// top returns the largest score of a row, NaN if one of them is.
func (h *heldOut) top(i int) float64 {
	top := math.Inf(-1)
	for _, s := range h.row(i) {
		top = max(top, float64(s))
	}
	return top
}

// grain is the number of rows that a goroutine takes at a time.
func (h *heldOut) grain() int { return max(1<<16/h.k, 1) }

// derivatives returns the slope and the curvature of the log loss in beta,
// summed over rows. Rows are added by block, and blocks in their order, so that
// threads do not change a bit.
func (h *heldOut) derivatives(beta float64) (slope, curvature float64) {
	grain := h.grain()
	type pair struct{ slope, curvature float64 }
	part := make([]pair, (len(h.classes)+grain-1)/grain)
	kernel.Parallel(h.threads, len(h.classes), grain, func(block, lo, hi int) {
		var sum pair
		for i := lo; i < hi; i++ {
			a, b := h.rowDerivatives(i, beta)
			sum.slope += a
			sum.curvature += b
		}
		part[block] = sum
	})
	for _, p := range part {
		slope += p.slope
		curvature += p.curvature
	}
	return slope, curvature
}

// truth returns the score of the truth of a row, the mean over its shares.
func (h *heldOut) truth(i int) float64 {
	if h.mixes == nil {
		return float64(h.row(i)[h.classes[i]])
	}
	var sum, total float64
	for n, c := range h.mixes[i].Class {
		if share := float64(h.mixes[i].Share[n]); share > 0 {
			sum += share * float64(h.row(i)[c])
			total += share
		}
	}
	return sum / total
}

func (h *heldOut) rowDerivatives(i int, beta float64) (slope, curvature float64) {
	top, truth := h.top(i), h.truth(i)
	if math.IsInf(truth, -1) {
		return 0, 0
	}
	var total, first, second float64
	for _, s := range h.row(i) {
		z := float64(s) - top
		e := math.Exp(beta * z)
		if e == 0 { // also where z is -Inf, whose product with 0 is NaN
			continue
		}
		total += e
		first += e * z
		second += e * z * z
	}
	mean := first / total
	return mean - (truth - top), max(second/total-mean*mean, 0)
}

// LogLoss returns the mean log loss in nats of rows of scores as they are, with the
// arguments and errors of FitTemperature.
func LogLoss(rows []float32, k int, classes []int, mixes []score.Mix, threads int) (float64, error) {
	h, err := newHeldOut(rows, k, classes, mixes, threads)
	if err != nil {
		return 0, err
	}
	loss, _, err := h.measure(&Calibration{Temperature: 1})
	return loss, err
}

// measure returns the log loss and the calibration error of calibrated rows. The sums of
// a counter are exact, so that blocks of rows may be counted apart.
func (h *heldOut) measure(with *Calibration) (loss, calibration float64, err error) {
	grain := 16 * h.grain()
	parts := make([]*score.Counter, (len(h.classes)+grain-1)/grain)
	errs := make([]error, len(parts))
	kernel.Parallel(h.threads, len(h.classes), grain, func(block, lo, hi int) {
		parts[block], errs[block] = h.count(with, lo, hi)
	})
	for n, err := range errs {
		if err == nil && n > 0 {
			err = parts[0].Merge(parts[n])
		}
		if err != nil {
			return 0, 0, err
		}
	}
	r := parts[0].Report()
	return r.LogLoss, r.CalibrationError, nil
}

// count counts the calibrated rows from lo to hi.
func (h *heldOut) count(with *Calibration, lo, hi int) (*score.Counter, error) {
	counter, err := score.NewCounter(h.k, score.Options{})
	if err != nil {
		return nil, err
	}
	p, scores := make([]float64, h.k), make([]float64, h.k)
	for i := lo; i < hi; i++ {
		for c, s := range h.row(i) {
			scores[c] = float64(s)
		}
		if _, err := Probabilities(with, p, scores); err != nil {
			return nil, err
		}
		var mix score.Mix
		if h.mixes != nil {
			mix = h.mixes[i]
		}
		if err := score.Count(counter, h.classes[i], mix, p, nil); err != nil {
			return nil, err
		}
	}
	return counter, nil
}

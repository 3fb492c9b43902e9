package loss

import (
	"errors"
	"fmt"
	"math"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/metric"
)

// Loss is one of CrossEntropy, *SimLoss, *SoftLabels, *HXE and *Own, which takes a
// function from outside. Values are immutable
// and safe for concurrent use.
type Loss interface {
	// Check returns an error if the loss does not fit k classes.
	Check(k int) error

	isLoss()
}

// CrossEntropy is -log p_y, or with Smoothing ε the cross entropy against
// the target 1-ε for y plus ε/k for every class, y too (Szegedy et al. 2016).
// Smoothing is from 0 to below 1.
type CrossEntropy struct{ Smoothing float64 }

// SimLoss is -log Σ_c S[y,c] p_c for a similarity S of classes, entries in
// 0..1 and 1 on the diagonal (Kobs et al. 2020). It keeps 8 k² bytes.
type SimLoss struct {
	k   int
	log []float64 // log S, -Inf where S is 0
}

// SoftLabels is the cross entropy against a distribution over the classes
// that depends on the class (Bertinetto et al. 2020). It keeps 8 k² bytes.
type SoftLabels struct {
	k      int
	target []float64
}

func (CrossEntropy) isLoss() {}
func (*SimLoss) isLoss()     {}
func (*SoftLabels) isLoss()  {}

// maxPairs is the largest k for which a k x k table is kept, 3.2 GB.
const maxPairs = 20000

// ErrTooManyClasses says that a loss would need a k x k table beyond 20,000
// classes.
var ErrTooManyClasses = errors.New("too many classes for a table of all pairs")

// Check returns an error if Smoothing is not a number from 0 to below 1.
func (l CrossEntropy) Check(int) error {
	if !(l.Smoothing >= 0 && l.Smoothing < 1) {
		return fmt.Errorf("loss: label smoothing %v, want a number from 0 to below 1", l.Smoothing)
	}
	return nil
}

// NewSimLoss makes S[y,c] = max(0, (similarity(y,c) - r)/(1 - r)), at most 1,
// and 1 for a class with itself, whose similarity is not asked for. The lower
// bound r is from 0 to below 1: classes more similar than r share the credit.
// A similarity that is NaN or infinite is an error, and so is k above 20,000
// (ErrTooManyClasses).
func NewSimLoss(k int, similarity func(y, c int) float64, r float64) (*SimLoss, error) {
	if !(r >= 0 && r < 1) {
		return nil, fmt.Errorf("loss: SimLoss lower bound %v, want a number from 0 to below 1", r)
	}
	if err := checkPairs("SimLoss", k); err != nil {
		return nil, err
	}
	l := &SimLoss{k: k, log: make([]float64, k*k)}
	for y := range k {
		for c := range k {
			if y == c {
				continue // S = 1, log S = 0
			}
			s := similarity(y, c)
			if math.IsNaN(s) || math.IsInf(s, 0) {
				return nil, fmt.Errorf("loss: SimLoss: similarity of classes %d and %d is %v, want a finite number", y, c, s)
			}
			l.log[y*k+c] = math.Log(min(1, max(0, (s-r)/(1-r))))
		}
	}
	return l, nil
}

// Check returns an error if the loss was made for another number of classes.
func (l *SimLoss) Check(k int) error { return sameClasses("SimLoss", l.k, k) }

// NewSoftLabels makes the target of class y proportional to
// exp(-beta d(y,c)/D), D the largest distance of the metric, so that its unit
// does not matter. A large beta is the plain cross entropy, but for classes at
// distance 0, which always share; beta = 0 tells nothing apart. beta must be a
// number of at least 0. A distance that is NaN, infinite or negative is a
// *metric.PairError, and k above 20,000 is ErrTooManyClasses.
func NewSoftLabels(space metric.Space, beta float64) (*SoftLabels, error) {
	if !(beta >= 0) || math.IsInf(beta, 1) {
		return nil, fmt.Errorf("loss: soft labels beta %v, want a finite number of at least 0", beta)
	}
	k := space.Len()
	if err := checkPairs("soft labels", k); err != nil {
		return nil, err
	}
	l := &SoftLabels{k: k, target: make([]float64, k*k)}
	var top float64
	for y := range k {
		for c := range k {
			d := space.Distance(y, c)
			if err := metric.CheckPair(y, c, d); err != nil {
				return nil, fmt.Errorf("loss: soft labels: %w", err)
			}
			l.target[y*k+c] = d
			top = max(top, d)
		}
	}
	if top == 0 {
		top = 1
	}
	for y := range k {
		row := l.target[y*k : (y+1)*k]
		for c := range row {
			row[c] = -beta * (row[c] / top)
		}
		kernel.Softmax(row, row)
	}
	return l, nil
}

// Target returns the distribution (k) for class y, which is not to be changed.
func (l *SoftLabels) Target(y int) []float64 { return l.target[y*l.k : (y+1)*l.k] }

// Check returns an error if the loss was made for another number of classes.
func (l *SoftLabels) Check(k int) error { return sameClasses("soft labels", l.k, k) }

// sameClasses refuses a loss made for another number of classes than it is used with.
func sameClasses(name string, have, want int) error {
	if have != want {
		return fmt.Errorf("loss: %s was made for %d classes, the data has %d; make it from the classes of the data", name, have, want)
	}
	return nil
}

// checkPairs returns an error if there is no room for a k x k table.
func checkPairs(name string, k int) error {
	if k < 1 {
		return fmt.Errorf("loss: %s with %d classes, want at least 1", name, k)
	}
	if k > maxPairs {
		return fmt.Errorf("loss: %s with %d classes, at most %d; use cross entropy or hierarchical softmax: %w", name, k, maxPairs, ErrTooManyClasses)
	}
	return nil
}

package experiment

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/treeloss/treeloss/internal/theory"
)

// NormsResult is the outcome of Norms (the paper's figure 3). Norms are Frobenius norms.
type NormsResult struct {
	Sweep Sweep     `json:"-"`
	Name  string    `json:"name"`
	Rows  []NormRow `json:"rows"`
	// Exponents of growth in k, from ExponentsFrom classes on: the slope of a
	// line through the logarithms in each run.
	Exponents []Exponent `json:"exponents"`
}

// ExponentsFrom is the least k that exponents are fitted to: below, a tree has
// hardly any inner node.
const ExponentsFrom = 50

// NormRow is one quantity at one k.
type NormRow struct {
	Name  string   `json:"name"`
	K     float64  `json:"k"`
	Runs  int      `json:"runs"`
	Value Interval `json:"value"`
	Most  float64  `json:"most"` // largest over the runs
}

// Exponent is how fast a quantity q grows: as k to that power, the slope of log q over log k
// by least squares.
type Exponent struct {
	Name  string   `json:"name"`
	Power Interval `json:"power"`
}

// Names of quantities that follow from those of the cells.
const (
	EffectiveU = "norm U x lipschitz"      // what bounds the error of SGD on U: compare it with norm W
	EffectiveV = "norm V x lipschitz"      // the same for V
	BoundW     = "bound of W: sqrt(k) B"   // Eq. 7
	BoundU     = "bound of U: 2 sqrt(k) B" // Lemma 2
	BoundTree  = "bound of U by Lemma 3"   // with the upper bound of the doubling dimension and lambda = 1
	RateW      = "Corollary 1"             // sqrt(k) B rho / sqrt(n)
	RateTree   = "Corollary 2"             // Lemma 3 times rho / sqrt(n)
	RatioVU    = "norm V / norm U"         // Lemma 2 says at most 1
	RatioVW    = "norm V / norm W"
)

// quantities are those of NormsResult, in order; of a cell's own the formula is nil, the
// others follow from the values before them.
var quantities = []struct {
	name    string
	formula func(v Values, p Point) float64
}{
	{NormW, nil}, {NormU, nil}, {NormV, nil}, {NormVRandom, nil}, {LipschitzU, nil}, {LipschitzV, nil},
	{EffectiveU, func(v Values, _ Point) float64 { return v[NormU] * v[LipschitzU] }},
	{EffectiveV, func(v Values, _ Point) float64 { return v[NormV] * v[LipschitzV] }},
	{LargestW, nil}, {LargestX, nil}, {DoublingLow, nil}, {DoublingHigh, nil}, {TreeHeight, nil}, {Distances, nil},
	{BoundW, func(v Values, p Point) float64 { return math.Sqrt(float64(p.K)) * v[LargestW] }},
	{BoundU, func(v Values, _ Point) float64 { return 2 * v[BoundW] }},
	{BoundTree, func(v Values, p Point) float64 { return theory.NormLimit(p.K, 1, v[LargestW], v[DoublingHigh]) }},
	{RateW, func(v Values, p Point) float64 { return v[BoundW] * v[LargestX] / math.Sqrt(float64(p.N)) }},
	{RateTree, func(v Values, p Point) float64 { return v[BoundTree] * v[LargestX] / math.Sqrt(float64(p.N)) }},
	{RatioVU, func(v Values, _ Point) float64 { return v[NormV] / v[NormU] }},
	{RatioVW, func(v Values, _ Point) float64 { return v[NormV] / v[NormW] }},
}

// norms reads the cells of a sweep over k: of each quantity the mean over the runs at each k,
// and its exponent of growth, fitted in each run.
func (r *runner) norms(s *Sweep) *NormsResult {
	out := &NormsResult{Sweep: *s, Name: s.Name}
	cells := make([][]Values, len(s.Points)) // by point, then run
	for i, p := range s.Points {
		for run := range r.opts.Runs {
			stored, _ := r.store.get(cellName(s, p.X, run, normsProtocol))
			v := maps.Clone(stored)
			for _, q := range quantities {
				if q.formula != nil {
					v[q.name] = q.formula(v, p)
				}
			}
			cells[i] = append(cells[i], v)
		}
	}
	for _, q := range quantities {
		for i, p := range s.Points {
			var x []float64
			for _, v := range cells[i] {
				x = append(x, v[q.name])
			}
			out.Rows = append(out.Rows, NormRow{Name: q.name, K: p.X, Runs: len(x), Value: interval(x), Most: slices.Max(x)})
		}
	}
	for _, name := range []string{NormW, NormU, NormV, NormVRandom, EffectiveU, EffectiveV, Distances} {
		var power []float64
		for run := range r.opts.Runs {
			var x, y []float64
			for i, p := range s.Points {
				if p.X >= ExponentsFrom {
					x, y = append(x, math.Log(p.X)), append(y, math.Log(cells[i][run][name]))
				}
			}
			_, slope := stat.LinearRegression(x, y, nil, false)
			power = append(power, slope)
		}
		out.Exponents = append(out.Exponents, Exponent{name, interval(power)})
	}
	return out
}

// Exponent returns the exponent of a quantity, NaN if it has none.
func (n *NormsResult) Exponent(name string) Interval {
	for _, e := range n.Exponents {
		if e.Name == name {
			return e.Power
		}
	}
	return interval(nil)
}

// Find returns a quantity at k.
func (n *NormsResult) Find(name string, k float64) (NormRow, bool) {
	for _, row := range n.Rows {
		if row.Name == name && row.K == k {
			return row, true
		}
	}
	return NormRow{}, false
}

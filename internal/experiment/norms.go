package experiment

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/treeloss/treeloss/internal/theory"
)

// NormsResult is the outcome of Norms.
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

// Exponent is how fast a quantity grows: as k to that power.
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

// quantities of NormsResult, in order.
func quantities() []string {
	return []string{NormW, NormU, NormV, NormVRandom, LipschitzU, LipschitzV, EffectiveU, EffectiveV,
		LargestW, LargestX, DoublingLow, DoublingHigh, TreeHeight, Distances, BoundW, BoundU, BoundTree, RateW, RateTree, RatioVU, RatioVW}
}

// derive adds the quantities that follow from a cell.
func derive(v Values, p Point) Values {
	out := Values{}
	for name, x := range v {
		out[name] = x
	}
	k, n := float64(p.K), float64(p.N)
	out[EffectiveU], out[EffectiveV] = v[NormU]*v[LipschitzU], v[NormV]*v[LipschitzV]
	out[BoundW] = math.Sqrt(k) * v[LargestW]
	out[BoundU] = 2 * out[BoundW]
	out[BoundTree] = theory.NormLimit(p.K, 1, v[LargestW], v[DoublingHigh])
	out[RateW] = out[BoundW] * v[LargestX] / math.Sqrt(n)
	out[RateTree] = out[BoundTree] * v[LargestX] / math.Sqrt(n)
	out[RatioVU], out[RatioVW] = v[NormV]/v[NormU], v[NormV]/v[NormW]
	return out
}

func (r *runner) norms(s *Sweep) *NormsResult {
	out := &NormsResult{Sweep: *s, Name: s.Name}
	cells := make([][]Values, len(s.Points)) // by point, then run
	for i, p := range s.Points {
		for run := range r.opts.Runs {
			v, _ := r.store.get(cellName(s, p.X, run, normsProtocol))
			cells[i] = append(cells[i], derive(v, p))
		}
	}
	for _, name := range quantities() {
		for i, p := range s.Points {
			var x []float64
			for _, v := range cells[i] {
				x = append(x, v[name])
			}
			out.Rows = append(out.Rows, NormRow{Name: name, K: p.X, Runs: len(x), Value: interval(x), Most: slices.Max(x)})
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
	return Interval{math.NaN(), math.NaN(), math.NaN()}
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

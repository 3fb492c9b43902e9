package experiment

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/treeloss/treeloss/internal/option"
)

// Setting is one size of a problem.
type Setting struct {
	N     int     // training examples
	D     int     // features
	K     int     // classes
	Sigma float64 // standard deviation of an example around its class
}

// Point is one place on the x axis of a sweep.
type Point struct {
	X float64
	Setting
	Base    float64 // of the cover tree
	Epsilon float64 // share of noise in the vectors that the metric is made from
}

// Sweep is what one figure shows: one number varies, the others stay.
type Sweep struct {
	Experiment Name
	Name       string // of its files
	Title      string
	XLabel     string
	LogX       bool
	Truth      Truth
	Fixed      Setting // what varies is 0
	Base       float64 // 0 if it varies
	Points     []Point
	Focus      float64  // the x of short tables
	Methods    []Method // measured at each point
	Shared     []Method // measured once a run, as they do not depend on x
}

// Sweeps returns the sweeps of an experiment, with the fixed values of opts:
//
//	                      n      d    k    sigma  base  what varies
//	data-regimes-n        -      64   10   1      1.3   n = 16, 32 ... 8192
//	data-regimes-d        100    -    10   1      1.3   d = 2, 4 ... 1024
//	data-regimes-k        100    64   -    1      1.3   k = 10, 20 ... 100
//	data-regimes-sigma    100    64   10   -      1.3   sigma = 1 ... 3.2, 4 ... 10
//	norms                 1000   10   -    1      2     k = 10 ... 1000
//	tree-shapes           1000   10   100  1      -     base = 1.05 ... 7
//	metric-quality        100    64   10   1      1.3   epsilon = 0 ... 1
//	metric-quality-hard   1000   10   100  1      1.3   epsilon = 0 ... 1
//	low-rank              -      64   100  1      1.3   n = 30, 100, 300
//
// An unknown name, and options out of range, are an *option.Error.
func Sweeps(name Name, opts Options) ([]Sweep, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	fix := func(s Setting) Setting {
		return Setting{cmp.Or(opts.N, s.N), cmp.Or(opts.D, s.D), cmp.Or(opts.K, s.K), cmp.Or(opts.Sigma, s.Sigma)}
	}
	base := cmp.Or(opts.Base, 1.3)
	small, large := fix(Setting{100, 64, 10, 1}), fix(Setting{1000, 10, 100, 1})
	sweep := func(s Sweep, fixed Setting, values []float64, set func(p *Point, x float64)) Sweep {
		s.Experiment, s.Fixed, s.Base, s.Truth = name, fixed, base, cmp.Or(s.Truth, opts.Truth)
		for _, x := range values {
			p := Point{X: x, Setting: fixed, Base: base}
			set(&p, x)
			s.Points = append(s.Points, p)
		}
		return s
	}
	switch name {
	case DataRegimes:
		out := []Sweep{
			sweep(Sweep{Name: "data-regimes-n", Title: "Accuracy over the number of examples", XLabel: "training examples n", Focus: 128, LogX: true, Methods: allMethods},
				small, powers(16, 8192), func(p *Point, x float64) { p.N = int(x) }),
			sweep(Sweep{Name: "data-regimes-d", Title: "Accuracy over the number of features", XLabel: "features d", Focus: 64, LogX: true, Methods: allMethods},
				small, powers(2, 1024), func(p *Point, x float64) { p.D = int(x) }),
			sweep(Sweep{Name: "data-regimes-k", Title: "Accuracy over the number of classes", XLabel: "classes k", Focus: 10, Methods: allMethods},
				small, steps(10, 10, 100), func(p *Point, x float64) { p.K = int(x) }),
			sweep(Sweep{Name: "data-regimes-sigma", Title: "Accuracy over the noise of the examples", XLabel: "noise σ", Focus: 1, Methods: allMethods},
				small, append(steps(1, 0.2, 3.2), steps(4, 1, 10)...), func(p *Point, x float64) { p.Sigma = x }),
		}
		out[0].Fixed.N, out[1].Fixed.D, out[2].Fixed.K, out[3].Fixed.Sigma = 0, 0, 0, 0
		return out, nil
	case Norms:
		base = cmp.Or(opts.Base, 2)
		s := sweep(Sweep{Name: "norms", Title: "Norm of the true parameters over the number of classes", XLabel: "classes k", LogX: true},
			large, []float64{10, 20, 50, 100, 200, 500, 1000}, func(p *Point, x float64) { p.K = int(x) })
		s.Fixed.K = 0
		return []Sweep{s}, nil
	case TreeShapes:
		s := sweep(Sweep{Name: "tree-shapes", Title: "Accuracy over the base of the cover tree", XLabel: "base of the cover tree", Focus: 1.3,
			Methods: treeMethods, Shared: []Method{CrossEntropy, SimLoss, Linkage}},
			large, slices.Concat([]float64{1.05}, steps(1.1, 0.1, 3), steps(4, 1, 7)), func(p *Point, x float64) { p.Base = x })
		s.Base = 0
		return []Sweep{s}, nil
	case MetricQuality:
		methods := []Method{UTree, VTree, SimLoss, HierarchicalSoftmax, ScaledCrossEntropy}
		set := func(p *Point, x float64) { p.Epsilon = x }
		out := []Sweep{
			sweep(Sweep{Name: "metric-quality", Title: "Accuracy over the noise in the metric", XLabel: "noise in the metric ε", Focus: 1, Methods: methods,
				Shared: []Method{CrossEntropy}}, small, steps(0, 0.1, 1), set),
			sweep(Sweep{Name: "metric-quality-hard", Title: "Accuracy over the noise in the metric, many classes", XLabel: "noise in the metric ε", Focus: 1, Methods: methods,
				Shared: []Method{CrossEntropy}}, large, steps(0, 0.1, 1), set),
		}
		return out, nil
	case LowRankData:
		s := sweep(Sweep{Name: "low-rank", Title: "Accuracy over the number of examples, true parameters of rank 5", XLabel: "training examples n", Focus: 300, LogX: true,
			Truth: LowRank, Methods: allMethods}, fix(Setting{300, 64, 100, 1}), []float64{30, 100, 300}, func(p *Point, x float64) { p.N = int(x) })
		s.Fixed.N = 0
		return []Sweep{s}, nil
	}
	return nil, option.Check("Experiment", name, false, "data-regimes, norms, tree-shapes, metric-quality or low-rank")
}

// powers returns lo, 2 lo, 4 lo ... hi.
func powers(lo, hi float64) (x []float64) {
	for ; lo <= hi; lo *= 2 {
		x = append(x, lo)
	}
	return x
}

// steps returns lo, lo + step, ... hi, each rounded to two decimals so that
// 1.1 + 0.1 is written as 1.2.
func steps(lo, step, hi float64) (x []float64) {
	for i := 0; ; i++ {
		v := math.Round(100*(lo+float64(i)*step)) / 100
		if v > hi+step/4 {
			return x
		}
		x = append(x, v)
	}
}

// number writes a number in the shortest form that reads back as it is.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

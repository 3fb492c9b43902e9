package experiment

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Name is one of the four experiments on synthetic data (Wang and Izbicki 2022,
// Sections 5.1.2 to 5.1.5).
type Name string

const (
	DataRegimes   Name = "data-regimes"   // I, figure 2: n, d, k and sigma vary
	Norms         Name = "norms"          // II, figure 3: norms of parameters over k
	TreeShapes    Name = "tree-shapes"    // III, figure 4: the base of the cover tree
	MetricQuality Name = "metric-quality" // IV, figure 5: how wrong the metric is

	// LowRankData is not in the paper: the true parameters that the authors'
	// scripts draw, of rank 5, with many classes and few examples, whatever
	// Options.Truth says. It is where the tree gains most.
	LowRankData Name = "low-rank"
)

// Names returns all experiments, those of the paper first in its order.
func Names() []Name { return []Name{DataRegimes, Norms, TreeShapes, MetricQuality, LowRankData} }

// Truth says how the true parameters W*, k x d, are drawn.
type Truth string

const (
	Isotropic Truth = "isotropic" // numbers of variance 1: the paper's text
	LowRank   Truth = "low-rank"  // k x 5 times 5 x d such numbers: the authors' scripts
	Clustered Truth = "clustered" // about sqrt(k) centres of variance 1, classes at deviation 0.3 around them
)

// Init says where training under Paper starts; OnePass and Converged start at 0.
type Init string

const (
	TorchInit Init = "torch" // each parameter uniform within ±1/sqrt(d), as PyTorch's Linear layer
	ZeroInit  Init = "zeros"
)

// Protocol is a way to train. Paper is that of the paper and its authors'
// scripts. The other two are called tuned: each method has a budget of its own
// on ValidationRows further examples.
type Protocol string

const (
	Paper     Protocol = "paper"     // one pass, one learning rate for all methods
	OnePass   Protocol = "one-pass"  // one pass, each method at its own best rate
	Converged Protocol = "converged" // to the optimum, each method with its own best prior
)

// Protocols returns all protocols.
func Protocols() []Protocol { return []Protocol{Paper, OnePass, Converged} }

// Method is a way to classify.
type Method string

const (
	CrossEntropy        Method = "cross-entropy"
	UTree               Method = "u-tree"
	VTree               Method = "v-tree" // the paper's tree loss
	Linkage             Method = "linkage"
	SimLoss             Method = "simloss"
	HierarchicalSoftmax Method = "hierarchical-softmax"
	// ScaledCrossEntropy is cross entropy at the learning rate times the mean
	// eigenvalue of the V-tree's kernel: what of the tree's gain is but a longer
	// step. Under Paper only.
	ScaledCrossEntropy Method = "cross-entropy-scaled"
)

// Defaults of Options.
const (
	DefaultRuns      = 50
	DefaultTunedRuns = 20
	DefaultRate      = 1e-4
	TestRows         = 10_000
	ValidationRows   = 500
)

// ErrOptions says that a field of Options is out of range.
var ErrOptions = errors.New("option out of range")

// Options sets up Run. The zero value is the paper's experiment under all
// protocols.
type Options struct {
	Runs      int        // draws of W* under Paper, and for Norms; 0 means 50
	TunedRuns int        // draws of W* under the tuned protocols; 0 means 20, or Runs if that is less
	Seed      uint64     // the only source of randomness; 0 is a seed like any other
	Protocols []Protocol // nil: all
	Truth     Truth      // "" means Isotropic
	Init      Init       // "" means TorchInit
	Rate      float64    // learning rate of Paper; 0 means 1e-4
	Base      float64    // of cover trees where it does not vary; 0 means 1.3, for Norms 2

	Averaged bool // figures and paragraphs show the mean of the weights over the pass, the theory's SGD, not the last

	// What does not vary in an experiment; 0 means its own values.
	N, D, K int
	Sigma   float64

	Threads  int            // goroutines; 0: one a CPU. Never changes a result
	Store    *Store         // where finished cells are kept; nil: nowhere
	Progress func(Progress) // called after each cell, by one goroutine at a time; nil: not

	testRows int // fewer in tests of this package; 0 means TestRows
}

// withDefaults fills in what is 0 and checks the rest.
func (o Options) withDefaults() (Options, error) {
	if o.Runs == 0 {
		o.Runs = DefaultRuns
	}
	if o.TunedRuns == 0 {
		o.TunedRuns = min(o.Runs, DefaultTunedRuns)
	}
	if o.Protocols == nil {
		o.Protocols = Protocols()
	}
	if o.testRows == 0 {
		o.testRows = TestRows
	}
	if o.Truth == "" {
		o.Truth = Isotropic
	}
	if o.Init == "" {
		o.Init = TorchInit
	}
	if o.Rate == 0 {
		o.Rate = DefaultRate
	}
	bad := func(format string, args ...any) (Options, error) {
		return o, fmt.Errorf("experiment: "+format+": %w", append(args, ErrOptions)...)
	}
	switch {
	case o.Runs < 1 || o.Runs > 1e6 || o.TunedRuns < 1 || o.TunedRuns > 1e6:
		return bad("%d and %d runs, want 1 to 1,000,000", o.Runs, o.TunedRuns)
	case !slices.Contains([]Truth{Isotropic, LowRank, Clustered}, o.Truth):
		return bad("truth %q, want isotropic, low-rank or clustered", o.Truth)
	case o.Init != TorchInit && o.Init != ZeroInit:
		return bad("init %q, want torch or zeros", o.Init)
	case !(o.Rate > 0) || math.IsInf(o.Rate, 0):
		return bad("learning rate %v, want a positive number", o.Rate)
	case o.Base != 0 && !(o.Base >= 1.0001 && o.Base <= 1e6):
		return bad("base %v, want 1.0001 to 1e6", o.Base)
	case o.N < 0 || o.N > 1e6 || o.D < 0 || o.D > 1e5 || o.K < 0 || o.K > 5000 || o.K == 1:
		return bad("n = %d, d = %d, k = %d, want at most 1,000,000, 100,000 and 2 to 5,000", o.N, o.D, o.K)
	case !(o.Sigma >= 0) || math.IsInf(o.Sigma, 0):
		return bad("sigma = %v, want a positive number", o.Sigma)
	}
	for _, p := range o.Protocols {
		if !slices.Contains(Protocols(), p) {
			return bad("protocol %q, want paper, one-pass or converged", p)
		}
	}
	return o, nil
}

// runs returns the number of draws under a protocol.
func (o Options) runs(p Protocol) int {
	if p == Paper {
		return o.Runs
	}
	return o.TunedRuns
}

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

var (
	allMethods  = []Method{CrossEntropy, UTree, VTree, SimLoss, HierarchicalSoftmax, Linkage, ScaledCrossEntropy}
	treeMethods = []Method{UTree, VTree, HierarchicalSoftmax, ScaledCrossEntropy}
)

// Sweeps returns the sweeps of an experiment, with the fixed values of opts.
func Sweeps(name Name, opts Options) ([]Sweep, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	fix := func(s Setting) Setting {
		if opts.N > 0 {
			s.N = opts.N
		}
		if opts.D > 0 {
			s.D = opts.D
		}
		if opts.K > 0 {
			s.K = opts.K
		}
		if opts.Sigma > 0 {
			s.Sigma = opts.Sigma
		}
		return s
	}
	base := opts.Base
	if base == 0 {
		base = 1.3
	}
	small, large := fix(Setting{100, 64, 10, 1}), fix(Setting{1000, 10, 100, 1})
	sweep := func(s Sweep, fixed Setting, values []float64, set func(p *Point, x float64)) Sweep {
		s.Experiment, s.Fixed, s.Base = name, fixed, base
		if s.Truth == "" {
			s.Truth = opts.Truth
		}
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
		if opts.Base == 0 {
			base = 2
		}
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
	return nil, fmt.Errorf("experiment: %q, want data-regimes, norms, tree-shapes, metric-quality or low-rank: %w", name, ErrOptions)
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

// Methods returns all methods, cross entropy first.
func Methods() []Method { return slices.Clone(allMethods) }

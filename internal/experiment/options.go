package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/treeloss/treeloss/internal/option"
)

// Defaults of Options.
const (
	DefaultRuns      = 50
	DefaultTunedRuns = 20
	DefaultRate      = 1e-4
	TestRows         = 10_000
	ValidationRows   = 500
)

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
	o.Runs = cmp.Or(o.Runs, DefaultRuns)
	o.TunedRuns = cmp.Or(o.TunedRuns, min(o.Runs, DefaultTunedRuns))
	o.Truth, o.Init = cmp.Or(o.Truth, Isotropic), cmp.Or(o.Init, TorchInit)
	o.Rate = cmp.Or(o.Rate, DefaultRate)
	o.testRows = cmp.Or(o.testRows, TestRows)
	if o.Protocols == nil {
		o.Protocols = Protocols()
	}
	return o, o.check()
}

// check returns an *option.Error for the first field that is out of range.
func (o Options) check() error {
	whole := func(name string, n, least, most int) error {
		return option.Check(name, n, n == 0 || n >= least && n <= most, fmt.Sprintf("%d to %d, or 0 for the default", least, most))
	}
	err := cmp.Or(
		whole("Runs", o.Runs, 1, 1e6), whole("TunedRuns", o.TunedRuns, 1, 1e6),
		whole("N", o.N, 1, 1e6), whole("D", o.D, 1, 1e5), whole("K", o.K, 2, 5000),
		option.Check("Truth", o.Truth, slices.Contains([]Truth{Isotropic, LowRank, Clustered}, o.Truth), "isotropic, low-rank or clustered"),
		option.Check("Init", o.Init, o.Init == TorchInit || o.Init == ZeroInit, "torch or zeros"),
		option.Check("Rate", o.Rate, o.Rate > 0 && !math.IsInf(o.Rate, 1), "a number above 0, such as 0.0001"),
		option.Check("Base", o.Base, o.Base == 0 || o.Base >= 1.0001 && o.Base <= 1e6, "a number from 1.0001 to 1e6, such as 1.3, or 0 for the default"),
		option.Check("Sigma", o.Sigma, o.Sigma >= 0 && o.Sigma <= 1e6, "a number above 0, at most 1e6, or 0 for the paper's"),
		option.Threads(o.Threads))
	for _, p := range o.Protocols {
		err = cmp.Or(err, option.Check("Protocol", p, slices.Contains(Protocols(), p), "paper, one-pass or converged"))
	}
	return err
}

// runs returns the number of draws under a protocol: tuned ones train on each draw about ten
// times.
func (o Options) runs(p Protocol) int {
	if p == Paper {
		return o.Runs
	}
	return o.TunedRuns
}

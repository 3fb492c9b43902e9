package experiment

import (
	"errors"
	"fmt"
	"math"
	"slices"
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

package main

import (
	"math"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

// priorFlags fix what is otherwise chosen or left at its default: options that
// treeloss tune finds.
type priorFlags struct {
	prior float64
	rho   float64
}

func (f *priorFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.Float64Var(&f.prior, "prior", 0, "prior variance of the weights: larger is less regularisation (default chosen on held-out rows)")
	flags.Float64Var(&f.rho, "rho", 0, "class-specific variance, relative to the shared part; 0 for the default of the source")
}

// decays tells what a trainer holds weights back by in place of a prior, "" if
// it uses the prior.
func decays(t softmax.Trainer) string {
	switch t := t.(type) {
	case softmax.AdamW:
		return "--trainer adamw, which has a --weight-decay in its place"
	case softmax.SGD:
		if t.WeightDecay != 0 {
			return "--weight-decay, which takes its place"
		}
	}
	return ""
}

// apply checks the flags and puts them into options, whose trainer is set.
func (f *priorFlags) apply(k *classinfo.Options, o *tune.Options) error {
	if !(f.prior >= 0) || math.IsInf(f.prior, 1) {
		return usagef("--prior %v, want a number above 0, such as 10, or 0 to try some", f.prior)
	}
	if !(f.rho >= 0) || math.IsInf(f.rho, 1) {
		return usagef("--rho %v, want a number above 0, such as 0.1, or 0 for the default", f.rho)
	}
	k.Rho = f.rho
	if f.prior > 0 {
		if other := decays(o.Trainer); other != "" {
			return usagef("--prior does nothing with %s; leave one out", other)
		}
		o.Priors = []float64{f.prior}
	}
	return nil
}

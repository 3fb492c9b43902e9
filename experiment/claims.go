package experiment

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Claim is one claim of the paper beside what came of it.
type Claim struct {
	Where    string `json:"where"`
	Says     string `json:"says"`
	Measured string `json:"measured"`
	Verdict  string `json:"verdict"`
}

// Verdicts. Each follows from the numbers beside it by a rule in this file.
const (
	holds     = "holds"
	fails     = "does not hold"
	partly    = "holds in part"
	slip      = "slip"
	notTested = "not measured by this command"
)

// Claims checks the paper's claims against the results. What results are needed
// but not there is said so.
func (r *Results) Claims() []Claim {
	return slices.Concat(r.accuracyClaims(), r.shapeClaims(), r.qualityClaims(), r.theoryClaims(), slips())
}

// sweepNamed returns a sweep's results, nil if it was not run.
func (r *Results) sweepNamed(name string) *SweepResult {
	for i := range r.Sweeps {
		if r.Sweeps[i].Name == name {
			return &r.Sweeps[i]
		}
	}
	return nil
}

// tallies adds up the tallies of V-tree minus another method over some sweeps,
// in words for each protocol, and tells whether it is above everywhere, or
// nowhere.
func (r *Results) tallies(sweeps []*SweepResult, method, minus Method) (text string, everywhere, anywhere bool) {
	var parts []string
	everywhere = true
	for _, protocol := range r.Options.Protocols {
		var sum Tally
		for _, s := range sweeps {
			if s == nil {
				continue
			}
			t := s.Tally(protocol, false, method, minus)
			sum.Above, sum.Below, sum.Neither, sum.Equal = sum.Above+t.Above, sum.Below+t.Below, sum.Neither+t.Neither, sum.Equal+t.Equal
		}
		if sum.Points() == 0 {
			continue
		}
		parts = append(parts, protocol.title()+": "+sum.sides())
		everywhere = everywhere && sum.Above == sum.Points()
		anywhere = anywhere || sum.Above > 0
	}
	return strings.Join(parts, "; "), everywhere && len(parts) > 0, anywhere
}

// sides turns the outcome of tallies into a claim. everywhere is what the paper
// says.
func (r *Results) sidesClaim(where, says string, sweeps []*SweepResult, method, minus Method) Claim {
	text, everywhere, anywhere := r.tallies(sweeps, method, minus)
	c := Claim{where, says, text, fails}
	switch {
	case text == "":
		c.Verdict = notTested
	case everywhere:
		c.Verdict = holds
	case anywhere:
		c.Verdict = partly
	}
	return c
}

func (r *Results) regimes() []*SweepResult {
	var out []*SweepResult
	for _, name := range []string{"data-regimes-n", "data-regimes-d", "data-regimes-k", "data-regimes-sigma"} {
		if s := r.sweepNamed(name); s != nil {
			out = append(out, s)
		}
	}
	return out
}

// WriteClaims writes the claims as a page in Markdown.
func (r *Results) WriteClaims(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# The paper's claims\n\n")
	fmt.Fprintf(b, "Made by `treeloss experiment all --out DIR`, which writes it as DIR/claims.md; do not change it by hand.\n\n")
	o := r.Options
	fmt.Fprintf(b, "Made with seed %d, true parameters %s, %d runs, %d under the tuned protocols; learning rate %s and start %s under the paper's. Differences are paired by run; brackets are 95 %% intervals; "+
		"“above” and “below” mean that the interval is on that side of 0. One pass and convergence are tuned for each method. "+
		"The verdicts follow from the numbers by fixed rules.\n\n", o.Seed, o.Truth, o.Runs, o.TunedRuns, number(o.Rate), o.Init)
	fmt.Fprintf(b, "| where | the paper says | we measured | verdict |\n|---|---|---|---|\n")
	clean := strings.NewReplacer("|", "\\|", "\n", " ")
	for _, c := range r.Claims() {
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", clean.Replace(c.Where), clean.Replace(c.Says), clean.Replace(c.Measured), clean.Replace(c.Verdict))
	}
	return b.Flush()
}

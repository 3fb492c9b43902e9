package experiment

import (
	"fmt"
	"math"
	"strings"
)

func (r *Results) accuracyClaims() []Claim {
	regimes := r.regimes()
	out := []Claim{
		r.sidesClaim("5.1.2, figure 2", "The tree loss outperforms cross entropy in all data regimes.", regimes, VTree, CrossEntropy),
		r.sidesClaim("5.1.2, figure 2", "The tree loss outperforms SimLoss in all data regimes.", regimes, VTree, SimLoss),
		r.sidesClaim("5.1.2, figure 2", "The tree loss outperforms the hierarchical softmax in all data regimes.", regimes, VTree, HierarchicalSoftmax),
		r.sidesClaim("3.2", "The V-tree loss improves on the U-tree loss.", append(regimes, r.sweepNamed("tree-shapes")), VTree, UTree),
	}
	step := r.sidesClaim("5.1.2", "(Ours: the gain is more than a longer step. Under one common learning rate the V-tree is above cross entropy whose rate is multiplied by the mean eigenvalue of the tree's kernel.)", regimes, VTree, ScaledCrossEntropy)
	out = append(out, step)
	out = append(out, r.baselineClaim(), r.tunedClaim(), r.middleClaim(), r.averagingClaim(), r.lowRankClaim())
	return out
}

// at writes a method's accuracy under each protocol, in points.
func (r *Results) at(s *SweepResult, x float64, methods ...Method) string {
	var out []string
	for _, protocol := range r.Options.Protocols {
		var parts []string
		for _, m := range methods {
			if row, ok := s.Find(protocol, false, m, x); ok {
				parts = append(parts, fmt.Sprintf("%s %s", m.title(), Interval{row.Accuracy.Mean, row.Accuracy.Low, row.Accuracy.High}.plain()))
			}
		}
		if len(parts) > 0 {
			out = append(out, protocol.title()+": "+strings.Join(parts, ", "))
		}
	}
	return strings.Join(out, "; ")
}

// plain is points without a sign.
func (i Interval) plain() string { return strings.TrimPrefix(i.points(), "+") }

func (r *Results) baselineClaim() Claim {
	c := Claim{"figure 2", "At n = 100, d = 64, k = 10, sigma = 1: tree 45 %, cross entropy 32.5 %, SimLoss 32.5 %, hierarchical softmax 27 % (read off).", "", notTested}
	s := r.sweepNamed("data-regimes-sigma")
	if s == nil {
		return c
	}
	c.Measured = r.at(s, 1, VTree, CrossEntropy, SimLoss, HierarchicalSoftmax)
	if row, ok := s.Find(Paper, false, VTree, 1); ok {
		c.Verdict = fails
		base, _ := s.Find(Paper, false, CrossEntropy, 1)
		if row.Difference.Above(0) && math.Abs(row.Accuracy.Mean-0.45) < 0.02 && math.Abs(base.Accuracy.Mean-0.325) < 0.02 {
			c.Verdict = holds
		}
	}
	return c
}

func (r *Results) middleClaim() Claim {
	c := Claim{"5.1.2, figure 2", "At small and large d the tree loss performs as the others; its advantage is in between.", "", notTested}
	s := r.sweepNamed("data-regimes-d")
	if s == nil {
		return c
	}
	var parts []string
	c.Verdict = fails
	for _, protocol := range r.Options.Protocols {
		t := s.Tally(protocol, false, VTree, CrossEntropy)
		if t.Points() == 0 {
			continue
		}
		first, _ := s.Find(protocol, false, VTree, s.Sweep.Points[0].X)
		last, _ := s.Find(protocol, false, VTree, s.Sweep.Points[len(s.Sweep.Points)-1].X)
		parts = append(parts, fmt.Sprintf("%s: d = %s %s, d = %s %s, most %s at d = %s", protocol.title(),
			number(first.X), first.Difference.points(), number(last.X), last.Difference.points(), t.Most.points(), number(t.MostX)))
		if t.Most.Above(0) && t.MostX != first.X && t.MostX != last.X && c.Verdict == fails {
			c.Verdict = partly
		}
	}
	c.Measured = "V-tree minus cross entropy, points: " + strings.Join(parts, "; ")
	return c
}

func (r *Results) averagingClaim() Claim {
	c := Claim{"appendix A.1", "The theory averages the parameters over the pass.", "", notTested}
	s := r.sweepNamed("data-regimes-n")
	if s == nil {
		return c
	}
	var parts []string
	for _, protocol := range []Protocol{Paper, OnePass} {
		if t := s.Tally(protocol, true, VTree, CrossEntropy); t.Points() > 0 {
			parts = append(parts, fmt.Sprintf("%s: V-tree minus cross entropy, both averaged, is %s values of n", protocol.title(), t.sides()))
		}
	}
	if len(parts) > 0 {
		c.Measured, c.Verdict = strings.Join(parts, "; "), "both are measured"
	}
	return c
}

// tunedClaim is about the paper's own setting when every method is tuned.
func (r *Results) tunedClaim() Claim {
	c := Claim{"5.1.2", "(Ours: at n = 100, d = 64, k = 10, sigma = 1 the V-tree equals cross entropy once each is tuned.)", "", notTested}
	s := r.sweepNamed("data-regimes-sigma")
	if s == nil {
		return c
	}
	var parts []string
	for _, protocol := range []Protocol{OnePass, Converged} {
		if row, ok := s.Find(protocol, false, VTree, 1); ok {
			parts = append(parts, fmt.Sprintf("%s: %s points", protocol.title(), row.Difference.points()))
			switch {
			case row.Difference.Above(0) || row.Difference.Below(0):
				c.Verdict = fails
			case c.Verdict == notTested:
				c.Verdict = holds
			}
		}
	}
	for _, t := range s.Trees {
		if t.X == 1 && len(parts) > 0 {
			parts = append(parts, fmt.Sprintf("a tree of base 2, the theory's convention, is a star in %s %% of the draws, and a V-star is cross entropy", percent(t.StarAtTwo)))
		}
	}
	c.Measured = strings.Join(parts, "; ")
	return c
}

// lowRankClaim is about the data of the authors' scripts.
func (r *Results) lowRankClaim() Claim {
	c := Claim{"the authors' scripts", "(Ours: where W* has rank 5, n = 300, k = 100, d = 64, the V-tree gains over cross entropy in one pass, each at its own best rate.)", "", notTested}
	s := r.sweepNamed("low-rank")
	if s == nil {
		return c
	}
	var parts []string
	for _, protocol := range r.Options.Protocols {
		if row, ok := s.Find(protocol, false, VTree, 300); ok {
			parts = append(parts, fmt.Sprintf("%s: %s points", protocol.title(), row.Difference.points()))
			if protocol == OnePass {
				c.Verdict = fails
				if row.Difference.Above(0) {
					c.Verdict = holds
				}
			}
		}
	}
	c.Measured = strings.Join(parts, "; ")
	return c
}

package experiment

import (
	"fmt"
	"math"

	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/sharing"
)

// theoryClaims are those that Norms measures.
func (r *Results) theoryClaims() []Claim {
	n := r.Norms
	claims := []Claim{
		{"5.1.3, figure 3", "‖W*‖ grows at the rate sqrt(k).", "", notTested},
		{"5.1.3, figure 3", "‖V*‖ grows more slowly than sqrt(k).", "", notTested},
		{"Lemma 2, appendix", "‖V*‖ <= ‖U*‖ (“by construction”).", "", notTested},
		{"Lemma 2", "‖U*‖ <= 2 sqrt(k) B for all trees.", "", notTested},
		{"before Lemma 2", "In the worst case ‖U*‖ = O(‖W*‖).", starExample(), fails},
		{"Assumption 1", "‖x‖ <= rho is the same as the loss being rho-Lipschitz, whatever the parameters.", "", notTested},
		{"Lemma 3", "‖U*‖ <= sqrt(5) lambda B sqrt(k^(1-1/c)) for c > 1.", "", notTested},
		{"Corollary 2", "So the bound for the tree loss is better than that for cross entropy.", "", notTested},
		{"Lemma 3", "(Ours: to read Lemma 3 as a rate in k, the doubling dimension c must not grow with k.)", "", notTested},
		{"4", "The cover tree is built in time O(k).", "", notTested},
		{"3.2", "V has up to twice as many rows as W.", "", notTested},
	}
	if n == nil {
		return claims
	}
	set := func(i int, ok bool, format string, args ...any) {
		claims[i].Measured, claims[i].Verdict = fmt.Sprintf(format, args...), fails
		if ok {
			claims[i].Verdict = holds
		}
	}
	k := n.Sweep.Points[len(n.Sweep.Points)-1].X
	at := func(name string) Interval {
		row, _ := n.Find(name, k)
		return row.Value
	}
	w, v, u := n.Exponent(NormW), n.Exponent(NormV), n.Exponent(NormU)
	set(0, math.Abs(w.Mean-0.5) < 0.01, "k to the power %v", w)
	set(1, v.Mean < 0.5 && !(v.High >= w.Low), "‖V*‖: k to the power %v (‖U*‖ %v; a random tree %v); k = %s: ‖W*‖ %v, ‖V*‖ %v", v, u, n.Exponent(NormVRandom), number(k), at(NormW), at(NormV))
	ratio, most, lemma, below := 0.0, 0.0, 0.0, 0
	for _, p := range n.Sweep.Points {
		mean := func(name string) float64 { row, _ := n.Find(name, p.X); return row.Value.Mean }
		vu, _ := n.Find(RatioVU, p.X)
		vw, _ := n.Find(RatioVW, p.X)
		ratio = max(ratio, vu.Most, vw.Most)
		most = max(most, mean(NormU)/mean(BoundU))
		lemma = max(lemma, mean(NormU)/mean(BoundTree))
		if mean(EffectiveV) < mean(NormW) {
			below++
		}
	}
	set(2, ratio <= 1+1e-9, "for the least-norm V with the root kept, ‖V*‖ is at most %s of the smaller of ‖U*‖ and ‖W*‖ in any run; also tested on 1,000 random trees. A V of differences, as the paper defines it, has the norm of U", short(ratio))
	set(3, most <= 1, "‖U*‖ is at most %s of the bound", short(most))
	set(5, false, "in W the largest gradient is sqrt(2) ‖x‖; in V it is longer by up to the root of half the longest way between two classes in the tree: %v at k = %s (in U %v)", at(LipschitzV), number(k), at(LipschitzU))
	set(6, lemma <= 1, "with c from a greedy cover and lambda = 1, ‖U*‖ is at most %s of the bound", short(lemma))
	claims[7].Measured = fmt.Sprintf("with the gradient's factor, ‖V*‖ × factor = %v and ‖W*‖ = %v at k = %s; powers of k %v and %v; smaller for the tree at %d of %d values of k",
		at(EffectiveV), at(NormW), number(k), n.Exponent(EffectiveV), w, below, len(n.Sweep.Points))
	claims[7].Verdict = verdictOf(below == len(n.Sweep.Points), below > 0)
	low, _ := n.Find(DoublingLow, n.Sweep.Points[0].X)
	high, _ := n.Find(DoublingHigh, n.Sweep.Points[0].X)
	set(8, at(DoublingLow).Mean < high.Value.Mean && at(DoublingHigh).Mean <= 2*high.Value.Mean,
		"c between %s and %s at k = %s, between %s and %s at k = %s (true parameters in %d dimensions)", short(low.Value.Mean), short(high.Value.Mean), number(n.Sweep.Points[0].X),
		short(at(DoublingLow).Mean), short(at(DoublingHigh).Mean), number(k), n.Sweep.Fixed.D)
	d := n.Exponent(Distances)
	set(9, d.High < 0.05, "for these metrics %v distances a class at k = %s, growing as k to the power %v; with a bounded expansion constant our tests find about log k", at(Distances), number(k), d)
	set(10, true, "a cover tree has at most k - 1 inner nodes (checked by its tests)")
	return claims
}

func verdictOf(all, some bool) string {
	switch {
	case all:
		return holds
	case some:
		return partly
	}
	return fails
}

// starExample computes the worst case of ‖U*‖ over ‖W*‖: a star whose root class
// alone has weights.
func starExample() string {
	const k = 100
	nested := labeltree.Nested{Label: "0", Children: []labeltree.Nested{{Label: "0"}}}
	for i := 1; i < k; i++ {
		nested.Children = append(nested.Children, labeltree.Nested{Label: fmt.Sprint(i)})
	}
	t, err := labeltree.FromNested(nested, labeltree.UTree)
	if err != nil {
		return err.Error()
	}
	w, u := make([]float64, k), make([]float64, k)
	w[0] = 1
	if err := sharing.NewOperator[float64](sharing.NewTree(t)).MinNorm(u, w, 1); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("a star of %d classes of which the root alone has weights: ‖U*‖ = %s ‖W*‖ = sqrt(k) ‖W*‖. The bound 2 sqrt(k) B is not touched by this", k, short(sharing.FrobeniusNorm(u)))
}

// slips are mistakes in print, which no run can change.
func slips() []Claim {
	const height = 10 // r of Lemma 3's proof at k = 1024, c = 1/2
	return []Claim{
		{"Eqs. 1 and 4", "Scores are exp(-w·x).", "W -> -W: no prediction changes (a test here); we write exp(w·x).", slip + ", harmless"},
		{"Eq. 2", "u_i = w_parent(i) - w_i.", "Contradicts the paper's own w_i = sum of u_j over the path; it must be w_i - w_parent(i).", slip + ", harmless"},
		{"Eq. 3", "w_i = sum over j in P_i of u_i.", "The index must be u_j.", slip},
		{"Corollary 2", "The rate for c <= 1 is divided by “sqrt(2)n”.", "Lemmas 1 and 3 give sqrt(2n).", slip},
		{"Lemma 3, proof", "r + 1 = log2 k/(2c) <= log2 k/2.", fmt.Sprintf("At k = 1024, c = 1/2: r = log2 k/(2c) = %d, so r + 1 = %d, but log2 k/2 = %g. The + 1 is lost, and the inequality is wrong for every c < 1.", height, height+1, math.Log2(1024)/2), slip},
		{"4", "At a node of depth i the distance to the parent is at most base^-i.", "True only for a metric whose largest distance from the root is 1; our levels carry that distance.", slip},
	}
}

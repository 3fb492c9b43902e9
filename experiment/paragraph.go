package experiment

import (
	"fmt"
	"slices"
	"strings"
)

// Paragraph says what holds in a sweep, from its numbers alone. "Above" and
// "below" mean that the 95 % interval of the paired difference lies on that side
// of 0.
func (r *Results) Paragraph(s *SweepResult) string {
	letter := s.Sweep.letter()
	var out []string
	for _, protocol := range r.Options.Protocols {
		averaged := r.Options.Averaged && protocol != Converged
		t := s.Tally(protocol, averaged, VTree, CrossEntropy)
		if t.Points() == 0 {
			continue
		}
		head := fmt.Sprintf("Under the %s (%s, %d runs)", protocol.title(), r.detail(protocol), r.Options.runs(protocol))
		if protocol != Paper {
			head = fmt.Sprintf("With %s (%s, %d runs)", protocol.title(), r.detail(protocol), r.Options.runs(protocol))
		}
		out = append(out, fmt.Sprintf("%s the V-tree's accuracy minus that of cross entropy is %s places, %s.", head, t.sides(), t.span(letter)))
		if averaged {
			continue
		}
		if t := s.Tally(protocol, false, VTree, ScaledCrossEntropy); t.Points() > 0 {
			out = append(out, fmt.Sprintf("Minus that of cross entropy with the V-tree's step length it is %s.", t.sides()))
		}
		if t := s.Tally(protocol, false, VTree, UTree); t.Points() > 0 {
			out = append(out, fmt.Sprintf("V-tree minus U-tree: %s.", t.sides()))
		}
	}
	if text := r.verdict(s); text != "" {
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// detail says what a protocol fixes or tunes.
func (r *Results) detail(protocol Protocol) string {
	switch protocol {
	case Paper:
		return fmt.Sprintf("learning rate %s, start: %s", number(r.Options.Rate), r.Options.Init)
	case OnePass:
		return fmt.Sprintf("%s to %s", number(Rates()[0]), number(slices.Max(Rates())))
	}
	return fmt.Sprintf("%s to %s", number(Priors()[0]), number(slices.Max(Priors())))
}

// verdict compares the protocols at the places of a sweep.
func (r *Results) verdict(s *SweepResult) string {
	if !slices.Contains(r.Options.Protocols, Paper) || len(r.Options.Protocols) < 2 {
		return ""
	}
	var above, kept int
	for _, p := range s.Sweep.Points {
		row, ok := s.Find(Paper, r.Options.Averaged, VTree, p.X)
		if !ok || !row.Difference.Above(0) {
			continue
		}
		above++
		all := true
		for _, protocol := range r.Options.Protocols {
			if protocol == Paper {
				continue
			}
			tuned, ok := s.Find(protocol, r.Options.Averaged && protocol == OnePass, VTree, p.X)
			all = all && ok && tuned.Difference.Above(0)
		}
		if all {
			kept++
		}
	}
	if above == 0 {
		return "Under the paper's protocol there is no place where the V-tree is above cross entropy."
	}
	return fmt.Sprintf("Of the %d places where the V-tree is above cross entropy under the paper's protocol, it is so under each tuned protocol too at %d.", above, kept)
}

// NormsParagraph says what holds of the norms.
func (r *Results) NormsParagraph() string {
	n := r.Norms
	if n == nil {
		return ""
	}
	last := n.Sweep.Points[len(n.Sweep.Points)-1].X
	at := func(name string) Interval {
		row, _ := n.Find(name, last)
		return row.Value
	}
	return fmt.Sprintf("From k = %d on, ‖W*‖ grows as k to the power %v, ‖U*‖ %v, the least-norm ‖V*‖ %v, and that of a tree that knows nothing of W* %v (slopes of lines in logarithms, %d runs). "+
		"At k = %s: ‖W*‖ %v, ‖U*‖ %v, ‖V*‖ %v. The gradient in V can be longer than that in W by a factor of %v there, which the paper's bound leaves out: "+
		"‖V*‖ times the factor is %v and grows with the power %v. The doubling dimension of the drawn metric lies between %v and %v at k = %s.",
		ExponentsFrom, n.Exponent(NormW), n.Exponent(NormU), n.Exponent(NormV), n.Exponent(NormVRandom), r.Options.Runs,
		number(last), at(NormW), at(NormU), at(NormV), at(LipschitzV), at(EffectiveV), n.Exponent(EffectiveV),
		short(at(DoublingLow).Mean), short(at(DoublingHigh).Mean), number(last))
}

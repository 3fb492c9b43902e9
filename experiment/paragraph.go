package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Paragraph says what holds in a sweep, from its numbers alone. "Above" and
// "below" mean that the 95 % interval of the paired difference lies on that side
// of 0.
func (r *Results) Paragraph(s *SweepResult) string { return strings.Join(r.paragraphs(s), " ") }

// paragraphs is Paragraph in parts: the protocols against each other, then each
// protocol.
func (r *Results) paragraphs(s *SweepResult) (out []string) {
	if text := r.verdict(s); text != "" {
		out = append(out, text)
	}
	letter := s.Sweep.letter()
	for _, protocol := range r.Options.Protocols {
		averaged := r.Options.Averaged && protocol != Converged
		t := s.Tally(protocol, averaged, VTree, CrossEntropy)
		if t.Points() == 0 {
			continue
		}
		title := protocol.title()
		text := fmt.Sprintf("%s (%s, %d runs): V-tree minus cross entropy is %s values of %s, %s.",
			strings.ToUpper(title[:1])+title[1:], r.detail(protocol), r.Options.runs(protocol), t.sides(), letter, t.span(letter))
		if row, ok := s.Find(protocol, averaged, VTree, s.Sweep.Focus); ok {
			base, _ := s.Find(protocol, averaged, CrossEntropy, s.Sweep.Focus)
			text += fmt.Sprintf(" At %s = %s the V-tree has %s %%, cross entropy %s %%: %s.", letter, number(s.Sweep.Focus),
				percent(row.Accuracy.Mean), percent(base.Accuracy.Mean), row.Difference.words())
		}
		if !averaged {
			if t := s.Tally(protocol, false, VTree, ScaledCrossEntropy); t.Points() > 0 {
				text += fmt.Sprintf(" Minus cross entropy whose step is as long as the V-tree's it is %s.", t.sides())
			}
			if t := s.Tally(protocol, false, VTree, UTree); t.Points() > 0 {
				text += fmt.Sprintf(" V-tree minus U-tree is %s.", t.sides())
			}
		}
		out = append(out, text)
	}
	return out
}

// words says what a difference to cross entropy means.
func (i Interval) words() string {
	switch {
	case i.Above(0):
		return "above by " + i.points() + " points"
	case i.Below(0):
		return "below, by " + i.points() + " points"
	case i.Low == 0 && i.High == 0:
		return "the same in every run"
	case math.IsNaN(i.Low):
		return "a difference of " + i.points() + " points in one run"
	}
	return "equal within the interval, " + i.points() + " points"
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
	places := "places"
	if above == 1 {
		places = "place"
	}
	return fmt.Sprintf("Under the paper's protocol the V-tree is above cross entropy at %d %s; at %d of these it is so under each tuned protocol too.", above, places, kept)
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

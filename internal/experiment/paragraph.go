package experiment

import (
	"fmt"
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
	if places, ok := r.places(s); ok {
		out = append(out, written("places", places))
	}
	for _, protocol := range r.Options.Protocols {
		averaged := r.averaged(protocol)
		p := paragraph{Protocol: protocol, Detail: r.detail(protocol), Runs: r.Options.runs(protocol), Letter: s.Sweep.letter(),
			Tally: s.Tally(protocol, averaged, VTree, CrossEntropy)}
		if p.Tally.Points() == 0 {
			continue
		}
		if row, ok := s.Find(protocol, averaged, VTree, s.Sweep.Focus); ok {
			base, _ := s.Find(protocol, averaged, CrossEntropy, s.Sweep.Focus)
			p.Rows = []Row{row, base}
		}
		if !averaged {
			p.Step, p.UTree = s.Tally(protocol, false, VTree, ScaledCrossEntropy), s.Tally(protocol, false, VTree, UTree)
		}
		out = append(out, written("protocol", p))
	}
	return out
}

// paragraph is what there is to say of a sweep under one protocol.
type paragraph struct {
	Protocol           Protocol
	Detail             string
	Runs               int
	Letter             string // of what varies
	Tally, Step, UTree Tally  // V-tree minus cross entropy, minus that with its step, minus U-tree
	Rows               []Row  // V-tree and cross entropy at the sweep's focus
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

// places are those at which the V-tree is above cross entropy under the paper's
// protocol, and how many of them keep that under each tuned one.
type places struct{ Above, Kept int }

// places compares the protocols at the places of a sweep.
func (r *Results) places(s *SweepResult) (out places, ok bool) {
	if !slices.Contains(r.Options.Protocols, Paper) || len(r.Options.Protocols) < 2 {
		return out, false
	}
	for _, p := range s.Sweep.Points {
		above := func(protocol Protocol) bool {
			row, ok := s.Find(protocol, r.averaged(protocol), VTree, p.X)
			return ok && row.Difference.Above(0)
		}
		if !above(Paper) {
			continue
		}
		out.Above++
		if !slices.ContainsFunc(r.Options.Protocols, func(protocol Protocol) bool { return !above(protocol) }) {
			out.Kept++
		}
	}
	return out, true
}

// NormsParagraph says what holds of the norms.
func (r *Results) NormsParagraph() string {
	if r.Norms == nil {
		return ""
	}
	return written("norms", r.theory())
}

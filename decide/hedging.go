package decide

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/treeloss/treeloss/score"
)

// Hedging counts hedged answers: how often they are right, and how much they
// say. It keeps counts only, O(nodes) of them, so that neither the order of the
// examples nor how they are split over several that are merged changes a bit of
// its Report. It is not safe for concurrent use.
type Hedging struct {
	tree     *Tree
	examples int
	unknown  int
	right    int
	groups   []int // answers by node, those of a single class left out
	classes  []int // answers of a single class, by class
	hits     int   // right ones among these
}

// NewHedging returns a Hedging for answers over a tree.
func NewHedging(d *Tree) *Hedging {
	return &Hedging{tree: d, groups: make([]int, d.tree.Len()), classes: make([]int, d.Classes())}
}

// Add counts the answer to one example and its true class, score.Unknown for a
// label that was never trained: no answer is right for it, not even the root. A
// truth that is no class and an answer that is none of the tree's are errors;
// nothing is counted then.
func (h *Hedging) Add(truth int, answer Hedged) error {
	t := h.tree.tree
	if truth < score.Unknown || truth >= t.Classes() {
		return fmt.Errorf("decide: example %d: true class %d, want 0 to %d or %d for a label never trained", h.examples, truth, t.Classes()-1, score.Unknown)
	}
	if answer.Node < 0 || answer.Node >= t.Len() || answer.Class != None && answer.Class != t.Class(answer.Node) {
		return fmt.Errorf("decide: example %d: the answer of node %d and class %d is none of this tree, want one from Hedge with it", h.examples, answer.Node, answer.Class)
	}
	h.examples++
	single := answer.Class != None
	if single {
		h.classes[answer.Class]++
	} else {
		h.groups[answer.Node]++
	}
	if truth == score.Unknown {
		h.unknown++
		return nil
	}
	if h.tree.Holds(answer, truth) {
		h.right++
		if single {
			h.hits++
		}
	}
	return nil
}

// Merge adds the examples of other to h. Another tree is an error.
func (h *Hedging) Merge(other *Hedging) error {
	if h.tree.tree != other.tree.tree {
		return fmt.Errorf("decide: merge answers over a tree of %d classes into those over another of %d, want the same tree", other.tree.Classes(), h.tree.Classes())
	}
	h.examples += other.examples
	h.unknown += other.unknown
	h.right += other.right
	h.hits += other.hits
	for v, n := range other.groups {
		h.groups[v] += n
	}
	for c, n := range other.classes {
		h.classes[c] += n
	}
	return nil
}

// HedgingReport says what became of hedged answers. Shares are fractions of all
// examples. What is not known is NaN here and null in JSON: all without
// examples, ClassAccuracy if no single class was answered, InformationShare
// with one class.
type HedgingReport struct {
	Accuracy         float64 // share whose true class is among those of the answer
	ClassShare       float64 // share answered with a single class: the coverage
	ClassAccuracy    float64 // share of these that is right
	RootShare        float64 // share answered with the root, which says nothing
	MeanDepth        float64 // edges from the root to the answer
	MeanInformation  float64 // log2(k) - log2(classes of the answer), in bits, right or wrong
	InformationShare float64 // MeanInformation / log2(k): 1 if all answers are single classes
	Examples         int
	Unknown          int // examples whose label was never trained, wrong by their nature
}

// Report returns the totals so far, in O(nodes).
func (h *Hedging) Report() HedgingReport {
	nan := math.NaN()
	r := HedgingReport{nan, nan, nan, nan, nan, nan, nan, h.examples, h.unknown}
	if h.examples == 0 {
		return r
	}
	t, n := h.tree.tree, float64(h.examples)
	single, depth, bits := 0, 0, 0.0
	all := math.Log2(float64(t.Classes()))
	for v, count := range h.groups {
		depth += count * h.tree.depth[v]
		bits += float64(count) * (all - math.Log2(float64(h.tree.below[v])))
	}
	for c, count := range h.classes {
		v := t.Node(c)
		single += count
		depth += count * h.tree.depth[v]
		if !t.IsLeaf(v) {
			depth += count
		}
	}
	bits += float64(single) * all
	r.Accuracy = float64(h.right) / n
	r.ClassShare = float64(single) / n
	if single > 0 {
		r.ClassAccuracy = float64(h.hits) / float64(single)
	}
	r.RootShare = float64(h.groups[0]) / n
	r.MeanDepth = float64(depth) / n
	r.MeanInformation = bits / n
	if all > 0 {
		r.InformationShare = r.MeanInformation / all
	}
	return r
}

// MarshalJSON writes the keys accuracy, class_share, class_accuracy,
// root_share, mean_depth, mean_information, information_share, examples and
// unknown_labels, and null for a number that is not known.
func (r HedgingReport) MarshalJSON() ([]byte, error) {
	number := func(x float64) *float64 {
		if math.IsNaN(x) {
			return nil
		}
		return &x
	}
	return json.Marshal(struct {
		Accuracy         *float64 `json:"accuracy"`
		ClassShare       *float64 `json:"class_share"`
		ClassAccuracy    *float64 `json:"class_accuracy"`
		RootShare        *float64 `json:"root_share"`
		MeanDepth        *float64 `json:"mean_depth"`
		MeanInformation  *float64 `json:"mean_information"`
		InformationShare *float64 `json:"information_share"`
		Examples         int      `json:"examples"`
		Unknown          int      `json:"unknown_labels"`
	}{
		number(r.Accuracy), number(r.ClassShare), number(r.ClassAccuracy), number(r.RootShare),
		number(r.MeanDepth), number(r.MeanInformation), number(r.InformationShare), r.Examples, r.Unknown,
	})
}

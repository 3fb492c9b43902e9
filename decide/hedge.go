package decide

import "github.com/treeloss/treeloss/matrix"

// Hedged is an answer that may be a group of classes: those at or below a node
// of a tree.
type Hedged struct {
	Node        int     `json:"node"`        // of the tree; 0, the root, says nothing
	Class       int     `json:"class"`       // the class if the answer is a single one, else None
	Probability float64 `json:"probability"` // of the classes of the answer together
	Depth       int     `json:"depth"`       // edges from the root
	Classes     int     `json:"classes"`     // how many the answer leaves open
}

// Hedge returns the deepest node whose classes together have at least the
// probability confidence: "dog" when it cannot tell which breed. The root
// always does. Among nodes of one depth the more probable wins, then the first
// in preorder. A leaf is an answer of one class.
//
// A class that sits on an inner node, as in a U-tree, counts as a leaf one step
// below it: the answer is then that node with Class set.
//
// A larger confidence never gives a deeper node. Above 0.5 at most one node of
// a depth qualifies, so the answer to a larger confidence holds that to a
// smaller one. At 0.5 and below, nodes that have nothing in common may reach
// it, and the deepest need not be the most probable.
//
// Probabilities are relative to their sum, and one that misses the confidence
// by no more than 1e-6, which rounding can do, reaches it. If they are
// calibrated, the answers to confidence P are right in P of all cases or more.
// A confidence outside 0..1 is an error. It takes O(nodes) and allocates
// nothing once warm.
func Hedge[T matrix.Float](d *Tree, p []T, confidence float64) (Hedged, error) {
	if err := checkFraction("confidence", confidence); err != nil {
		return Hedged{}, err
	}
	if err := check(p, d.Classes()); err != nil {
		return Hedged{}, err
	}
	n := d.tree.Len()
	memory := d.memory.get(n)
	defer d.memory.put(memory)
	mass := *memory
	masses(d, mass, p)
	total := mass[0]
	enough := (confidence - slack) * total
	best := Hedged{Depth: -1}
	take := func(h Hedged) {
		if h.Depth > best.Depth || h.Depth == best.Depth && h.Probability > best.Probability {
			best = h
		}
	}
	for v := 0; v < n; {
		if mass[v] < enough { // nor does anything below
			v = d.tree.End(v)
			continue
		}
		class := d.tree.Class(v)
		if d.tree.IsLeaf(v) {
			take(Hedged{v, class, mass[v], d.depth[v], 1})
		} else {
			take(Hedged{v, None, mass[v], d.depth[v], d.below[v]})
			if class >= 0 && float64(p[class]) >= enough {
				take(Hedged{v, class, float64(p[class]), d.depth[v] + 1, 1})
			}
		}
		v++
	}
	best.Probability = min(best.Probability/total, 1)
	return best, nil
}

// Path returns the names of the nodes from the root to the answer, in a slice
// of its own.
func (d *Tree) Path(h Hedged) []string {
	path := make([]string, d.depth[h.Node]+1)
	for v, i := h.Node, len(path)-1; i >= 0; v, i = d.tree.Parent(v), i-1 {
		path[i] = d.tree.Name(v)
	}
	return path
}

// Holds tells whether a class is among those of the answer.
func (d *Tree) Holds(h Hedged, class int) bool {
	if h.Class != None {
		return class == h.Class
	}
	v := d.tree.Node(class)
	return h.Node <= v && v < d.tree.End(h.Node)
}

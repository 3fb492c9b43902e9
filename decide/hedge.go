package decide

// hedge answers with the deepest node whose classes together have at least the
// probability of the confidence: "dog" when it cannot tell which breed. The root
// always does. Among nodes of one depth the more probable wins, then the first in
// preorder. A leaf is an answer of one class.
//
// A class that sits on an inner node, as in a U-tree, counts as a leaf one step
// below it: the answer is then that node with its class.
//
// A larger confidence never gives a deeper node. Above 0.5 at most one node of a
// depth qualifies, so the answer to a larger confidence holds that to a smaller
// one. At 0.5 and below, nodes that have nothing in common may reach it, and the
// deepest need not be the most probable.
//
// Probabilities are relative to their sum, and one that misses the confidence by
// no more than 1e-6, which rounding can do, reaches it. If they are calibrated, the
// answers to confidence P are right in P of all cases or more.
func (d *Decider) hedge(p []float32) Answer {
	t := d.tree
	n := t.Len()
	mass := d.work[:n]
	t.masses(mass, p)
	total := mass[0]
	enough := (d.rule.Confidence - slack) * total
	best, probability, class := Answer{Depth: -1}, 0.0, None
	take := func(v, c int, mass float64, depth, open int) {
		if depth > best.Depth || depth == best.Depth && mass > probability {
			best, probability, class = Answer{Node: v, Depth: depth, Classes: open}, mass, c
		}
	}
	for v := 0; v < n; {
		if mass[v] < enough { // nor does anything below
			v = t.End(v)
			continue
		}
		c := t.Class(v)
		if t.IsLeaf(v) {
			take(v, c, mass[v], t.depth[v], 1)
		} else {
			take(v, None, mass[v], t.depth[v], t.below[v])
			if c >= 0 && float64(p[c]) >= enough {
				take(v, c, float64(p[c]), t.depth[v]+1, 1)
			}
		}
		v++
	}
	d.choices = append(d.choices[:0], Choice{Class: class, Probability: min(probability/total, 1)})
	best.Choices = d.choices
	if best.Rejected = d.rule.RejectRoot && best.Node == 0 && class == None; best.Rejected {
		d.choices[0].Probability = t.belowRoot(mass, p) / total
	}
	return best
}

// Path returns the names of the nodes from the root to a hedged answer, in a slice
// of its own.
func (d *Decider) Path(a Answer) []string {
	path := make([]string, d.tree.depth[a.Node]+1)
	for v, i := a.Node, len(path)-1; i >= 0; v, i = d.tree.Parent(v), i-1 {
		path[i] = d.tree.Name(v)
	}
	return path
}

// Holds tells whether a class is among those of a hedged answer.
func (d *Decider) Holds(a Answer, class int) bool {
	if c := a.Choices[0].Class; c != None {
		return class == c
	}
	v := d.tree.Node(class)
	return a.Node <= v && v < d.tree.End(a.Node)
}

package labeltree

import "github.com/treeloss/treeloss/metric"

// Distance returns the space of the classes of t at the number of edges on the
// way from the node of one to the node of the other. A distance takes time in
// proportion to the depth of the two.
func Distance(t *Tree) metric.Space {
	depth := t.depths()
	return metric.Func(t.Classes(), func(i, j int) float64 {
		a, b := t.node[i], t.node[j]
		return float64(depth[a] + depth[b] - 2*depth[t.LCA(a, b)])
	})
}

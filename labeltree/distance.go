package labeltree

import "github.com/treeloss/treeloss/metric"

// Distance returns the space of the classes of t at the number of edges on the
// way from the node of one to the node of the other. A distance takes time in
// proportion to the depth of the two.
func Distance(t *Tree) metric.Space {
	depth := make([]float64, t.Len())
	for v := 1; v < t.Len(); v++ {
		depth[v] = depth[t.parent[v]] + 1
	}
	return &ways{t: t, down: depth}
}

// LengthDistance returns the space of the classes of t at the sum of the
// lengths of the edges on the way from one to the other. Two classes may be 0
// apart, where lengths are 0.
func LengthDistance(t *Tree) metric.Space {
	down := make([]float64, t.Len())
	for v := 1; v < t.Len(); v++ {
		down[v] = down[t.parent[v]] + t.Length(v)
	}
	return &ways{t: t, down: down}
}

// ways is the space of the paths in a tree; down is the way from the root.
type ways struct {
	t    *Tree
	down []float64
}

func (w *ways) Len() int { return w.t.Classes() }

func (w *ways) Distance(i, j int) float64 {
	a, b := w.t.node[min(i, j)], w.t.node[max(i, j)]
	top := w.down[w.t.LCA(a, b)]
	return (w.down[a] - top) + (w.down[b] - top) // two steps down, neither below 0
}

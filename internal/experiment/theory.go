package experiment

import (
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/internal/theory"
	"github.com/treeloss/treeloss/labeltree"
)

// Names of the numbers of a cell of Norms.
const (
	NormW        = "norm W"        // ‖W*‖
	NormU        = "norm U"        // ‖U*‖, U_i = w_i - w_parent
	NormV        = "norm V"        // of the least-norm V with A V = W*, root kept
	NormVRandom  = "norm V random" // the same for a tree that knows nothing of W*
	LipschitzU   = "lipschitz U"   // of the loss in U, over that in W
	LipschitzV   = "lipschitz V"   // of the loss in V, over that in W
	DoublingLow  = "doubling low"  // bounds of the doubling dimension of the metric
	DoublingHigh = "doubling high"
	LargestW     = "B"   // largest ‖w_i‖: Assumption 2
	LargestX     = "rho" // largest ‖x‖ of the training examples: Assumption 1
	TreeHeight   = "height"
	Distances    = "distances a class" // that building the cover tree takes
)

// norms computes a cell of Norms.
func (c *cell) norms() (Values, error) {
	g := c.draw
	n, err := newClassInfo(g, c.point.Base, 0)
	if err != nil {
		return nil, err
	}
	u, err := labeltree.U(n.cover, n.labels)
	if err != nil {
		return nil, err
	}
	v, err := labeltree.V(n.cover, n.labels)
	if err != nil {
		return nil, err
	}
	other, err := newClassInfo(g, c.point.Base, 1)
	if err != nil {
		return nil, err
	}
	random, err := labeltree.V(other.cover, n.labels)
	if err != nil {
		return nil, err
	}
	w := kernel.Transposed(g.truth.Data, g.k, g.d)
	out := Values{TreeHeight: float64(v.Height()), Distances: float64(n.cover.Distances()) / float64(g.k)}
	out[LargestW], out[NormW] = theory.Norms(w, g.k)
	for name, t := range map[string]*labeltree.Tree{NormU: u, NormV: v, NormVRandom: random} {
		if out[name], err = theory.LeastNorm(t, w); err != nil {
			return nil, err
		}
	}
	out[LipschitzU], out[LipschitzV] = theory.Stretch(u), theory.Stretch(v)
	dimension := theory.Doubling(n.space, nil, n.seed)
	out[DoublingLow], out[DoublingHigh] = dimension.Low, dimension.Max
	out[LargestX] = theory.LongestInput(g.examples(g.train, c.point.N, c.point.Sigma).X)
	return out, nil
}

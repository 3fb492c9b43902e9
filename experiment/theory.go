package experiment

import (
	"math"

	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/sharing"
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
	n, err := newKnowledge(g, c.point.Base, 0)
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
	other, err := newKnowledge(g, c.point.Base, 1)
	if err != nil {
		return nil, err
	}
	random, err := labeltree.V(other.cover, n.labels)
	if err != nil {
		return nil, err
	}
	w := make([]float64, len(g.truth.Data))
	for i, x := range g.truth.Data {
		w[i] = float64(x)
	}
	out := Values{NormW: sharing.FrobeniusNorm(w), TreeHeight: float64(v.Height()),
		Distances: float64(n.cover.Distances()) / float64(g.k)}
	for name, t := range map[string]*labeltree.Tree{NormU: u, NormV: v, NormVRandom: random} {
		if out[name], err = leastNorm(t, w, g.d); err != nil {
			return nil, err
		}
	}
	out[LipschitzU], out[LipschitzV] = lipschitz(u), lipschitz(v)
	out[DoublingLow], out[DoublingHigh] = doubling(n.space)
	for i := range g.k {
		out[LargestW] = max(out[LargestW], math.Sqrt(g.truth.SquaredNorm(i)))
	}
	ex := g.examples(g.train, c.point.N, c.point.Sigma)
	for i := range ex.y {
		out[LargestX] = max(out[LargestX], math.Sqrt(ex.x.SquaredNorm(i)))
	}
	return out, nil
}

// leastNorm returns the norm of the least-norm V with A V = w. The U of a
// U-tree is the only one there is.
func leastNorm(t *labeltree.Tree, w []float64, d int) (float64, error) {
	v := make([]float64, t.Len()*d)
	if err := sharing.NewOperator[float64](sharing.NewTree(t)).MinNorm(v, w, d); err != nil {
		return 0, err
	}
	return sharing.FrobeniusNorm(v), nil
}

// lipschitz returns by how much the gradient in V can be longer than that in W.
//
// The gradient in W is g xᵀ with g = p - e_y, that in V is Aᵀ g xᵀ. Both norms
// are convex in p, so both are largest at a corner, g = e_j - e_y: there the
// first is sqrt(2) ‖x‖ (the paper has ‖x‖), the second is the root of the number
// of nodes that are on one of the paths of j and y but not on both, times ‖x‖.
// That number is the number of edges between j and y.
func lipschitz(t *labeltree.Tree) float64 {
	return math.Sqrt(metric.MaxDistance(labeltree.Distance(t)) / 2)
}

// doubling returns bounds of the doubling dimension of a space: log2 of how
// many balls of radius r/2 are needed to cover a ball of radius r, at most. To
// find the number is hard, so it is bounded: points of the ball more than r
// apart each need a ball of their own, and a greedy choice of points more than
// r/2 apart covers the ball. Balls are tried around each point at six radii; of
// more than 100 points, around some 10,000 / k.
func doubling(s metric.Space) (low, high float64) {
	k := s.Len()
	stride := max(1, k*k/10_000)
	d := metric.Pairwise(s)
	at := func(i, j int) float64 {
		if i == j {
			return 0
		}
		return d[metric.Condensed(k, i, j)]
	}
	most, cover := 1, 1
	for i := 0; i < k; i += stride {
		far := 0.0
		for j := range k {
			far = max(far, at(i, j))
		}
		for _, share := range []float64{1, 0.9, 0.8, 0.7, 0.5, 0.25} {
			r := far * share
			var ball []int
			for j := range k {
				if at(i, j) <= r {
					ball = append(ball, j)
				}
			}
			most = max(most, apart(ball, at, r))
			cover = max(cover, apart(ball, at, r/2))
		}
	}
	return math.Log2(float64(most)), math.Log2(float64(cover))
}

// apart returns how many of the points a greedy choice finds that are all
// more than r apart; each other point is within r of one of them.
func apart(points []int, distance func(i, j int) float64, r float64) int {
	var found []int
next:
	for _, p := range points {
		for _, q := range found {
			if distance(p, q) <= r {
				continue next
			}
		}
		found = append(found, p)
	}
	return len(found)
}

// distortion returns the lambda of Assumption 3: the least number that brings
// each distance of the metric within a factor lambda of the distance of the true
// parameters. It is +Inf where one of two is 0 and the other is not, and so out of
// reach of real data.
func distortion(truth *matrix.Dense, s metric.Space) (float64, error) {
	own, err := metric.Euclidean(truth)
	if err != nil {
		return 0, err
	}
	lambda := 1.0
	for i := range s.Len() {
		for j := range i {
			a, b := own.Distance(i, j), s.Distance(i, j)
			if a != b {
				lambda = max(lambda, a/b, b/a)
			}
		}
	}
	return lambda, nil
}

// Lemma 3's bounds of ‖U*‖, with lambda = 1, for a doubling dimension c.
func lemma3(c, b, k float64) float64 {
	if c <= 1 {
		return b * math.Sqrt(math.Log2(k)/2)
	}
	return b * math.Sqrt(5*math.Pow(k, 1-1/c))
}

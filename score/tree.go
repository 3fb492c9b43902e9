package score

import (
	"math"

	"github.com/treeloss/treeloss/labeltree"
)

// Heights returns the height of each node of t: the number of edges on the
// longest way down from it to a leaf, 0 for a leaf. The height of the lowest
// common ancestor of two classes says how far apart they are (Bertinetto et al.
// 2020, "Making Better Mistakes"). It takes O(nodes).
func Heights(t *labeltree.Tree) []float64 {
	height := make([]float64, t.Len())
	for v := t.Len() - 1; v > 0; v-- { // children come before their parent
		up := t.Parent(v)
		height[up] = max(height[up], height[v]+1)
	}
	return height
}

// Depths returns the number of edges from each node of t to the root. It takes
// O(nodes).
func Depths(t *labeltree.Tree) []int {
	depth := make([]int, t.Len())
	for v := 1; v < t.Len(); v++ {
		depth[v] = depth[t.Parent(v)] + 1
	}
	return depth
}

// most is how many of the most probable classes the longer of the hierarchical
// distances looks at; the shorter one looks at top of them.
const most = 20

// mistakes measures how far from the truth predictions fall in a tree. It only
// counts, at each node, and multiplies by heights at the end.
type mistakes struct {
	tree   *labeltree.Tree
	height []float64
	depth  []int

	// At each node, how many of the 5 and of the 20 most probable classes have
	// it as the lowest common ancestor with the truth, the truth itself left out.
	inTop, inMost []int
}

// newMistakes counts nothing yet. Heights and depths of all nodes are worked out once.
func newMistakes(t *labeltree.Tree) *mistakes {
	return &mistakes{tree: t, height: Heights(t), depth: Depths(t), inTop: make([]int, t.Len()), inMost: make([]int, t.Len())}
}

// lca returns the lowest common ancestor of the nodes of two classes.
func (m *mistakes) lca(a, b int) int { return m.tree.LCA(m.tree.Node(a), m.tree.Node(b)) }

// add counts one example, given its most probable classes in order.
func (m *mistakes) add(truth int, first []int) {
	for n, c := range first {
		if c == truth {
			continue
		}
		v := m.lca(truth, c)
		m.inMost[v]++
		if n < top {
			m.inTop[v]++
		}
	}
}

// merge adds the counts of another part of the examples, on the same tree.
func (m *mistakes) merge(other *mistakes) {
	for v := range m.height {
		m.inTop[v] += other.inTop[v]
		m.inMost[v] += other.inMost[v]
	}
}

// sum adds up the heights of nodes, each as often as it was counted.
func (m *mistakes) sum(count []int) float64 {
	sum := 0.0
	for v, n := range count {
		sum += float64(n) * m.height[v]
	}
	return sum
}

// report fills in the numbers of r that need a tree, from the examples of c
// whose label is known.
func (m *mistakes) report(r *Report, c *Counter) {
	known := c.examples - c.unknown
	if known == 0 {
		return
	}
	apart := make([]int, len(m.height)) // predictions by lowest common ancestor
	wrong, shared, predicted, truths := 0, 0, 0, 0
	for key, count := range c.wrong {
		v := m.lca(int(key.truth), int(key.predicted))
		apart[v] += count
		wrong += count
		shared += count * m.depth[v]
		predicted += count * m.depth[m.tree.Node(int(key.predicted))]
	}
	for j := range c.k {
		depth := m.depth[m.tree.Node(j)]
		shared += c.hits[j] * depth
		predicted += c.hits[j] * depth
		truths += c.support[j] * depth
	}
	distance, n := m.sum(apart), float64(known)
	r.MistakeSeverity = quotient(distance, wrong)
	r.HierarchicalDistance1 = distance / n
	r.HierarchicalDistance5 = m.sum(m.inTop) / (n * float64(min(top, c.k)))
	r.HierarchicalDistance20 = m.sum(m.inMost) / (n * float64(min(most, c.k)))
	r.HierarchicalPrecision = quotient(float64(shared), predicted)
	r.HierarchicalRecall = quotient(float64(shared), truths)
	r.HierarchicalF1 = quotient(2*float64(shared), predicted+truths)
}

// quotient returns a/n, NaN for n = 0: nothing is known then.
func quotient(a float64, n int) float64 {
	if n == 0 {
		return math.NaN()
	}
	return a / float64(n)
}

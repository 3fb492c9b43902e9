package decide

import (
	"fmt"

	"github.com/treeloss/treeloss/matrix"
)

// Costs says what it costs to answer one class where another is right: a *Tree
// or a *Matrix.
type Costs interface {
	// Classes returns k.
	Classes() int

	// expect sets dst, one number a class, to its cost expected under p, where
	// p sums to any total; work is memory of workspace() numbers.
	expect(dst, p, work []float64)
	workspace() int
	lend() *scratch
}

// LeastCost returns the class whose answer has the lowest expected cost
//
//	R(c) = Σ_c' p_c' cost(c, c')
//
// and that cost; among equals the most probable, then the lowest class. The
// cost of a *Tree is the height of the lowest common ancestor of c and c',
// 0 for c = c': what mistake severity measures. This is the Bayes decision;
// Karthik et al. (2021) found that it makes the mistakes of a flat softmax less
// severe at hardly any loss of accuracy, with no training. Over a star it is
// Likely.
//
// It takes O(nodes) with a *Tree and O(k^2) with a *Matrix, and allocates
// nothing once warm.
func LeastCost[T matrix.Float](costs Costs, p []T) (class int, cost float64, err error) {
	memory := costs.lend().get(costs.Classes())
	defer costs.lend().put(memory)
	expected := *memory
	if err := ExpectedCosts(costs, expected, p); err != nil {
		return None, 0, err
	}
	best := 0
	for c, v := range expected {
		if v < expected[best] || v == expected[best] && p[c] > p[best] {
			best = c
		}
	}
	return best, expected[best], nil
}

// ExpectedCosts sets dst[c], one number a class, to the expected cost R(c) of
// LeastCost: for score.Counter.AddCosts, or to rank the runners-up. Another
// length of dst is an error.
func ExpectedCosts[T matrix.Float](costs Costs, dst []float64, p []T) error {
	k := costs.Classes()
	if len(dst) != k {
		return fmt.Errorf("decide: room for %d costs, want one for each of the %d classes", len(dst), k)
	}
	if err := check(p, k); err != nil {
		return err
	}
	memory := costs.lend().get(k + costs.workspace())
	defer costs.lend().put(memory)
	wide, work := (*memory)[:k], (*memory)[k:]
	total := 0.0
	for c, v := range p {
		wide[c] = float64(v)
		total += wide[c]
	}
	costs.expect(dst, wide, work)
	for c := range dst {
		dst[c] /= total
	}
	return nil
}

func (d *Tree) lend() *scratch { return &d.memory }

func (d *Tree) workspace() int { return 2 * d.tree.Len() }

// expect goes up the tree once and down once. With P(v) the probability of the
// classes at or below v and h its height, the classes whose lowest common
// ancestor with a class below v is the parent u of v have probability
// P(u) - P(v). So what the classes outside v cost for an answer below v is
//
//	D(root) = 0,   D(v) = D(u) + h(u) (P(u) - P(v)),
//
// and R(c) = D(v) + h(v) (P(v) - p_c) for the node v of c: the last term is 0 on
// a leaf. No difference is negative: see masses.
func (d *Tree) expect(dst, p, work []float64) {
	n := d.tree.Len()
	mass, outside := work[:n], work[n:2*n]
	masses(d, mass, p)
	for v := range n {
		outside[v] = 0
		if u := d.tree.Parent(v); u >= 0 {
			outside[v] = outside[u] + d.height[u]*(mass[u]-mass[v])
		}
		if c := d.tree.Class(v); c >= 0 {
			dst[c] = outside[v] + d.height[v]*(mass[v]-p[c])
		}
	}
}

// Matrix is a table of costs. It may be used by several goroutines.
type Matrix struct {
	cost   *matrix.Dense
	memory scratch
}

// NewMatrix returns the costs of a k x k matrix: row c, column c' is the cost
// of answering c where c' is right. They may be negative, and need be neither
// symmetric nor 0 on the diagonal. The matrix is kept: do not change it. One
// that is empty, not square or not finite is an error.
func NewMatrix(cost *matrix.Dense) (*Matrix, error) {
	if cost == nil || cost.Columns == 0 {
		return nil, fmt.Errorf("decide: an empty matrix of costs, want a row and a column for each class")
	}
	if err := cost.Check(); err != nil {
		return nil, fmt.Errorf("decide: costs: %w", err)
	}
	if cost.Rows() != cost.Columns {
		return nil, fmt.Errorf("decide: %d rows and %d columns of costs, want a row and a column for each class", cost.Rows(), cost.Columns)
	}
	return &Matrix{cost: cost}, nil
}

// Classes returns k.
func (m *Matrix) Classes() int { return m.cost.Columns }

func (m *Matrix) lend() *scratch { return &m.memory }

func (m *Matrix) workspace() int { return 0 }

func (m *Matrix) expect(dst, p, _ []float64) {
	for c := range dst {
		sum := 0.0
		for truth, cost := range m.cost.Row(c) {
			sum += p[truth] * float64(cost)
		}
		dst[c] = sum
	}
}

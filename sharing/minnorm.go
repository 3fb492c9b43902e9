package sharing

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/treeloss/treeloss/matrix"
)

// ErrSingular says that two classes cannot have different weights, or one can
// have none but 0: K has no inverse, so not every W is some A V.
var ErrSingular = errors.New("class kernel is singular")

// maxCondition is the condition number of K, its diagonal scaled to 1, from
// which on it counts as singular: beyond it V would have fewer than three
// digits, and rounding alone makes a singular K look like 1e16.
const maxCondition = 1e13

// inverse is what MinNorm finds once and keeps.
type inverse struct {
	err   error
	tree  treeInverse        // a Tree
	chol  mat.Cholesky       // others: of the K below
	scale []float64          // 1/sqrt(K_ii); chol is that of scale K scale
	op    *Operator[float64] // so that V has all digits that T can hold
}

// MinNorm sets v to the V of least Frobenius norm with A V = w, that is
// Aᵀ K⁻¹ w. v is m x cols, w is k x cols.
//
// For a tree it takes one pass up and one down, O(m cols); otherwise the first
// call on an Operator factors K in O(k³), and k above 12,800 is refused. The
// error wraps ErrSingular if K has no inverse; v is then left as it was.
func (o *Operator[T]) MinNorm(v, w []T, cols int) error {
	if s, ok := o.s.(None); ok {
		copy(v[:s.K*cols], w[:s.K*cols])
		return nil
	}
	if o.inverse == nil {
		o.inverse = newInverse(o.s)
	}
	if o.inverse.err != nil {
		return o.inverse.err
	}
	if s, ok := o.s.(*Tree); ok {
		minNormTree(s, &o.inverse.tree, v, w, cols)
		return nil
	}
	k, m := o.s.Classes(), o.s.Rows()
	p := mat.NewDense(k, cols, nil)
	for i, scale := range o.inverse.scale {
		for j := range cols {
			p.Set(i, j, scale*float64(w[i*cols+j]))
		}
	}
	if err := o.inverse.chol.SolveTo(p, p); err != nil {
		return fmt.Errorf("sharing: least-norm V of %d classes: %w: %w", k, ErrSingular, err)
	}
	for i, scale := range o.inverse.scale {
		for j := range cols {
			p.Set(i, j, scale*p.At(i, j))
		}
	}
	out := make([]float64, m*cols)
	o.inverse.op.Pull(out, p.RawMatrix().Data, cols)
	for i, x := range out {
		v[i] = T(x)
	}
	return nil
}

// newInverse prepares MinNorm. Any sharing but a tree goes by the Cholesky factor of D K D,
// D_ii = 1/sqrt(K_ii): with a diagonal of ones the condition number tells how alike the
// classes are, and not how long the features of some of them.
func newInverse(s Sharing) *inverse {
	inv := &inverse{}
	if t, ok := s.(*Tree); ok {
		inv.tree, inv.err = t.invert()
		return inv
	}
	gram, err := Gram(s)
	if err != nil {
		inv.err = err
		return inv
	}
	k := s.Classes()
	inv.scale = make([]float64, k)
	for i := range k {
		if inv.scale[i] = 1 / math.Sqrt(gram.At(i, i)); math.IsInf(inv.scale[i], 1) {
			inv.err = fmt.Errorf("sharing: least-norm V: class %d has no features: %w", i, ErrSingular)
			return inv
		}
	}
	for i := range k {
		for j := i; j < k; j++ {
			gram.SetSym(i, j, gram.At(i, j)*inv.scale[i]*inv.scale[j])
		}
	}
	if !inv.chol.Factorize(gram) || !(inv.chol.Cond() < maxCondition) {
		inv.err = fmt.Errorf("sharing: least-norm V of %d classes: features of one class are made up of those of others: %w", k, ErrSingular)
		return inv
	}
	inv.op = NewOperator[float64](s)
	return inv
}

// treeInverse is what the least-norm V of a tree needs besides W.
//
// Read V as independent Gaussian steps down the tree, one an edge, so that the
// place of a node is the sum of the steps to it, each times coef, with the
// variance coef² = the edge's length. The least-norm V is the expected step
// given that the walk stands at w[i] on class i's node. The way up finds for
// each node the mean and variance of its place given the classes below it; the
// way down fixes the places from the root. Variances do not depend on W.
type treeInverse struct {
	share []float64 // how far a node's mean moves the mean that its parent has from later siblings
	rate  []float64 // V of a node is rate times its mean less the parent's place
}

// invert makes the way up, from the leaves to the root. Node v tells its parent a mean of
// the variance step = variance(v) + length(v). Where children have told it x with variance
// s before, the two are joined as independent measurements are, by the weights of their
// inverse variances:
//
//	mean = x + s/(s+step) (mean of v - x),  variance = s step/(s+step)
//
// so that s/(s+step) is what treeInverse calls the share of v. Two measurements without
// variance cannot both hold: then K has no inverse.
func (s *Tree) invert() (treeInverse, error) {
	n := len(s.parent)
	inv := treeInverse{share: make([]float64, n), rate: make([]float64, n)}
	variance := make([]float64, n) // of the place given the classes below; a class knows its own
	for v := range variance {
		if s.tree.Class(v) < 0 {
			variance[v] = math.Inf(1)
		}
	}
	singular := func(format string, v int) (treeInverse, error) {
		return inv, fmt.Errorf("sharing: least-norm V: "+format+": %w", s.tree.Name(v), ErrSingular)
	}
	for v := n - 1; v >= 0; v-- {
		p := s.parent[v]
		step := variance[v] + s.coef[v]*s.coef[v] // from the parent's place to the mean of v
		if step > 0 {
			inv.rate[v] = s.coef[v] / step
		}
		switch {
		case p < 0:
			if step == 0 {
				return singular("the root %q has no length, and a class is at distance 0 from it", v)
			}
		case s.tree.Class(int(p)) >= 0: // the parent's place is known
			if step == 0 {
				return singular("class %q is at distance 0 from a class below it", int(p))
			}
		case math.IsInf(variance[p], 1):
			inv.share[v], variance[p] = 1, step
		case variance[p]+step == 0:
			return singular("two classes below %q are at distance 0", int(p))
		default:
			inv.share[v] = variance[p] / (variance[p] + step)
			variance[p] = step * inv.share[v]
		}
	}
	return inv, nil
}

// minNormTree is MinNorm of a tree, a column at a time.
func minNormTree[T matrix.Float](s *Tree, inv *treeInverse, v, w []T, cols int) {
	place := make([]float64, len(s.parent)) // on the way up the mean
	for col := range cols {
		clear(place)
		for c, n := range s.node {
			place[n] = float64(w[c*cols+col])
		}
		for n := len(place) - 1; n > 0; n-- {
			// A share of 0 leaves the place of a class alone.
			p := s.parent[n]
			place[p] += (place[n] - place[p]) * inv.share[n]
		}
		for n, p := range s.parent {
			above := 0.0
			if p >= 0 {
				above = place[p]
			}
			x := (place[n] - above) * inv.rate[n]
			place[n] = above + x*s.coef[n]
			v[n*cols+col] = T(x)
		}
	}
}

package classinfo

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/sharing"
)

// MaxGram is the largest k whose k x k inner products are taken apart, in O(k³) time:
// for distances, weights and means.
const MaxGram = 4000

// checkGram refuses as many classes as would take hours: a k x k matrix is decomposed.
func checkGram(source Source, k int) error {
	if k > MaxGram {
		return fmt.Errorf("sharing %s: %d classes, want at most %d; use names or a taxonomy", source, k, MaxGram)
	}
	return nil
}

// factor returns A with A Aᵀ the positive part of gram, k x k, or nil if that is
// 0. size is the sum of the diagonal before anything was taken off it, for what
// rounding can leave. O(k³).
func factor(source Source, gram *mat.SymDense, size float64) (*sharing.Dense, error) {
	k := gram.SymmetricDim()
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, true) {
		return nil, fmt.Errorf("sharing %s: the inner products of %d classes have no eigenvectors; are their numbers very large?", source, k)
	}
	values := eigen.Values(nil)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	// Centring and rounding leave eigenvalues that are 0 but for the last digits,
	// those of numbers in float32 too.
	least := max(1e-9*values[k-1], 1e-12*size)
	var keep []int
	for j, v := range values {
		if v > least {
			keep = append(keep, j)
		}
	}
	if len(keep) == 0 {
		return nil, nil
	}
	a := &sharing.Dense{K: k, M: len(keep), A: make([]float64, k*len(keep))}
	for n, j := range keep {
		root := math.Sqrt(values[j])
		for c := range k {
			a.A[c*len(keep)+n] = root * vectors.At(c, j)
		}
	}
	return a, nil
}

// distancesSharing returns a factor of the positive part of -C D² C / 2, D² the
// squared distances and C the centring: the points that have these distances, as
// nearly as points of a space can (classical scaling, Torgerson 1952). Distances
// of an ultrametric, such as the height of the lowest common ancestor, have such
// points, and K is then up to its centring H² - h², as Linkage makes it.
func distancesSharing(space metric.Space) (sharing.Sharing, error) {
	k := space.Len()
	if err := checkGram(Distances, k); err != nil {
		return nil, err
	}
	gram := mat.NewSymDense(k, nil)
	largest := metric.MaxDistance(space)
	if largest == 0 {
		return nil, fmt.Errorf("sharing distances: all classes are at one place; use another sharing")
	}
	for a := range k {
		for b := a + 1; b < k; b++ {
			d := space.Distance(a, b) / largest // squares stay finite
			gram.SetSym(a, b, -d*d/2)
		}
	}
	centre(gram, dataset.Range(0, k))
	a, err := factor(Distances, gram, mat.Trace(gram))
	if a == nil && err == nil {
		return nil, fmt.Errorf("sharing distances: all classes are at one place; use another sharing")
	}
	return a, err
}

// weightsSharing returns a factor of C G C, G the inner products of weights.
// There is no noise to take off, as for class means: a model does not tell how
// far its weights are from those of endless data, and its penalty has already
// drawn to 0 what few rows tell little of.
func weightsSharing(g *mat.SymDense) (sharing.Sharing, error) {
	k := g.SymmetricDim()
	gram := mat.NewSymDense(k, nil)
	gram.CopySym(g)
	size := mat.Trace(gram)
	centre(gram, dataset.Range(0, k))
	a, err := factor(Weights, gram, size)
	if a == nil && err == nil {
		return nil, fmt.Errorf("sharing weights: the model has the same weights for all classes; use another sharing")
	}
	return a, err
}

// weightDistances returns the angles between weights about their mean, which a
// softmax does not mind, from inner products. Straight lines would say how long
// the weights are, rather than which are alike: with weights of half of banking77
// they agree with the rows of the other half by -3 standard errors, angles by 43.
func weightDistances(g *mat.SymDense) metric.Space {
	k := g.SymmetricDim()
	c := mat.NewSymDense(k, nil)
	c.CopySym(g)
	centre(c, dataset.Range(0, k))
	return metric.Func(k, func(i, j int) float64 {
		a, b := c.At(i, i), c.At(j, j)
		switch {
		case i == j:
			return 0
		case !(a > 0 && b > 0): // at the mean, which points nowhere
			return math.Pi / 2
		}
		return math.Acos(max(-1, min(1, c.At(i, j)/math.Sqrt(a*b))))
	})
}

// WeightGram returns the inner products of the weights of some classes, in the
// order of pick, from the weights of k outputs, feature-major as
// softmax.Layer has them: weight[f*k+c]. Classes outside 0..k-1 panic, as they
// are a bug in the caller. O(features x picked²) time, 8 bytes a pair.
func WeightGram(weight []float32, k int, pick []int) *mat.SymDense {
	const block = 256 // features at a time
	n, features := len(pick), len(weight)/k
	gram := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: make([]float64, n*n)}
	part := blas64.General{Cols: n, Stride: n, Data: make([]float64, block*n)}
	for from := 0; from < features; from += block {
		part.Rows = min(block, features-from)
		for f := range part.Rows {
			row := weight[(from+f)*k : (from+f+1)*k]
			for a, c := range pick {
				part.Data[f*n+a] = float64(row[c])
			}
		}
		blas64.Syrk(blas.Trans, 1, part, 1, gram)
	}
	return mat.NewSymDense(n, gram.Data)
}

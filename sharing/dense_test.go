package sharing

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/treeloss/treeloss/covertree"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/metric"
)

// denseMatrix writes A out by its definition, with nothing of Operator.
func denseMatrix(s Sharing) *mat.Dense {
	a := mat.NewDense(s.Classes(), s.Rows(), nil)
	switch s := s.(type) {
	case None:
		for i := range s.K {
			a.Set(i, i, 1)
		}
	case *Tree:
		for c := range s.Classes() {
			for _, v := range s.LabelTree().Path(c) {
				a.Set(c, v, math.Sqrt(s.LabelTree().Length(v)))
			}
		}
	case *Features:
		for i := range s.E.Rows() {
			index, value := s.E.Row(i)
			for n, j := range index {
				a.Set(i, int(j), float64(value[n]))
			}
		}
	case *Dense:
		a.Copy(mat.NewDense(s.K, s.M, s.A))
	case *Sum:
		at := 0
		for _, p := range s.Parts() {
			part := denseMatrix(p.Sharing)
			part.Scale(p.Factor, part)
			a.Slice(0, s.Classes(), at, at+p.Sharing.Rows()).(*mat.Dense).Copy(part)
			at += p.Sharing.Rows()
		}
	}
	return a
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func labels(k int) []string {
	names := make([]string, k)
	for c := range names {
		names[c] = fmt.Sprintf("c%d", c)
	}
	return names
}

// randomSpace returns k random points of the plane.
func randomSpace(t testing.TB, rng *rand.Rand, k int) metric.Space {
	t.Helper()
	points := matrix.NewDense(k, 2)
	for i := range points.Data {
		points.Data[i] = float32(rng.NormFloat64())
	}
	space, err := metric.Euclidean(points)
	if err != nil {
		t.Fatal(err)
	}
	return space
}

// coverTrees returns the U-tree and the V-tree of one random cover tree.
func coverTrees(t testing.TB, rng *rand.Rand, k int) (u, v *labeltree.Tree) {
	t.Helper()
	ct, err := covertree.New(randomSpace(t, rng, k), covertree.Options{Base: []float64{1.3, 2}[rng.IntN(2)], Seed: rng.Uint64()})
	if err != nil {
		t.Fatal(err)
	}
	if u, err = labeltree.U(ct, labels(k)); err != nil {
		t.Fatal(err)
	}
	if v, err = labeltree.V(ct, labels(k)); err != nil {
		t.Fatal(err)
	}
	return u, v
}

// taxonomy returns a random tree of FromParents, where classes on inner nodes
// of the given hierarchy have got leaves.
func taxonomy(t testing.TB, rng *rand.Rand, k int) *labeltree.Tree {
	t.Helper()
	parents := make(map[string]string)
	for c := range k {
		parents[fmt.Sprintf("c%d", c)] = fmt.Sprintf("c%d", rng.IntN(c+1)-1)
	}
	parents["c0"] = "top"
	for c, p := range parents {
		if p == "c-1" {
			parents[c] = "top"
		}
	}
	tree, err := labeltree.FromParents(parents, labels(k))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func linkage(t testing.TB, rng *rand.Rand, k int) *labeltree.Tree {
	t.Helper()
	tree, err := labeltree.Linkage(randomSpace(t, rng, k), labels(k))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// weighted gives each node a random length. Edges of length 0 above
// pseudoclasses are among them: they are no reason for a singular K.
func weighted(t testing.TB, rng *rand.Rand, tree *labeltree.Tree) *labeltree.Tree {
	t.Helper()
	length := make([]float64, tree.Len())
	for v := range length {
		length[v] = 0.2 + rng.ExpFloat64()
		if tree.Class(v) < 0 && rng.IntN(3) == 0 {
			length[v] = 0
		}
	}
	out, err := tree.WithLengths(length)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// randomFeatures has k sparse rows; row 0 is empty if asked for.
func randomFeatures(t testing.TB, rng *rand.Rand, k, m int, emptyRow bool) *Features {
	t.Helper()
	e := &matrix.Sparse{Columns: m}
	for i := range k {
		var index []int32
		var value []float32
		for j := range m {
			if rng.IntN(3) == 0 && !(emptyRow && i == 0) {
				index = append(index, int32(j))
				value = append(value, float32(rng.NormFloat64()))
			}
		}
		e.AppendRow(index, value)
	}
	s, err := NewFeatures(e)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func randomDense(rng *rand.Rand, k, m int) *Dense {
	return &Dense{K: k, M: m, A: randomNumbers[float64](rng, k*m)}
}

func mustSum(t testing.TB, parts ...Part) *Sum {
	t.Helper()
	s, err := NewSum(parts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type named struct {
	name string
	s    Sharing
	// singular: K has no inverse, so there is no least-norm V for every W.
	singular bool
}

// allSharings returns one of each kind and shape for k > 1 classes.
func allSharings(t testing.TB, seed uint64, k int) []named {
	t.Helper()
	rng := newRand(seed)
	u, v := coverTrees(t, rng, k)
	names := randomFeatures(t, rng, k, 3*k, true)
	inner := mustSum(t, Part{0.5, NewTree(v)}, Part{-2, names})
	triangle := randomDense(rng, k, k)
	for i := range k {
		triangle.A[i*k+i] += 3
		clear(triangle.A[i*k+i+1 : (i+1)*k])
	}
	return []named{
		{"none", None{K: k}, false},
		{"u-tree", NewTree(u), false},
		{"v-tree", NewTree(v), false},
		{"linkage, a root without length", NewTree(linkage(t, rng, k)), false},
		{"taxonomy", NewTree(taxonomy(t, rng, k)), false},
		{"u-tree with lengths, classes on inner nodes", NewTree(weighted(t, rng, u)), false},
		{"v-tree with lengths, some 0", NewTree(weighted(t, rng, v)), false},
		{"features", randomFeatures(t, rng, k, 3*k+1, false), false},
		{"features, a class without any", names, true},
		{"features, fewer than classes", randomFeatures(t, rng, k, k-1, false), true},
		{"dense", randomDense(rng, k, k+3), false},
		{"dense, a triangle", triangle, false},
		{"dense, one column", randomDense(rng, k, 1), true},
		{"sum of one tree", mustSum(t, Part{-3, NewTree(v)}), false},
		{"sum: features and identity", mustSum(t, Part{1, names}, Part{math.Sqrt(0.1), None{K: k}}), false},
		{"sum of sums", mustSum(t, Part{1.5, inner}, Part{0.7, mustSum(t, Part{2, NewTree(u)})}, Part{1, randomDense(rng, k, 2)}), false},
		{"sum with a part of factor 0", mustSum(t, Part{0, names}, Part{1, None{K: k}}), false},
	}
}

func randomNumbers[T matrix.Float](rng *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(rng.NormFloat64())
	}
	return x
}

func toDense[T matrix.Float](x []T, rows, cols int) *mat.Dense {
	d := mat.NewDense(rows, cols, nil)
	for i := range rows {
		for j := range cols {
			d.Set(i, j, float64(x[i*cols+j]))
		}
	}
	return d
}

// difference returns the largest difference of x and want, relative to the
// largest number in want.
func difference[T matrix.Float](x []T, want *mat.Dense) float64 {
	rows, cols := want.Dims()
	var diff, scale float64
	for i := range rows {
		for j := range cols {
			d := math.Abs(float64(x[i*cols+j]) - want.At(i, j))
			if math.IsNaN(d) {
				return math.Inf(1)
			}
			diff, scale = max(diff, d), max(scale, math.Abs(want.At(i, j)))
		}
	}
	if scale == 0 {
		return diff
	}
	return diff / scale
}

func product(a, b mat.Matrix) *mat.Dense {
	var out mat.Dense
	out.Mul(a, b)
	return &out
}

// parseTree reads a tree in Newick form.
func parseTree(t testing.TB, newick string) *labeltree.Tree {
	t.Helper()
	tree, err := labeltree.Read(strings.NewReader(newick), "test")
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// star returns k leaves below one root.
func star(t testing.TB, k int) *labeltree.Tree {
	t.Helper()
	return parseTree(t, "("+strings.Join(labels(k), ",")+")root;")
}

// balanced returns a binary tree over k leaves as even as can be.
func balanced(t testing.TB, k int) *labeltree.Tree {
	t.Helper()
	level := labels(k)
	for len(level) > 1 {
		var next []string
		for pair := range slices.Chunk(level, 2) {
			next = append(next, pair[0])
			if len(pair) == 2 {
				next[len(next)-1] = "(" + pair[0] + "," + pair[1] + ")"
			}
		}
		level = next
	}
	return parseTree(t, level[0]+";")
}

// frobenius returns the square root of the sum of the squares of x.
func frobenius[T matrix.Float](x []T) float64 {
	var sum float64
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum)
}

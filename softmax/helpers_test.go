package softmax

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/sharing"
)

// sample draws n examples of d features of which about half are 0, and of k
// classes that depend on them.
func sample(seed uint64, n, d, k int) Examples {
	random := rand.New(rand.NewPCG(seed, 1))
	means := make([]float64, k*d)
	for i := range means {
		means[i] = random.NormFloat64()
	}
	x := matrix.NewDense(n, d)
	class := make([]int32, n)
	for i := range n {
		y := random.IntN(k)
		class[i] = int32(y)
		for f := range d {
			if random.Float64() < 0.5 {
				x.Data[i*d+f] = float32(0.5*means[y*d+f] + random.NormFloat64())
			}
		}
	}
	return Examples{X: x, Class: class}
}

// sparsely returns the same examples with sparse rows.
func sparsely(ex Examples) Examples {
	dense := ex.X.(*matrix.Dense)
	s := &matrix.Sparse{Columns: dense.Columns}
	for i := range dense.Rows() {
		var index []int32
		var value []float32
		for f, v := range dense.Row(i) {
			if v != 0 {
				index, value = append(index, int32(f)), append(value, v)
			}
		}
		s.AppendRow(index, value)
	}
	ex.X = s
	return ex
}

// rows returns the examples as plain numbers.
func rows(ex Examples) [][]float64 {
	out := make([][]float64, ex.X.Rows())
	for i := range out {
		out[i] = make([]float64, ex.X.Cols())
		switch x := ex.X.(type) {
		case *matrix.Sparse:
			index, value := x.Row(i)
			for n, f := range index {
				out[i][f] = float64(value[n])
			}
		case *matrix.Dense:
			for f, v := range x.Row(i) {
				out[i][f] = float64(v)
			}
		}
	}
	return out
}

// sixClasses is a U- or V-tree over six classes.
func sixClasses(t testing.TB, kind labeltree.Kind) *labeltree.Tree {
	t.Helper()
	tree, err := labeltree.FromNested(labeltree.Nested{Label: "a", Children: []labeltree.Nested{
		{Label: "a"},
		{Label: "b", Children: []labeltree.Nested{{Label: "b"}, {Label: "c"}, {Label: "d"}}},
		{Label: "e"}, {Label: "f"},
	}}, kind)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// starTree has all classes right below its root.
func starTree(t testing.TB, labels []string) *labeltree.Tree {
	t.Helper()
	parents := map[string]string{}
	for _, l := range labels {
		parents[l] = "root of all"
	}
	tree, err := labeltree.FromParents(parents, labels)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// nameFeatures is an E for k classes with m features.
func nameFeatures(t testing.TB, k, m int) *sharing.Features {
	t.Helper()
	random := rand.New(rand.NewPCG(9, 9))
	e := &matrix.Sparse{Columns: m}
	for range k {
		var index []int32
		var value []float32
		for j := range m {
			if random.Float64() < 0.3 {
				index, value = append(index, int32(j)), append(value, float32(random.Float64()))
			}
		}
		e.AppendRow(index, value)
	}
	s, err := sharing.NewFeatures(e)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sum(t testing.TB, parts ...sharing.Part) *sharing.Sum {
	t.Helper()
	s, err := sharing.NewSum(parts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// denseA writes A out, without the operators: k rows of m numbers.
func denseA(s sharing.Sharing) [][]float64 {
	a := make([][]float64, s.Classes())
	for c := range a {
		a[c] = make([]float64, s.Rows())
	}
	switch s := s.(type) {
	case sharing.None:
		for c := range a {
			a[c][c] = 1
		}
	case *sharing.Tree:
		for c := range a {
			for _, v := range s.LabelTree().Path(c) {
				a[c][v] = math.Sqrt(s.LabelTree().Length(v))
			}
		}
	case *sharing.Features:
		for c := range a {
			index, value := s.E.Row(c)
			for n, j := range index {
				a[c][j] = float64(value[n])
			}
		}
	case *sharing.Dense:
		for c := range a {
			copy(a[c], s.A[c*s.M:])
		}
	case *sharing.Sum:
		at := 0
		for _, p := range s.Parts() {
			for c, row := range denseA(p.Sharing) {
				for j, v := range row {
					a[c][at+j] = p.Factor * v
				}
			}
			at += p.Sharing.Rows()
		}
	}
	return a
}

// lossOf is the loss of one example in its scores, by the formula, with the
// gradient: the second opinion on package loss.
type lossOf func(scores []float64, y int) (value float64, grad []float64)

func softmax64(scores []float64) ([]float64, float64) {
	top := math.Inf(-1)
	for _, s := range scores {
		top = math.Max(top, s)
	}
	var total float64
	p := make([]float64, len(scores))
	for c, s := range scores {
		p[c] = math.Exp(s - top)
		total += p[c]
	}
	for c := range p {
		p[c] /= total
	}
	return p, top + math.Log(total)
}

// againstTarget is the cross entropy against a distribution for each class.
func againstTarget(target func(y, c int) float64) lossOf {
	return func(scores []float64, y int) (float64, []float64) {
		p, logSum := softmax64(scores)
		value := logSum
		for c := range p {
			value -= target(y, c) * scores[c]
			p[c] -= target(y, c)
		}
		return value, p
	}
}

func crossEntropy(smoothing float64, k int) lossOf {
	return againstTarget(func(y, c int) float64 {
		if y == c {
			return 1 - smoothing + smoothing/float64(k)
		}
		return smoothing / float64(k)
	})
}

func similarityLoss(s func(y, c int) float64) lossOf {
	return func(scores []float64, y int) (float64, []float64) {
		p, _ := softmax64(scores)
		var total float64
		for c := range p {
			total += s(y, c) * p[c]
		}
		grad := make([]float64, len(p))
		for c := range p {
			grad[c] = p[c] - s(y, c)*p[c]/total
		}
		return -math.Log(total), grad
	}
}

// hxeLoss is Σ_v λ(v) (log P(parent of v) - log P(v)), P the sum of the class
// probabilities below.
func hxeLoss(tree *labeltree.Tree, alpha float64) lossOf {
	return func(scores []float64, y int) (float64, []float64) {
		p, _ := softmax64(scores)
		grad := make([]float64, len(p))
		var value float64
		add := func(v int, factor float64) {
			var all float64
			for _, c := range tree.ClassesBelow(v) {
				all += p[c]
			}
			value += factor * math.Log(all)
			for _, c := range tree.ClassesBelow(v) {
				grad[c] += factor * p[c] / all // less p times the same for all v, which cancels
			}
		}
		for v := tree.Node(y); v > 0; v = tree.Parent(v) {
			lambda := math.Exp(-alpha * float64(tree.Depth(v)-1))
			add(tree.Parent(v), lambda)
			add(v, -lambda)
		}
		return value, grad
	}
}

func treeLoss(tree *labeltree.Tree) lossOf {
	return func(scores []float64, y int) (float64, []float64) {
		grad := make([]float64, len(scores))
		var value float64
		for v := tree.Node(y); v != 0; v = tree.Parent(v) {
			siblings := tree.Children(tree.Parent(v))
			among := make([]float64, len(siblings))
			for n, u := range siblings {
				among[n] = scores[u-1]
			}
			p, logSum := softmax64(among)
			value += logSum - scores[v-1]
			for n, u := range siblings {
				grad[u-1] += p[n]
			}
			grad[v-1]--
		}
		return value, grad
	}
}

// reference is the objective of Converge with V and b written out.
type reference struct {
	x      [][]float64
	class  []int32
	weight []float32
	a      [][]float64 // targets x m
	loss   lossOf
	lambda float64
	noBias bool // b stays where it is
}

func newReference(ex Examples, a [][]float64, l lossOf, prior float64) *reference {
	var square, total float64
	x := rows(ex)
	for i, row := range x {
		w := ex.weightOf(i)
		for _, v := range row {
			square += w * v * v
		}
		total += w
	}
	return &reference{x: x, class: ex.Class, weight: ex.Weight, a: a, loss: l, lambda: square / total / prior}
}

// objective returns the objective at (V, b), V being d x m, and sets grad.
func (r *reference) objective(grad, params []float64) float64 {
	d, m, k := len(r.x[0]), len(r.a[0]), len(r.a)
	v, b := params[:d*m], params[d*m:]
	clear(grad)
	var sum float64
	for _, w := range v {
		sum += r.lambda / 2 * w * w
	}
	for j, w := range v {
		grad[j] = r.lambda * w
	}
	scores, outputs := make([]float64, k), make([]float64, m)
	for i, row := range r.x {
		weight := 1.0
		if r.weight != nil {
			weight = float64(r.weight[i])
		}
		clear(outputs)
		for f, x := range row {
			for j := range m {
				outputs[j] += x * v[f*m+j]
			}
		}
		for c := range scores {
			scores[c] = b[c]
			for j, a := range r.a[c] {
				scores[c] += a * outputs[j]
			}
		}
		value, g := r.loss(scores, int(r.class[i]))
		sum += weight * value
		clear(outputs)
		for c := range g {
			if !r.noBias {
				grad[d*m+c] += weight * g[c]
			}
			for j, a := range r.a[c] {
				outputs[j] += weight * g[c] * a
			}
		}
		for f, x := range row {
			for j := range m {
				grad[f*m+j] += x * outputs[j]
			}
		}
	}
	return sum
}

func (r *reference) size() int { return len(r.x[0])*len(r.a[0]) + len(r.a) }

// minimum returns the least objective, found by L-BFGS with 20 pairs.
func (r *reference) minimum(t testing.TB) float64 {
	t.Helper()
	n := r.size()
	x, grad := make([]float64, n), make([]float64, n)
	value := r.objective(grad, x)
	var steps, changes [][]float64
	trial, trialGrad := make([]float64, n), make([]float64, n)
	for range 5000 {
		if inner(grad, grad) < 1e-14 {
			return value
		}
		direction := make([]float64, n)
		for j, g := range grad {
			direction[j] = -g
		}
		along := make([]float64, len(steps))
		for m := len(steps) - 1; m >= 0; m-- {
			along[m] = inner(steps[m], direction) / inner(steps[m], changes[m])
			add(-along[m], changes[m], direction)
		}
		if m := len(steps) - 1; m >= 0 {
			scale := inner(steps[m], changes[m]) / inner(changes[m], changes[m])
			for j := range direction {
				direction[j] *= scale
			}
		}
		for m := range steps {
			add(along[m]-inner(changes[m], direction)/inner(steps[m], changes[m]), steps[m], direction)
		}
		slope := inner(grad, direction)
		length, found := 1.0, value
		for ; length > 1e-12; length /= 2 {
			copy(trial, x)
			add(length, direction, trial)
			if found = r.objective(trialGrad, trial); found <= value+1e-4*length*slope {
				break
			}
		}
		if value-found < 1e-13*value {
			return min(value, found)
		}
		step, change := make([]float64, n), make([]float64, n)
		for j := range n {
			step[j], change[j] = trial[j]-x[j], trialGrad[j]-grad[j]
		}
		if inner(step, change) > 0 {
			steps, changes = append(steps, step), append(changes, change)
			if len(steps) > 20 {
				steps, changes = steps[1:], changes[1:]
			}
		}
		value = found
		x, trial, grad, trialGrad = trial, x, trialGrad, grad
	}
	t.Fatalf("L-BFGS has not found the minimum: %v, gradient %v", value, math.Sqrt(inner(grad, grad)))
	return 0
}

func inner(a, b []float64) (sum float64) {
	for j := range a {
		sum += a[j] * b[j]
	}
	return sum
}

func add(a float64, x, y []float64) {
	for j := range y {
		y[j] += a * x[j]
	}
}

// at returns the objective of a layer: its V is the one of least norm.
func (r *reference) at(t testing.TB, l *Layer, s sharing.Sharing) (value, gradNorm float64) {
	t.Helper()
	d, m, k := len(r.x[0]), len(r.a[0]), len(r.a)
	params := make([]float64, r.size())
	op := sharing.NewOperator[float64](s)
	w := make([]float64, k)
	for f := range d {
		for c := range k {
			w[c] = float64(l.Weight[f*k+c])
		}
		if _, plain := s.(sharing.None); plain {
			copy(params[f*m:(f+1)*m], w)
		} else if err := op.MinNorm(params[f*m:(f+1)*m], w, 1); err != nil {
			t.Fatal(err)
		}
	}
	for c, b := range l.Bias {
		params[d*m+c] = float64(b)
	}
	grad := make([]float64, r.size())
	value = r.objective(grad, params)
	for _, g := range grad {
		gradNorm += g * g
	}
	return value, math.Sqrt(gradNorm)
}

// problem is one kind of sharing and loss with its second opinion.
type problem struct {
	name    string
	options Options
	a       [][]float64
	loss    lossOf
}

// bent tells whether the loss is not convex.
func (p problem) bent() bool { return p.name == "SimLoss" || strings.HasPrefix(p.name, "HXE") }

func problems(t testing.TB) []problem {
	t.Helper()
	const k = 6
	none := sharing.None{K: k}
	vTree := sharing.NewTree(sixClasses(t, labeltree.VTree))
	uTree := sharing.NewTree(sixClasses(t, labeltree.UTree))
	names := sum(t, sharing.Part{Factor: 1.3, Sharing: nameFeatures(t, k, 20)}, sharing.Part{Factor: math.Sqrt(0.1), Sharing: none})
	own := &matrix.Sparse{Columns: k + 2} // fewer than 2k columns: not factored
	for c := range int32(k) {
		own.AppendRow([]int32{c, k + c%2}, []float32{0.7, 0.5})
	}
	alone, err := sharing.NewFeatures(own)
	if err != nil {
		t.Fatal(err)
	}
	mixed := sum(t, sharing.Part{Factor: 0.7, Sharing: vTree}, sharing.Part{Factor: 1, Sharing: nameFeatures(t, k, 5)}, sharing.Part{Factor: 0.2, Sharing: none})
	space := metric.Space(labeltree.Distance(sixClasses(t, labeltree.VTree)))
	similar := func(y, c int) float64 { return 1 / (1 + space.Distance(y, c)) }
	simLoss, err := loss.NewSimLoss(k, similar, 0)
	if err != nil {
		t.Fatal(err)
	}
	soft, err := loss.NewSoftLabels(space, 4)
	if err != nil {
		t.Fatal(err)
	}
	var furthest float64
	for y := range k {
		for c := range k {
			furthest = math.Max(furthest, space.Distance(y, c))
		}
	}
	softTarget := func(y, c int) float64 {
		logits := make([]float64, k)
		for j := range logits {
			logits[j] = -4 * space.Distance(y, j) / furthest
		}
		p, _ := softmax64(logits)
		return p[c]
	}
	tree := sixClasses(t, labeltree.VTree)
	hierarchy, err := loss.NewHierarchicalSoftmax(tree)
	if err != nil {
		t.Fatal(err)
	}
	hxe, err := loss.NewHXE(tree, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	plain := crossEntropy(0, k)
	return []problem{
		{"none", Options{}, denseA(none), plain},
		{"V-tree", Options{Sharing: vTree}, denseA(vTree), plain},
		{"U-tree", Options{Sharing: uTree}, denseA(uTree), plain},
		{"names, factored", Options{Sharing: names}, denseA(names), plain},
		{"names alone", Options{Sharing: alone}, denseA(alone), plain},
		{"sum, as it is", Options{Sharing: mixed}, denseA(mixed), plain},
		{"smoothing", Options{Loss: loss.CrossEntropy{Smoothing: 0.2}}, denseA(none), crossEntropy(0.2, k)},
		{"soft labels on a V-tree", Options{Loss: soft, Sharing: vTree}, denseA(vTree), againstTarget(softTarget)},
		{"SimLoss", Options{Loss: simLoss}, denseA(none), similarityLoss(func(y, c int) float64 {
			if y == c {
				return 1
			}
			return similar(y, c)
		})},
		{"HXE", Options{Loss: hxe}, denseA(none), hxeLoss(tree, 0.5)},
		{"HXE on a V-tree", Options{Loss: hxe, Sharing: vTree}, denseA(vTree), hxeLoss(tree, 0.5)},
		{"hierarchical softmax", Options{Hierarchy: hierarchy}, denseA(sharing.None{K: tree.Len() - 1}), treeLoss(tree)},
	}
}

// largestDifference compares two arrays.
func largestDifference[T matrix.Float](a, b []T) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	var most float64
	for i := range a {
		d := math.Abs(float64(a[i]) - float64(b[i]))
		if !(d <= most) { // a NaN is a difference too
			most = d
		}
	}
	return most
}

package experiment

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
	"github.com/treeloss/treeloss/softmax"
)

// smallDraw is a draw of little work.
func smallDraw(t *testing.T, k, d, n int) *draw {
	t.Helper()
	opts, err := Options{Seed: 7}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	return newDraw(opts, 3, k, d, n, 400)
}

func modelOf(t *testing.T, g *draw, base float64, method Method) *model {
	t.Helper()
	n, err := newClassInfo(g, base, 0)
	if err != nil {
		t.Fatal(err)
	}
	m, err := n.newModel(method)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// slowSGD trains V itself, one number after the other, in float64: W = A V.
func slowSGD(a [][]float64, v []float64, m *model, ex softmax.Examples, rate float64) (last, mean []float64) {
	d, rows, k := ex.X.Cols(), len(a[0]), len(a)
	velocity, grad, sum := make([]float64, len(v)), make([]float64, len(v)), make([]float64, k*d)
	weights := func() []float64 {
		w := make([]float64, k*d)
		for c := range k {
			for r := range rows {
				for f := range d {
					w[c*d+f] += a[c][r] * v[r*d+f]
				}
			}
		}
		return w
	}
	p, g, scores := make([]float64, k), make([]float64, k), make([]float64, k)
	for i, y := range ex.Class {
		w := weights()
		for c := range scores {
			scores[c] = 0
			for f, x := range ex.X.(*matrix.Dense).Row(i) {
				scores[c] += w[c*d+f] * float64(x)
			}
		}
		switch o := m.options; {
		case o.Hierarchy != nil:
			loss.EvaluateHierarchical(o.Hierarchy, p, g, scores, int(y))
		case o.Loss != nil:
			loss.Evaluate(o.Loss, p, g, scores, int(y))
		default:
			loss.Evaluate(loss.CrossEntropy{}, p, g, scores, int(y))
		}
		for r := range rows {
			for f, x := range ex.X.(*matrix.Dense).Row(i) {
				grad[r*d+f] = 0
				for c := range k {
					grad[r*d+f] += a[c][r] * g[c] * float64(x)
				}
			}
		}
		for j := range v {
			velocity[j] = momentum*velocity[j] + grad[j] + weightDecay*v[j]
			v[j] -= rate * velocity[j]
		}
		for j, x := range weights() {
			sum[j] += x / float64(len(ex.Class))
		}
	}
	return weights(), sum
}

// matrixA returns A of a sharing, the identity for none.
func matrixA(s sharing.Sharing, k int) [][]float64 {
	if s == nil {
		s = sharing.None{K: k}
	}
	m := s.Rows()
	op := sharing.NewOperator[float64](s)
	a := make([][]float64, k)
	for c := range a {
		a[c] = make([]float64, m)
	}
	unit, column := make([]float64, m), make([]float64, k)
	for r := range m {
		clear(unit)
		unit[r] = 1
		op.Expand(column, unit, 1)
		for c := range k {
			a[c][r] = column[c]
		}
	}
	return a
}

// pass is onePass from weights that are outputs x d, and so are its results.
func pass(t testing.TB, m *model, start []float32, k int, ex softmax.Examples, rate float64) (last, mean []float32) {
	t.Helper()
	d := ex.X.Cols()
	outputs := len(start) / d
	l, a, err := m.onePass(context.Background(), &softmax.Layer{Classes: k, Features: d, Weight: kernel.Transposed(start, outputs, d),
		Bias: make([]float32, outputs), Hierarchy: m.options.Hierarchy}, ex, rate)
	if err != nil {
		t.Fatal(err)
	}
	for c := range outputs {
		if l.Bias[c] != 0 || a.Bias[c] != 0 {
			t.Fatalf("output %d has a bias", c)
		}
	}
	return kernel.Transposed(l.Weight, d, outputs), kernel.Transposed(a.Weight, d, outputs)
}

// One pass takes the examples in their order, and trains V: momentum, weight
// decay, start and mean included.
func TestOnePassTrainsV(t *testing.T) {
	for _, size := range []struct{ k, d int }{{12, 5}, {5, 9}} {
		g := smallDraw(t, size.k, size.d, 60)
		ex := g.examples(g.train, 60, 1)
		for _, method := range []Method{CrossEntropy, UTree, VTree, SimLoss, HierarchicalSoftmax, Linkage} {
			m := modelOf(t, g, 1.3, method)
			outputs := m.start(g, ZeroInit).Outputs()
			a := matrixA(m.options.Sharing, outputs)
			rng := rand.New(rand.NewPCG(1, 2))
			v := make([]float64, len(a[0])*size.d)
			for i := range v {
				v[i] = rng.Float64() - 0.5
			}
			start := make([]float32, outputs*size.d)
			for c := range a {
				for f := range size.d {
					var sum float64
					for r, x := range a[c] {
						sum += x * v[r*size.d+f]
					}
					start[c*size.d+f] = float32(sum)
				}
			}
			last, mean := pass(t, m, start, size.k, ex, 3e-3)
			wantLast, wantMean := slowSGD(a, v, m, ex, 3e-3)
			if d := far(last, wantLast); d > 2e-5 {
				t.Errorf("k=%d d=%d %s: the last weights differ by %g", size.k, size.d, method, d)
			}
			if d := far(mean, wantMean); d > 2e-5 {
				t.Errorf("k=%d d=%d %s: the mean weights differ by %g", size.k, size.d, method, d)
			}
		}
	}
}

func far(a []float32, b []float64) (most float64) {
	for i := range b {
		most = max(most, math.Abs(float64(a[i])-b[i]))
	}
	return most
}

// The start of a method is A times parameters within ±1/sqrt(d), and a class's
// own parameters are the same in every method.
func TestStart(t *testing.T) {
	g := smallDraw(t, 9, 16, 10)
	rows := func(m *model, init Init) []float32 {
		l := m.start(g, init)
		return kernel.Transposed(l.Weight, 16, l.Outputs())
	}
	plain := rows(modelOf(t, g, 1.3, CrossEntropy), TorchInit)
	for _, x := range plain {
		if math.Abs(float64(x)) > 0.25 {
			t.Fatalf("a start of %v is beyond 1/sqrt(16)", x)
		}
	}
	m := modelOf(t, g, 1.3, VTree)
	tree := m.options.Sharing.(*sharing.Tree).LabelTree()
	w := rows(m, TorchInit)
	// w_c - v_c is the same for the classes of one parent.
	for v := range tree.Len() {
		var first []float32
		for _, child := range tree.Children(v) {
			c := tree.Class(child)
			if c < 0 {
				continue
			}
			rest := make([]float32, 16)
			for f := range rest {
				rest[f] = w[c*16+f] - plain[c*16+f]
			}
			if first == nil {
				first = rest
			}
			for f := range rest {
				if math.Abs(float64(rest[f]-first[f])) > 1e-6 {
					t.Fatalf("classes below %s start %g apart beside their own parameters", tree.Name(v), rest[f]-first[f])
				}
			}
		}
	}
	for _, x := range rows(m, ZeroInit) {
		if x != 0 {
			t.Fatal("a start at zeros is not 0")
		}
	}
}

// A V-tree that is a star trains what cross entropy trains.
func TestStarIsCrossEntropy(t *testing.T) {
	const k, d = 6, 4
	g := smallDraw(t, k, d, 80)
	ex := g.examples(g.train, 80, 1)
	nested := labeltree.Nested{Label: "0"}
	for c := range k {
		nested.Children = append(nested.Children, labeltree.Nested{Label: string(rune('0' + c))})
	}
	star, err := labeltree.FromNested(nested, labeltree.VTree)
	if err != nil {
		t.Fatal(err)
	}
	plain := &model{method: CrossEntropy, rate: 1}
	shared := &model{method: VTree, rate: 1, options: softmax.Options{Sharing: sharing.NewTree(star), NoBias: true, Threads: 1}}
	a := matrixA(shared.options.Sharing, k)
	want, _ := slowSGD(matrixA(nil, k), make([]float64, k*d), plain, ex, 1e-2)
	got, _ := slowSGD(a, make([]float64, len(a[0])*d), shared, ex, 1e-2)
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-9 {
			t.Fatalf("weight %d: %v, cross entropy has %v", i, got[i], want[i])
		}
	}
	zero := make([]float32, k*d)
	fast, _ := pass(t, shared, zero, k, ex, 1e-2)
	if x := far(fast, want); x > 1e-5 {
		t.Errorf("the fast way differs from cross entropy by %g", x)
	}
}

// The paper's scores exp(-w·x) are ours for -x: the weights change their sign,
// no prediction changes.
func TestSignFlip(t *testing.T) {
	g := smallDraw(t, 7, 5, 90)
	ex := g.examples(g.train, 90, 1)
	flipped := g.examples(g.train, 90, 1)
	x := flipped.X.(*matrix.Dense).Data
	for i := range x {
		x[i] = -x[i]
	}
	for _, method := range []Method{CrossEntropy, UTree, VTree, SimLoss, HierarchicalSoftmax, Linkage} {
		m := modelOf(t, g, 1.3, method)
		zero := m.start(g, ZeroInit).Weight
		w, _ := pass(t, m, zero, g.k, ex, 1e-2)
		minus, _ := pass(t, m, zero, g.k, flipped, 1e-2)
		for i := range w {
			if w[i] != -minus[i] {
				t.Fatalf("%s: weight %d is %v, with the sign flipped %v", method, i, w[i], minus[i])
			}
		}
	}
}

// A rate that is too large ends in an error, not in weights.
func TestOnePassDiverges(t *testing.T) {
	g := smallDraw(t, 7, 5, 90)
	m := modelOf(t, g, 1.3, VTree)
	if _, _, err := m.onePass(context.Background(), m.start(g, ZeroInit), g.examples(g.train, 90, 1), 1e30); !errors.Is(err, softmax.ErrDiverged) {
		t.Errorf("error %v, want one that wraps ErrDiverged", err)
	}
}

// The layer of the prior that is best on the validation examples, without a bias,
// at the optimum of its objective: the gradient there is that of the penalty.
func TestConverge(t *testing.T) {
	g := smallDraw(t, 8, 5, 70)
	ex, valid := g.examples(g.train, 70, 1.5), g.examples(g.valid, 100, 1.5)
	for _, method := range []Method{CrossEntropy, UTree, VTree, SimLoss, HierarchicalSoftmax, Linkage} {
		m := modelOf(t, g, 1.3, method)
		seen := map[*softmax.Layer]outcome{}
		best, prior, err := m.converge(context.Background(), ex, g.k, func(l *softmax.Layer) (outcome, error) {
			o, err := measure(l, valid)
			seen[l] = o
			return o, err
		})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(Priors(), prior) {
			t.Errorf("%s: prior %v", method, prior)
		}
		for _, o := range seen {
			if o.better(seen[best]) {
				t.Errorf("%s: %+v is better than the chosen %+v", method, o, seen[best])
			}
		}
		for c, b := range best.Bias {
			if b != 0 {
				t.Errorf("%s: output %d has the bias %v", method, c, b)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m := modelOf(t, g, 1.3, VTree)
	_, _, err := m.converge(ctx, ex, g.k, func(l *softmax.Layer) (outcome, error) { return measure(l, valid) })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("on a cancelled context: %v", err)
	}
}

// Accuracy and log loss by the scores in float64.
func TestMeasure(t *testing.T) {
	g := smallDraw(t, 11, 4, 50)
	ex, test := g.examples(g.train, 50, 1), g.examples(g.all, 400, 1)
	for _, method := range allMethods {
		m := modelOf(t, g, 1.2, method)
		_, l, err := m.onePass(context.Background(), m.start(g, TorchInit), ex, 1e-2)
		if err != nil {
			t.Fatal(err)
		}
		got, err := measure(l, test)
		if err != nil {
			t.Fatal(err)
		}
		var right, nats float64
		p := make([]float64, g.k)
		for i, y := range test.Class {
			scores := make([]float64, l.Outputs())
			for f, x := range test.X.(*matrix.Dense).Row(i) {
				for c := range scores {
					scores[c] += float64(l.Weight[f*l.Outputs()+c]) * float64(x)
				}
			}
			if h := m.options.Hierarchy; h != nil {
				loss.Probabilities(h, p, make([]float64, len(scores)), scores)
			} else {
				loss.Evaluate(loss.CrossEntropy{}, p, make([]float64, g.k), scores, int(y))
			}
			if softmax.Top(p) == int(y) {
				right++
			}
			nats -= math.Log(p[y])
		}
		n := float64(len(test.Class))
		if math.Abs(got.accuracy-right/n) > 1/n {
			t.Errorf("%s: accuracy %v, want %v", method, got.accuracy, right/n)
		}
		if math.Abs(got.logLoss-nats/n) > 1e-4*(1+nats/n) {
			t.Errorf("%s: log loss %v, want %v", method, got.logLoss, nats/n)
		}
	}
}

func BenchmarkOnePass(b *testing.B) {
	opts, _ := Options{Seed: 1}.withDefaults()
	for _, size := range []struct{ n, d, k int }{{100, 64, 10}, {1000, 10, 100}} {
		g := newDraw(opts, 0, size.k, size.d, size.n, 1)
		ex := g.examples(g.train, size.n, 1)
		n, err := newClassInfo(g, 1.3, 0)
		if err != nil {
			b.Fatal(err)
		}
		for _, method := range []Method{CrossEntropy, VTree, HierarchicalSoftmax} {
			b.Run("loss="+string(method)+"/k="+number(float64(size.k))+"/d="+number(float64(size.d)), func(b *testing.B) {
				m, err := n.newModel(method)
				if err != nil {
					b.Fatal(err)
				}
				zero := m.start(g, ZeroInit)
				for b.Loop() {
					if _, _, err := m.onePass(context.Background(), zero, ex, 1e-3); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size.n), "ns/step")
			})
		}
	}
}

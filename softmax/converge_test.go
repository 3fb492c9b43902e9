package softmax

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

func mustFit(t testing.TB, ex Examples, k int, o Options) (*Layer, Record) {
	t.Helper()
	l, r, err := Fit(context.Background(), ex, k, o)
	if err != nil {
		t.Fatal(err)
	}
	return l, r
}

// The objective that Converge reports and that of its layer are within 1e-4 of
// the least one that L-BFGS finds with A written out.
func TestConvergeFindsTheOptimum(t *testing.T) {
	dense := sample(1, 80, 10, 6)
	weighted := dense
	weighted.Weight = make([]float32, 80)
	for i := range weighted.Weight {
		weighted.Weight[i] = float32(i % 3)
	}
	inputs := []struct {
		name string
		ex   Examples
	}{{"dense", dense}, {"sparse", sparsely(dense)}, {"weighted", weighted}}
	for _, p := range problems(t) {
		known := map[float64]float64{} // sparse or dense, the minimum is the same
		for _, in := range inputs {
			for _, prior := range []float64{0.3, 10, 300, 3000} {
				o := p.options
				o.Prior = prior
				if p.bent() { // to see the gradient vanish
					o.Trainer = Converge{Tolerance: 1e-6}
				}
				l, record := mustFit(t, in.ex, 6, o)
				r := newReference(in.ex, p.a, p.loss, prior)
				s := o.Sharing
				if s == nil {
					s = sharing.None{K: l.Outputs()}
				}
				value, gradNorm := r.at(t, l, s)
				if !record.Converged || math.Abs(record.Objective-value) > 1e-4*value {
					t.Errorf("%s, %s, prior %v: record %+v, but the layer's objective is %v", p.name, in.name, prior, record, value)
				}
				if p.bent() { // not convex: a stationary point
					// From here a step against a curvature of at least lambda gains
					// no more than this.
					if gain := gradNorm * gradNorm / (2 * r.lambda); gain > 1e-3*value {
						t.Errorf("%s, %s, prior %v: gradient %v at the end, for an objective of %v", p.name, in.name, prior, gradNorm, value)
					}
					continue
				}
				least, ok := known[prior]
				if !ok || in.ex.Weight != nil {
					least = r.minimum(t)
					known[prior] = least
				}
				if value > least*(1+1e-4) || value < least*(1-1e-6) {
					t.Errorf("%s, %s, prior %v: objective %v, the least is %v", p.name, in.name, prior, value, least)
				}
			}
		}
	}
}

// TestNoBias compares with the least objective at a bias of 0, and looks whether
// each trainer leaves the bias of the start alone.
func TestNoBias(t *testing.T) {
	dense := sample(1, 80, 10, 6)
	for _, p := range problems(t) {
		if p.name != "none" && p.name != "V-tree" && p.name != "hierarchical softmax" {
			continue
		}
		for kind, ex := range map[string]Examples{"dense": dense, "sparse": sparsely(dense)} {
			o := p.options
			o.NoBias, o.Prior = true, 0.3
			r := newReference(ex, p.a, p.loss, o.Prior)
			r.noBias = true
			least := r.minimum(t)
			for _, trainer := range []Trainer{Converge{}, SGD{Epochs: 300, Batch: 20, Rate: 0.2, Momentum: 0.5, Average: true}} {
				o.Trainer = trainer
				l, _ := mustFit(t, ex, 6, o)
				s := o.Sharing
				if s == nil {
					s = sharing.None{K: l.Outputs()}
				}
				within := 1e-4
				if _, ok := trainer.(SGD); ok {
					within = 1e-2
				}
				if value, _ := r.at(t, l, s); value > least*(1+within) || value < least*(1-1e-6) {
					t.Errorf("%s, %s, %T: objective %v, the least without a bias is %v", p.name, kind, trainer, value, least)
				}
			}
			for name, trainer := range trainers() {
				start, _ := mustFit(t, ex, 6, p.options)
				o.Trainer, o.Init = trainer, start
				if l, _ := mustFit(t, ex, 6, o); largestDifference(l.Bias, start.Bias) > 1e-6 || slices.Equal(l.Weight, start.Weight) {
					t.Errorf("%s, %s, %s: bias %v, want that of the start, %v, and other weights", name, p.name, kind, l.Bias, start.Bias)
				}
			}
		}
	}
}

// weights64 trains in float64 as far as that goes and returns W and b.
func weights64(t testing.TB, ex Examples, k int, o Options, prior float64) (w, bias []float64) {
	t.Helper()
	o, err := o.withDefaults(k)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sharing.Compact(o.Sharing)
	if err != nil {
		t.Fatal(err)
	}
	n := newNewton(ex, newDesign[float64](ex.X, true), 1, func() *head[float64] {
		return newHead[float64](s, o.Loss, o.Hierarchy)
	}, 2)
	for range 2 { // the second start adds the last digits
		if _, err := n.solve(context.Background(), ex.meanSquaredNorm()/prior, 1e-15, 200, nil); err != nil {
			t.Fatal(err)
		}
	}
	v, bias := n.split(n.x)
	w = make([]float64, ex.X.Cols()*k)
	op := sharing.NewOperator[float64](s)
	for f := range ex.X.Cols() {
		op.Expand(w[f*k:(f+1)*k], v[f*n.r:(f+1)*n.r], 1)
	}
	var mean float64 // nothing fixes the level of the biases
	for _, b := range bias {
		mean += b / float64(k)
	}
	bias = slices.Clone(bias)
	for c := range bias {
		bias[c] -= mean
	}
	return centred(w, k), bias
}

// centred takes the mean off each row: it changes no probability, and a shared
// root leaves it undecided.
func centred(w []float64, k int) []float64 {
	for f := 0; f < len(w); f += k {
		var mean float64
		for _, x := range w[f : f+k] {
			mean += x / float64(k)
		}
		for c := range k {
			w[f+c] -= mean
		}
	}
	return w
}

func TestStarTreeIsCrossEntropy(t *testing.T) {
	ex := sample(2, 60, 8, 5)
	w, b := weights64(t, ex, 5, Options{}, 10)
	star := sharing.NewTree(starTree(t, []string{"a", "b", "c", "d", "e"}))
	ws, bs := weights64(t, ex, 5, Options{Sharing: star}, 10)
	if d := max(largestDifference(w, ws), largestDifference(b, bs)); d > 1e-9 {
		t.Errorf("weights differ by %g", d)
	}
	v, bv := weights64(t, ex, 5, Options{Sharing: sum(t, sharing.Part{Factor: 2, Sharing: sharing.None{K: 5}})}, 2.5)
	if d := max(largestDifference(w, v), largestDifference(b, bv)); d > 1e-8 {
		t.Errorf("A = 2 I with a quarter of the prior: weights differ by %g", d)
	}
}

// [s E, sqrt(rho) I] trains what any other factor of K trains.
func TestOnlyTheClassKernelMatters(t *testing.T) {
	ex := sample(3, 70, 9, 6)
	names := sum(t, sharing.Part{Factor: 1.2, Sharing: nameFeatures(t, 6, 40)}, sharing.Part{Factor: math.Sqrt(0.1), Sharing: sharing.None{K: 6}})
	a := denseA(names)
	// The symmetric root of K by Newton's iteration (Denman and Beavers 1976).
	gram := make([]float64, 36)
	for i := range 6 {
		for j := range 6 {
			for m := range a[i] {
				gram[i*6+j] += a[i][m] * a[j][m]
			}
		}
	}
	root := &sharing.Dense{K: 6, M: 6, A: squareRoot(gram, 6)}
	written := &sharing.Dense{K: 6, M: len(a[0])}
	for _, row := range a {
		written.A = append(written.A, row...)
	}
	w, b := weights64(t, ex, 6, Options{Sharing: names}, 10)
	for _, s := range []sharing.Sharing{root, written} {
		wk, bk := weights64(t, ex, 6, Options{Sharing: s}, 10)
		if d := max(largestDifference(w, wk), largestDifference(b, bk)); d > 1e-6 {
			t.Errorf("%d columns: weights differ by %g", s.Rows(), d)
		}
	}
}

// squareRoot returns the symmetric root of a positive definite matrix.
func squareRoot(a []float64, n int) []float64 {
	y, z := slices.Clone(a), make([]float64, n*n)
	for i := range n {
		z[i*n+i] = 1
	}
	for range 60 {
		yi, zi := inverse(y, n), inverse(z, n)
		for j := range y {
			y[j], z[j] = (y[j]+zi[j])/2, (z[j]+yi[j])/2
		}
	}
	return y
}

func inverse(a []float64, n int) []float64 {
	a, out := slices.Clone(a), make([]float64, n*n)
	for i := range n {
		out[i*n+i] = 1
	}
	for p := range n {
		scale := 1 / a[p*n+p]
		for j := range n {
			a[p*n+j] *= scale
			out[p*n+j] *= scale
		}
		for i := range n {
			if m := a[i*n+p]; i != p {
				for j := range n {
					a[i*n+j] -= m * a[p*n+j]
					out[i*n+j] -= m * out[p*n+j]
				}
			}
		}
	}
	return out
}

func predictions(t testing.TB, l *Layer, x matrix.Matrix) []float32 {
	t.Helper()
	out := make([]float32, x.Rows()*l.Classes)
	if err := l.PredictAll(x, 2, func(i int, p []float32) { copy(out[i*l.Classes:], p) }); err != nil {
		t.Fatal(err)
	}
	for i := range x.Rows() {
		var total float64
		for _, p := range out[i*l.Classes : (i+1)*l.Classes] {
			total += float64(p)
		}
		if math.Abs(total-1) > 1e-6 {
			t.Fatalf("row %d: probabilities sum to %v", i, total)
		}
	}
	return out
}

func TestScaleOfInputsDoesNotMatter(t *testing.T) {
	ex := sample(4, 60, 8, 6)
	for _, trainer := range []Trainer{Converge{Tolerance: 1e-7}, SGD{Epochs: 3, Momentum: 0.5}, AdamW{Epochs: 3}} {
		for _, in := range []Examples{ex, sparsely(ex)} {
			l, _ := mustFit(t, in, 6, Options{Trainer: trainer})
			large := in
			factor := float32(1000)
			switch x := in.X.(type) {
			case *matrix.Dense:
				large.X = &matrix.Dense{Columns: x.Columns, Data: times(x.Data, factor)}
			case *matrix.Sparse:
				c := *x
				c.Value = times(x.Value, factor)
				large.X = &c
			}
			ll, _ := mustFit(t, large, 6, Options{Trainer: trainer})
			if d := largestDifference(predictions(t, l, in.X), predictions(t, ll, large.X)); d > 1e-3 {
				t.Errorf("%T: probabilities differ by %v", trainer, d)
			}
		}
	}
}

func times(x []float32, a float32) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = a * v
	}
	return out
}

func TestWeightIsRepetition(t *testing.T) {
	ex := sample(5, 40, 6, 4)
	weighted := ex
	weighted.Weight = make([]float32, 40)
	var again []int
	repeated := Examples{}
	for i := range 40 {
		weighted.Weight[i] = float32(i % 3) // some count for nothing
		for range i % 3 {
			again = append(again, i)
			repeated.Class = append(repeated.Class, ex.Class[i])
		}
	}
	repeated.X = ex.X.Select(again)
	a, ra := mustFit(t, weighted, 4, Options{Trainer: Converge{Tolerance: 1e-7}})
	b, rb := mustFit(t, repeated, 4, Options{Trainer: Converge{Tolerance: 1e-7}})
	if math.Abs(ra.Objective-rb.Objective) > 1e-5*rb.Objective {
		t.Errorf("objectives %v and %v", ra.Objective, rb.Objective)
	}
	if d := largestDifference(predictions(t, a, ex.X), predictions(t, b, ex.X)); d > 2e-3 {
		t.Errorf("probabilities differ by %v", d)
	}
}

func TestFitPathIsSeparateFits(t *testing.T) {
	ex := sparsely(sample(6, 90, 12, 6))
	for _, p := range problems(t) {
		if p.bent() {
			continue // where it ends depends on where it starts
		}
		priors := []float64{1, 10, 100}
		n, products := 0, 0
		options := p.options
		options.Trainer = Converge{Tolerance: 1e-5}
		err := FitPath(context.Background(), ex, 6, options, priors, func(prior float64, l *Layer, r Record) error {
			o := options
			o.Prior = prior
			alone, own := mustFit(t, ex, 6, o)
			if math.Abs(r.Objective-own.Objective) > 1e-4*own.Objective {
				t.Errorf("%s, prior %v: objective %v on the path, %v alone", p.name, prior, r.Objective, own.Objective)
			}
			if d := largestDifference(predictions(t, l, ex.X), predictions(t, alone, ex.X)); d > 0.02 {
				t.Errorf("%s, prior %v: probabilities differ by %v", p.name, prior, d)
			}
			if prior != priors[n] {
				t.Errorf("prior %v came as number %d", prior, n)
			}
			n, products = n+1, products+r.Products
			return nil
		})
		if err != nil || n != len(priors) {
			t.Errorf("%s: %d fits, %v", p.name, n, err)
		}
	}
	stop := errors.New("enough")
	if err := FitPath(context.Background(), ex, 6, Options{}, []float64{1, 2}, func(float64, *Layer, Record) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the error of visit came back as %v", err)
	}
}

func TestOddData(t *testing.T) {
	one := func(values ...float32) *matrix.Dense { return &matrix.Dense{Columns: len(values), Data: values} }
	constant := sample(7, 40, 3, 4)
	for i := range 40 {
		constant.X.(*matrix.Dense).Row(i)[1] = 1
	}
	separable := sample(8, 60, 6, 6)
	for i := range 60 {
		row := separable.X.(*matrix.Dense).Row(i)
		clear(row)
		row[separable.Class[i]] = 1
	}
	unseen := sparsely(sample(9, 30, 5, 3))
	unseen.X.(*matrix.Sparse).Columns = 9
	for _, tc := range []struct {
		name  string
		ex    Examples
		k     int
		prior float64
	}{
		{"one class", sample(1, 20, 4, 1), 1, 10},
		{"one example", Examples{X: one(1, 2), Class: []int32{1}}, 3, 10},
		{"one example, one class", Examples{X: one(1, 2), Class: []int32{0}}, 1, 10},
		{"all inputs 0", Examples{X: matrix.NewDense(5, 3), Class: []int32{0, 1, 1, 2, 0}}, 3, 10},
		{"sparse rows without entries", Examples{X: &matrix.Sparse{Columns: 3, Start: []int{0, 0, 0}}, Class: []int32{0, 1}}, 2, 10},
		{"classes without rows", sample(2, 40, 5, 3), 8, 10},
		{"a feature never seen", unseen, 3, 10},
		{"a constant column", constant, 4, 10},
		{"separable, hardly any prior", separable, 6, 1e9},
		{"separable, a strong prior", separable, 6, 1e-6},
	} {
		for _, in := range []Examples{tc.ex, func() Examples {
			if _, ok := tc.ex.X.(*matrix.Dense); ok {
				return sparsely(tc.ex)
			}
			return tc.ex
		}()} {
			for _, trainer := range []Trainer{Converge{}, SGD{Epochs: 2}, AdamW{Epochs: 2}} {
				l, r, err := Fit(context.Background(), in, tc.k, Options{Prior: tc.prior, Trainer: trainer})
				if err != nil {
					t.Errorf("%s, %T: %v", tc.name, trainer, err)
					continue
				}
				if err := l.check(); err != nil || !finite(r.Objective) {
					t.Errorf("%s, %T: %v, record %+v", tc.name, trainer, err, r)
				}
				predictions(t, l, in.X)
				if c, ok := trainer.(Converge); ok && !r.Converged && r.Steps < 100 {
					t.Errorf("%s, %+v: record %+v", tc.name, c, r)
				}
			}
		}
	}
	l, _ := mustFit(t, unseen, 3, Options{})
	if d := largestDifference(l.Weight[5*3:], make([]float32, 4*3)); d != 0 {
		t.Errorf("features never seen have weights up to %v", d)
	}
	all := Examples{X: matrix.NewDense(4, 2), Class: []int32{0, 1, 1, 1}}
	l, _ = mustFit(t, all, 2, Options{Trainer: Converge{Tolerance: 1e-7}})
	if p := predictions(t, l, all.X); math.Abs(float64(p[0])-0.25) > 1e-3 {
		t.Errorf("without inputs the first class has probability %v, want its share 1/4", p[0])
	}
}

func TestHugeInputsAreRefused(t *testing.T) {
	for _, size := range []float32{1e30, 3e38, 1e-30} {
		for _, trainer := range []Trainer{Converge{}, SGD{}, AdamW{}} {
			ex := Examples{X: &matrix.Dense{Columns: 2, Data: []float32{size, 0, 0, size, -size, size}}, Class: []int32{0, 1, 2}}
			if _, _, err := Fit(context.Background(), ex, 3, Options{Trainer: trainer}); err == nil || !strings.Contains(err.Error(), "scale the features") {
				t.Errorf("%T, inputs of %g: %v", trainer, size, err)
			}
		}
	}
	mixed := sample(1, 30, 4, 3)
	mixed.X.(*matrix.Dense).Data[5] = 1e13 // at the edge of what is taken
	l, _, err := Fit(context.Background(), mixed, 3, Options{})
	if err == nil {
		err = l.check()
	}
	if err != nil && !strings.Contains(err.Error(), "scale the features") {
		t.Errorf("one huge number: %v", err)
	}
}

func TestStopsWhereItSays(t *testing.T) {
	ex := sparsely(sample(10, 120, 15, 6))
	var last float64
	for _, tolerance := range []float64{1e-1, 1e-2, 1e-4, 1e-6} {
		_, r := mustFit(t, ex, 6, Options{Prior: 30, Trainer: Converge{Tolerance: tolerance}})
		if last != 0 && r.Objective > last*(1+1e-6) {
			t.Errorf("tolerance %g: objective %v, a looser one reached %v", tolerance, r.Objective, last)
		}
		last = r.Objective
	}
	_, r := mustFit(t, ex, 6, Options{Trainer: Converge{MaxSteps: 1}})
	if r.Steps != 1 || r.Converged {
		t.Errorf("with one step: %+v", r)
	}
	l, r := mustFit(t, ex, 6, Options{})
	_, again := mustFit(t, ex, 6, Options{Init: l})
	if again.Steps != 1 || !again.Converged || math.Abs(again.Objective-r.Objective) > 1e-4*r.Objective {
		t.Errorf("from the optimum: %+v, want one step", again)
	}
	for _, p := range problems(t) {
		l, _ := mustFit(t, ex, 6, p.options)
		o := p.options
		o.Init = l
		if _, again := mustFit(t, ex, 6, o); again.Steps > 1 {
			t.Errorf("%s: from the optimum: %+v, want one step", p.name, again)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	ex := sample(1, 10, 3, 2)
	hierarchy, err := loss.NewHierarchicalSoftmax(sixClasses(t, labeltree.VTree))
	if err != nil {
		t.Fatal(err)
	}
	other := &Layer{Classes: 2, Features: 2, Weight: make([]float32, 4), Bias: make([]float32, 2)}
	broken := &Layer{Classes: 2, Features: 3, Weight: make([]float32, 6), Bias: []float32{0, float32(math.NaN())}}
	short := ex
	short.Class = short.Class[:5]
	wrong := ex
	wrong.Class = slices.Clone(ex.Class)
	wrong.Class[3] = 2
	negative := ex
	negative.Weight = slices.Repeat([]float32{-1}, 10)
	nothing := ex
	nothing.Weight = make([]float32, 10)
	few := ex
	few.Weight = make([]float32, 3)
	nan := sample(1, 10, 3, 2)
	nan.X.(*matrix.Dense).Data[0] = float32(math.NaN())
	for _, tc := range []struct {
		name string
		ex   Examples
		k    int
		o    Options
		want string
	}{
		{"no examples at all", Examples{}, 2, Options{}, "no examples"},
		{"no rows", Examples{X: matrix.NewDense(0, 3)}, 2, Options{}, "at least one"},
		{"too few classes of rows", short, 2, Options{}, "5 classes for 10"},
		{"class out of range", wrong, 2, Options{}, "example 3: class 2"},
		{"no classes", ex, 0, Options{}, "0 classes"},
		{"negative weight", negative, 2, Options{}, "example 0: weight -1"},
		{"all weights 0", nothing, 2, Options{}, "weight 0"},
		{"too few weights", few, 2, Options{}, "3 weights"},
		{"NaN", nan, 2, Options{}, "NaN"},
		{"sharing of another k", ex, 2, Options{Sharing: sharing.None{K: 3}}, "sharing over 3 classes"},
		{"hierarchy of another k", ex, 2, Options{Hierarchy: hierarchy}, "over 6 classes"},
		{"hierarchy and loss", ex, 6, Options{Hierarchy: hierarchy, Loss: loss.CrossEntropy{}}, "of its own"},
		{"smoothing of 1", ex, 2, Options{Loss: loss.CrossEntropy{Smoothing: 1}}, "smoothing"},
		{"negative prior", ex, 2, Options{Prior: -1}, "prior -1"},
		{"infinite prior", ex, 2, Options{Prior: math.Inf(1)}, "prior"},
		{"negative tolerance", ex, 2, Options{Trainer: Converge{Tolerance: -1}}, "tolerance"},
		{"start of another shape", ex, 2, Options{Init: other}, "2 features"},
		{"start with NaN", ex, 2, Options{Init: broken}, "bias 1 is NaN"},
		{"rate", ex, 2, Options{Trainer: SGD{Rate: -1}}, "Rate is -1"},
		{"momentum", ex, 2, Options{Trainer: SGD{Momentum: 1}}, "Momentum is 1"},
		{"WeightDecay is +Inf", ex, 2, Options{Trainer: SGD{WeightDecay: math.Inf(1)}}, "WeightDecay is +Inf"},
		{"beta", ex, 2, Options{Trainer: AdamW{Beta1: 1}}, "Beta1 is 1"},
		{"schedule", ex, 2, Options{Trainer: SGD{Schedule: Step{Every: 1, Gamma: -1}}}, "schedule"},
		{"validation of another width", ex, 2, Options{Trainer: SGD{Monitor: Monitor{Valid: &Examples{X: matrix.NewDense(1, 2), Class: []int32{0}}}}}, "validation"},
		{"validation of another k", ex, 2, Options{Trainer: AdamW{Monitor: Monitor{Valid: &Examples{X: matrix.NewDense(1, 3), Class: []int32{4}}}}}, "validation"},
	} {
		l, _, err := Fit(context.Background(), tc.ex, tc.k, tc.o)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want one with %q", tc.name, err, tc.want)
		}
		if l != nil && tc.name != "schedule" {
			t.Errorf("%s: a layer came with the error", tc.name)
		}
	}
}

// foreign is a trainer of somebody else.
type foreign struct{ Converge }

func TestUnknownTrainer(t *testing.T) {
	if _, _, err := Fit(context.Background(), sample(1, 10, 3, 2), 2, Options{Trainer: foreign{}}); !errors.Is(err, ErrOptions) {
		t.Errorf("got %v", err)
	}
}

package softmax

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/internal/treetest"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/sharing"
)

// texts returns sparse examples that look like words: a few of many features,
// frequent ones and rare ones, some typical of a class.
func texts(seed uint64, n, d, k int) Examples {
	rng := rand.New(rand.NewPCG(seed, 9))
	x := &matrix.Sparse{Columns: d, Start: []int{0}}
	var class []int32
	for range n {
		y := rng.IntN(k)
		row := map[int32]float32{}
		for range 3 + rng.IntN(8) {
			f := int(float64(d) * math.Pow(rng.Float64(), 3))
			if rng.IntN(3) == 0 {
				f = (y*7 + rng.IntN(5)) % d
			}
			row[int32(f)] = rng.Float32()
		}
		var index []int32
		for f := range row {
			index = append(index, f)
		}
		slices.Sort(index)
		var value []float32
		for _, f := range index {
			value = append(value, row[f])
		}
		x.AppendRow(index, value)
		class = append(class, int32(y))
	}
	return Examples{X: x, Class: class}
}

// newtons returns the least objective, by Newton's method in float64.
func newtons(t *testing.T, ex Examples, o Options, prior float64) float64 {
	t.Helper()
	n := newNewton(ex, newDesign[float64](ex.X, true), 1, func() *head[float64] {
		return newHead[float64](o.Sharing, o.Loss, nil)
	}, 2)
	n.noBias = o.NoBias
	r, err := n.solve(context.Background(), ex.meanSquaredNorm()/prior, 1e-12, 300, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Objective
}

// dualOptions returns o for k classes with what 0 and nil stand for.
func dualOptions(t *testing.T, k int, o Options) Options {
	t.Helper()
	o, err := o.withDefaults(k)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestDualFindsTheOptimum(t *testing.T) {
	plain := texts(1, 200, 90, 7)
	weighted := plain
	weighted.Weight = make([]float32, 200)
	for i := range weighted.Weight {
		weighted.Weight[i] = float32(i%4) / 2
	}
	shared := weighted // every other example has two classes
	shared.Mix = &matrix.Sparse{Columns: 7}
	for i, y := range shared.Class {
		if i%2 == 0 || y == 6 {
			shared.Mix.AppendRow(nil, nil)
			continue
		}
		shared.Mix.AppendRow([]int32{y, 6}, []float32{0.75, 0.25})
	}
	repeated := Examples{X: plain.X.(*matrix.Sparse).Select(slices.Repeat([]int{0, 1, 2, 3, 4, 5}, 30)), Class: slices.Repeat([]int32{0, 1, 1, 2, 0, 2}, 30)}
	soft, err := loss.NewSoftLabels(metric.Func(7, func(i, j int) float64 { return math.Abs(float64(i*i - j*j)) }), 4)
	if err != nil {
		t.Fatal(err)
	}
	type test struct {
		name string
		ex   Examples
		k    int
		o    Options
	}
	tests := []test{
		{"plain", plain, 7, Options{}},
		{"without bias", plain, 7, Options{NoBias: true}},
		{"weights, some of them 0", weighted, 7, Options{}},
		{"smoothed labels", plain, 7, Options{Loss: loss.CrossEntropy{Smoothing: 0.2}}},
		{"shares", shared, 7, Options{}},
		{"smoothed shares", shared, 7, Options{Loss: loss.CrossEntropy{Smoothing: 0.2}}},
		{"soft labels", weighted, 7, Options{Loss: soft}},
		{"soft labels of shares", shared, 7, Options{Loss: soft}},
		{"classes without rows", plain, 12, Options{}},
		{"one text, two classes", repeated, 3, Options{}},
	}
	for name, s := range dualSharings(t, 7) {
		tests = append(tests, test{name, shared, 7, Options{Sharing: s}}, test{name + ", soft labels", weighted, 7, Options{Sharing: s, Loss: soft}})
	}
	for _, tc := range tests {
		o := tc.o
		o.Seed = 5
		o = dualOptions(t, tc.k, o)
		for _, prior := range []float64{0.1, 3, 30, 300, 5000} {
			t.Run(fmt.Sprintf("%s/prior=%v", tc.name, prior), func(t *testing.T) {
				if prior == 5000 && strings.HasPrefix(tc.name, "sum") { // a mean eigenvalue of 2
					prior = 4500
				}
				if !dualPays(tc.ex, o, []float64{prior}) {
					t.Fatal("not a problem for the dual")
				}
				least := newtons(t, tc.ex, o, prior)
				var record Record
				err := convergeDual[float32](context.Background(), tc.ex, o, Converge{Tolerance: 1e-4, MaxSteps: 100}, []float64{prior},
					func(_ float64, _ *Layer, r Record) error { record = r; return nil })
				if err != nil || !record.Converged {
					t.Fatalf("%+v, %v", record, err)
				}
				if record.Objective > least*(1+1e-4) || record.Objective < least*(1-1e-5) {
					t.Errorf("objective %v, the least is %v", record.Objective, least)
				}
			})
		}
	}
}

// dualSharings returns one of each form, the sum with a mean eigenvalue of 2, the
// others of 1; the K of some has no inverse.
func dualSharings(t *testing.T, k int) map[string]sharing.Sharing {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 1))
	e := &matrix.Sparse{Columns: 20}
	for range k {
		e.AppendRow([]int32{int32(rng.IntN(6)), int32(6 + rng.IntN(6)), int32(12 + rng.IntN(8))}, []float32{1, rng.Float32(), 2})
	}
	features, err := sharing.NewFeatures(e)
	if err != nil {
		t.Fatal(err)
	}
	dense := &sharing.Dense{K: k, M: 3, A: make([]float64, 3*k)}
	for i := range dense.A {
		dense.A[i] = rng.NormFloat64()
	}
	tree := sharing.NewTree(treetest.Random(t, rng, k))
	sum, err := sharing.NewSum(sharing.Part{Factor: 3, Sharing: features}, sharing.Part{Factor: 0.3, Sharing: tree}, sharing.Part{Factor: 0.3, Sharing: sharing.None{K: k}})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]sharing.Sharing{"features": features, "dense of low rank": dense, "tree": tree, "sum": sum}
	for name, s := range all {
		if all[name], err = sharing.Normalized(s); err != nil {
			t.Fatal(err)
		}
	}
	if all["sum"], err = sharing.NewSum(sharing.Part{Factor: math.Sqrt2, Sharing: all["sum"]}); err != nil {
		t.Fatal(err)
	}
	return all
}

// A tree of many classes is applied by its passes, and threads share the products
// with another K: both are what they are for few classes.
func TestClassKernel(t *testing.T) {
	const k = 600
	for name, s := range dualSharings(t, k) {
		fast, err := newClassKernel[float64](s)
		if err != nil {
			t.Fatal(err)
		}
		if _, tree := s.(*sharing.Tree); tree != (fast.dense == nil) {
			t.Errorf("%s: dense %v", name, fast.dense != nil)
		}
		x, want := make([]float64, k), make([]float64, k)
		for c := range x {
			x[c] = float64(c%5 - 2)
		}
		sharing.NewOperator[float64](s).Kernel(want, x, 1)
		for _, threads := range []int{1, 2, 5} {
			team := kernel.NewTeam(threads)
			out := slices.Repeat([]float64{7}, k)
			fast.apply(team, out, x)
			team.Close()
			if diff := largestDifference(centred(want, k), centred(out, k)); diff > 1e-9 {
				t.Errorf("%s, %d threads: K x is off by %v", name, threads, diff)
			}
		}
	}
}

// The examples of the largest gaps are visited again: of two classes of one text
// either pulls at the other, a little each visit.
func TestDualDoesNotStallOnOneTextOfTwoClasses(t *testing.T) {
	plain := texts(6, 1500, 300, 8)
	x := plain.X.(*matrix.Sparse)
	for i := range 10 {
		index, value := x.Row(i)
		x.AppendRow(index, value)
		plain.Class = append(plain.Class, (plain.Class[i]+1)%8)
	}
	o := dualOptions(t, 8, Options{Threads: 1})
	d, err := newDual[float32](plain, o, 1)
	if err != nil {
		t.Fatal(err)
	}
	record, err := d.solve(context.Background(), plain.meanSquaredNorm()/200, 1e-4, 100, true, nil)
	if err != nil || !record.Converged || record.Steps > 80 {
		t.Errorf("%+v, %v, want it to converge within 80 passes, it takes 100 and more without", record, err)
	}
}

// A large problem goes to the dual even far along a path and from a layer, whose bias
// stays where it is asked to.
func TestLargeProblemsGoToTheDual(t *testing.T) {
	const k = 600
	ex := texts(7, 8000, 500, k)
	start := newLayer(k, 500)
	start.Bias[3] = 2
	o := dualOptions(t, k, Options{Init: start, NoBias: true, Prior: 1e6, Trainer: Converge{Tolerance: 0.5, MaxSteps: 1}})
	if !dualPays(ex, o, []float64{o.Prior}) {
		t.Fatal("not a problem for the dual")
	}
	l, r, err := Fit(context.Background(), ex, k, o)
	if err != nil || r.Products > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if !slices.Equal(l.Bias, start.Bias) {
		t.Errorf("bias %v", l.Bias[:5])
	}
}

// A path begins each fit near its end.
func TestDualPathIsWarm(t *testing.T) {
	ex := texts(1, 600, 90, 7)
	o := dualOptions(t, 7, Options{Sharing: dualSharings(t, 7)["features"], Loss: loss.CrossEntropy{Smoothing: 0.1}})
	passes := func(priors ...float64) (n int, objective float64) {
		err := convergeDual[float32](context.Background(), ex, o, Converge{Tolerance: 1e-3, MaxSteps: 100}, priors,
			func(_ float64, _ *Layer, r Record) error { n, objective = r.Steps, r.Objective; return nil })
		if err != nil {
			t.Fatal(err)
		}
		return n, objective
	}
	cold, a := passes(10)
	warm, b := passes(3, 10)
	down, c := passes(30, 10)
	if warm >= cold || math.Abs(a-b) > 2e-3*a || math.Abs(a-c) > 2e-3*a {
		t.Errorf("%d passes to %v, from prior 3 %d to %v, from 30 %d to %v", cold, a, warm, b, down, c)
	}
}

// Whatever pass it is, the gap is at least what is missing to the minimum, and
// V is the sum over the examples that it is meant to be.
func TestDualityGapIsABound(t *testing.T) {
	ex := texts(2, 150, 60, 5)
	const prior = 20
	lambda := ex.meanSquaredNorm() / prior
	for name, s := range dualSharings(t, 5) {
		t.Run(name, func(t *testing.T) { testDualityGap(t, ex, lambda, prior, s) })
	}
	testDualityGap(t, ex, lambda, prior, sharing.None{K: 5})
}

func testDualityGap(t *testing.T, ex Examples, lambda, prior float64, s sharing.Sharing) {
	o := dualOptions(t, 5, Options{Seed: 1, Threads: 2, Sharing: s})
	least := newtons(t, ex, o, prior)
	d, err := newDual[float64](ex, o, 1)
	if err != nil {
		t.Fatal(err)
	}
	var last float64
	for n := range 60 {
		if _, _, err := d.pass(context.Background(), lambda); err != nil {
			t.Fatal(err)
		}
		gap, objective := d.certify(lambda)
		if missing := objective - least; missing > gap || missing < -1e-9*least {
			t.Errorf("pass %d: objective %v is %v above the minimum, the gap says %v", n, objective, missing, gap)
		}
		last = gap / objective
	}
	most := 1e-5
	if _, plain := s.(sharing.None); !plain {
		most = 2e-3 // of K it knows one number a move
	}
	if last > most {
		t.Errorf("after 60 passes the gap is still %v of the objective", last)
	}
	want, w := make([]float64, 60*5), make([]float64, 60*5)
	residual, a, shared := make([]float64, 5), make([]float64, 5), make([]float64, 5)
	op := sharing.NewOperator[float64](s)
	for i := range ex.X.Rows() {
		index, value := ex.X.(*matrix.Sparse).Row(i)
		for c := range 5 {
			a[c] = -math.Exp(d.logP[i*d.stride+c])
			if int32(c) == ex.Class[i] {
				a[c]++
			}
			residual[c] += a[c]
		}
		op.Kernel(shared, a, 1)
		for m, f := range index {
			kernel.Axpy(float64(value[m])/lambda, shared, want[int(f)*5:int(f)*5+5])
		}
	}
	for f := range 60 {
		copy(w[f*5:(f+1)*5], d.w[f*d.stride:])
	}
	if diff := largestDifference(centred(want, 5), centred(w, 5)); diff > 1e-5 {
		t.Errorf("W differs from the sum over the examples by %v", diff)
	}
	if diff := largestDifference(residual, d.residual); diff > 1e-9 {
		t.Errorf("the residual differs from its sum by %v", diff)
	}
}

// maximise approximates; what it misses by costs a pass a little of its gain.
func TestMaximise(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const k = 40
	for trial := range 500 {
		q := math.Exp(rng.Float64()*10 - 3)
		spread := 5 * rng.Float64()
		c, p, logP := make([]float64, k), make([]float64, k), make([]float64, k)
		for j := range c {
			c[j] = rng.NormFloat64() * spread
			p[j] = math.Exp(8 * rng.NormFloat64())
		}
		c[3] += q * rng.Float64()
		c[4] += q * rng.Float64()
		var total float64
		for _, x := range p {
			total += x
		}
		for j := range p {
			p[j] /= total
		}
		scores := slices.Clone(c)
		kernel.Axpy(-q, p, scores)
		maximise(p, logP, c, q, kernel.Softmax(scores, scores))
		var sum, mean, miss float64
		for j := range p {
			sum += p[j]
			mean += p[j] * (logP[j] + q*p[j] - c[j])
			if p[j] > 1e-300 && math.Abs(math.Log(p[j])-logP[j]) > 1e-9 {
				t.Fatalf("trial %d: p %v, its logarithm %v", trial, p[j], logP[j])
			}
		}
		for j := range p {
			miss += p[j] * math.Abs(logP[j]+q*p[j]-c[j]-mean)
		}
		if math.Abs(sum-1) > 1e-9 || miss > 0.02 {
			t.Errorf("trial %d, q %v: p sums to %v, log p + q p misses c by %v nats", trial, q, sum, miss)
		}
	}
}

// Each thread has some of the classes; 41 leave a rest beyond the lines, and are
// not padded.
func TestDualIsTheSameForAllThreads(t *testing.T) {
	for _, k := range []int{6, 41, 100, 150, 600} {
		ex := texts(4, 300, 80, k)
		var s sharing.Sharing
		if k != 41 && k != 100 {
			s = dualSharings(t, k)["features"]
		}
		var first *dual[float32]
		for _, threads := range []int{1, 2, 3, 5, 20} {
			d, err := newDual[float32](ex, dualOptions(t, k, Options{Seed: 3, Threads: threads, Sharing: s}), 1)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.solve(context.Background(), 0.01, 1e-4, 6, true, nil); err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = d
			}
			if !slices.Equal(d.w, first.w) || !slices.Equal(d.bias, first.bias) || !slices.Equal(d.logP, first.logP) {
				t.Errorf("%d classes, %d threads: other weights than 1", k, threads)
			}
		}
	}
}

func TestPartsShareTheClasses(t *testing.T) {
	for k := 1; k < 300; k += 7 {
		for _, threads := range []int{1, 2, 3, 8, 100} {
			d := dual[float32]{k: k, threads: threads}
			d.team = kernel.NewTeam(d.parts())
			next := 0
			for part := range d.parts() {
				lo, hi := d.classes(part)
				if lo != next || hi <= lo || lo%kernel.CacheLine != 0 {
					t.Errorf("%d classes, part %d of %d: %d to %d, want from %d on", k, part, d.parts(), lo, hi, next)
				}
				next = hi
			}
			if next != k || d.parts() > threads {
				t.Errorf("%d classes, %d parts of %d threads have the classes below %d", k, d.parts(), threads, next)
			}
			d.team.Close()
		}
	}
}

func TestDualStopsWhenCancelled(t *testing.T) {
	ex := texts(5, 3000, 300, 6)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	l, _, err := Fit(ctx, ex, 6, Options{Prior: 30, Progress: func(p Progress) { cancel() }, Trainer: Converge{Tolerance: 1e-9}})
	if !errors.Is(err, context.Canceled) || l == nil {
		t.Fatalf("%v, layer %v", err, l)
	}
	if err := l.check(); err != nil {
		t.Error(err)
	}
}

package softmax

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
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
func newtons(t *testing.T, ex Examples, k int, l loss.Loss, prior float64) float64 {
	t.Helper()
	o, err := Options{Loss: l}.withDefaults(k)
	if err != nil {
		t.Fatal(err)
	}
	n := newNewton(newDesign[float64](ex.X, true), 1, ex.target, ex.Weight, func() *head[float64] {
		return newHead[float64](o.Sharing, o.Loss, nil)
	}, 2)
	r, err := n.solve(context.Background(), ex.meanSquaredNorm()/prior, 1e-12, 300, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Objective
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
	for _, tc := range []struct {
		name string
		ex   Examples
		k    int
		l    loss.CrossEntropy
	}{
		{"plain", plain, 7, loss.CrossEntropy{}},
		{"weights, some of them 0", weighted, 7, loss.CrossEntropy{}},
		{"smoothed labels", plain, 7, loss.CrossEntropy{Smoothing: 0.2}},
		{"shares", shared, 7, loss.CrossEntropy{}},
		{"smoothed shares", shared, 7, loss.CrossEntropy{Smoothing: 0.2}},
		{"classes without rows", plain, 12, loss.CrossEntropy{}},
		{"one text, two classes", repeated, 3, loss.CrossEntropy{}},
	} {
		for _, prior := range []float64{0.1, 3, 30, 300, 5000} {
			t.Run(fmt.Sprintf("%s/prior=%v", tc.name, prior), func(t *testing.T) {
				if !dualPays(tc.ex, Options{Loss: tc.l, Sharing: sharing.None{K: tc.k}}, []float64{prior}) {
					t.Fatal("not a problem for the dual")
				}
				least := newtons(t, tc.ex, tc.k, tc.l, prior)
				o, _ := Options{Loss: tc.l, Seed: 5}.withDefaults(tc.k)
				var record Record
				err := convergeDual[float32](context.Background(), tc.ex, o, Converge{Tolerance: 1e-4, MaxSteps: 100}, []float64{prior}, 1,
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

// Whatever pass it is, the gap is at least what is missing to the minimum, and
// V is the sum over the examples that it is meant to be.
func TestDualityGapIsABound(t *testing.T) {
	ex := texts(2, 150, 60, 5)
	const prior = 20
	lambda := ex.meanSquaredNorm() / prior
	least := newtons(t, ex, 5, loss.CrossEntropy{}, prior)
	d := newDual[float64](ex, 5, loss.CrossEntropy{}, 1, 1, 2)
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
	if last > 1e-5 {
		t.Errorf("after 60 passes the gap is still %v of the objective", last)
	}
	want, v := make([]float64, 60*5), make([]float64, 60*5)
	d.copyWeights(v)
	surplus := make([]float64, 5)
	for i := range ex.X.Rows() {
		index, value := ex.X.(*matrix.Sparse).Row(i)
		for c := range 5 {
			a := -math.Exp(d.logP[i*d.stride+c])
			if int32(c) == ex.Class[i] {
				a++
			}
			surplus[c] += a
			for m, f := range index {
				want[int(f)*5+c] += a * float64(value[m]) / lambda
			}
		}
	}
	if diff := largestDifference(want, v); diff > 1e-6 {
		t.Errorf("V differs from the sum over the examples by %v", diff)
	}
	if diff := largestDifference(surplus, d.surplus); diff > 1e-9 {
		t.Errorf("the surplus differs from its sum by %v", diff)
	}
}

// settle approximates; what it misses by costs a pass a little of its gain.
func TestSettle(t *testing.T) {
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
		settle(p, logP, c, q, kernel.Softmax(scores, scores))
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
	for _, k := range []int{6, 41, 100, 150} {
		ex := texts(4, 300, 80, k)
		var first *dual[float32]
		for _, threads := range []int{1, 2, 3, 5, 20} {
			d := newDual[float32](ex, k, loss.CrossEntropy{}, 1, 3, threads)
			if _, err := d.solve(context.Background(), 0.01, 1e-4, 6, nil); err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = d
			}
			if !slices.Equal(d.v, first.v) || !slices.Equal(d.bias, first.bias) || !slices.Equal(d.logP, first.logP) {
				t.Errorf("%d classes, %d threads: other weights than 1", k, threads)
			}
		}
	}
}

func TestPartsShareTheClasses(t *testing.T) {
	for k := 1; k < 300; k += 7 {
		for _, threads := range []int{1, 2, 3, 8, 100} {
			d := dual[float32]{k: k, threads: threads}
			d.crew = kernel.NewCrew(d.parts())
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
			d.crew.Close()
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

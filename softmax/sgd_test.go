package softmax

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// plainSGD is SGD on V and b as the comment of SGD writes it, with A written
// out and no shortcut. It returns W = A V and b.
func plainSGD(ex Examples, a [][]float64, l lossOf, sgd SGD, seed uint64, v, b []float64) (w, bias []float64) {
	x := rows(ex)
	n, d, m, k := len(x), len(x[0]), len(a[0]), len(a)
	square, total := 0.0, 0.0
	for i, row := range x {
		for _, value := range row {
			square += ex.weightOf(i) * value * value
		}
		total += ex.weightOf(i)
	}
	inputs := 1 / (square / total) // the step in V for inputs of length 1
	if sgd.RawInputs {
		inputs = 1
	}
	velocity, biasVelocity := make([]float64, d*m), make([]float64, k)
	sumV, sumB, steps := make([]float64, d*m), make([]float64, k), 0.0
	scores, outputs := make([]float64, k), make([]float64, m)
	for epoch := range sgd.Epochs {
		rate := sgd.Rate
		switch s := sgd.Schedule.(type) {
		case Step:
			for e := s.Every; e <= epoch; e += s.Every {
				rate *= s.Gamma
			}
		case Cosine:
			rate *= 0.5 + 0.5*math.Cos(math.Pi*float64(epoch)/float64(sgd.Epochs))
		}
		order := make([]int32, n)
		for i := range order {
			order[i] = int32(i)
		}
		if !sgd.InOrder {
			rand.New(rand.NewPCG(seed, streamShuffle<<32|uint64(epoch))).Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		for at := 0; at < n; at += sgd.Batch {
			batch := order[at:min(at+sgd.Batch, n)]
			grad, gradB := make([]float64, d*m), make([]float64, k)
			for _, i := range batch {
				share := ex.weightOf(int(i)) / (total / float64(n)) / float64(len(batch))
				clear(outputs)
				for f, value := range x[i] {
					for j := range m {
						outputs[j] += value * v[f*m+j]
					}
				}
				for c := range k {
					scores[c] = b[c] + inner(a[c], outputs)
				}
				_, g := l(scores, int(ex.Class[i]))
				clear(outputs)
				for c := range k {
					gradB[c] += share * g[c]
					add(share*g[c], a[c], outputs)
				}
				for f, value := range x[i] {
					for j := range m {
						grad[f*m+j] += inputs * value * outputs[j]
					}
				}
			}
			step := func(v, velocity, grad []float64, decay float64) {
				for j := range v {
					g := grad[j] + decay*v[j]
					velocity[j] = sgd.Momentum*velocity[j] + g
					if sgd.Nesterov {
						v[j] -= rate * (g + sgd.Momentum*velocity[j])
					} else {
						v[j] -= rate * velocity[j]
					}
				}
			}
			step(v, velocity, grad, max(sgd.WeightDecay, 0))
			step(b, biasVelocity, gradB, 0)
			add(1, v, sumV)
			add(1, b, sumB)
			steps++
		}
	}
	if sgd.Average {
		for j := range v {
			v[j] = sumV[j] / steps
		}
		for c := range b {
			b[c] = sumB[c] / steps
		}
	}
	w = make([]float64, d*k)
	for f := range d {
		for c := range k {
			w[f*k+c] = inner(a[c], v[f*m:(f+1)*m])
		}
	}
	return w, b
}

// sgdVariants is every option at least once, and those that meet.
func sgdVariants() map[string]SGD {
	return map[string]SGD{
		"plain":                       {Epochs: 3, Batch: 7, Rate: 0.3, WeightDecay: -1},
		"batch of one":                {Epochs: 2, Batch: 1, Rate: 0.05, Momentum: 0.9, WeightDecay: 3e-4},
		"momentum, decay":             {Epochs: 3, Batch: 4, Rate: 0.1, Momentum: 0.8, WeightDecay: 0.02},
		"Nesterov, decay, step":       {Epochs: 5, Batch: 4, Rate: 0.1, Momentum: 0.9, Nesterov: true, WeightDecay: 0.05, Schedule: Step{Every: 2, Gamma: 0.5}},
		"Nesterov, average, cosine":   {Epochs: 4, Batch: 3, Rate: 0.2, Momentum: 0.5, Nesterov: true, WeightDecay: 0.01, Average: true, Schedule: Cosine{}},
		"average, momentum, step":     {Epochs: 4, Batch: 5, Rate: 0.2, Momentum: 0.7, WeightDecay: 0.03, Average: true, Schedule: Step{Every: 1, Gamma: 0.3}},
		"raw inputs, batch beyond n":  {Epochs: 3, Batch: 100, Rate: 0.1, Momentum: 0.9, WeightDecay: 0.1, RawInputs: true},
		"no momentum, decay, average": {Epochs: 2, Batch: 6, Rate: 0.1, WeightDecay: 0.2, Average: true},
		"the paper's, one pass":       {Epochs: 1, Batch: 1, Rate: 0.01, Momentum: 0.9, WeightDecay: 3e-4, Average: true, RawInputs: true, InOrder: true},
	}
}

// Training in W space is training in V space: to rounding in float64, and to
// 1e-5 as it is used.
func TestSGDInWSpaceIsSGDInVSpace(t *testing.T) {
	dense := sample(21, 37, 30, 6)
	for i := range dense.X.(*matrix.Dense).Data { // rare features, so that rows wait long
		if i%30 > 5 && (i*7)%11 != 0 {
			dense.X.(*matrix.Dense).Data[i] = 0
		}
	}
	weighted := sparsely(dense)
	weighted.Weight = make([]float32, 37)
	for i := range weighted.Weight {
		weighted.Weight[i] = float32(i%4) / 2
	}
	inputs := map[string]Examples{"dense": dense, "sparse": sparsely(dense), "weighted": weighted}
	ps := problems(t)
	n := 0
	for name, sgd := range sgdVariants() {
		for kind, ex := range inputs {
			for _, p := range ps {
				for _, warm := range []bool{false, true} {
					if n++; warm && p.options.Hierarchy != nil {
						continue
					}
					o, err := p.options.withDefaults(6)
					if err != nil {
						t.Fatal(err)
					}
					o.Seed = 5
					m := len(p.a[0])
					v, b := make([]float64, 30*m), make([]float64, len(p.a))
					if warm {
						o.Init = startLayer(30, 6)
						if err := unfold(o.Init, v, b, 1, o.Sharing, 1); err != nil {
							t.Fatal(err)
						}
					}
					want, wantBias := plainSGD(ex, p.a, p.loss, sgd, o.Seed, v, b)

					loop, u, err := newSGD[float64](ex.source(), o, sgd, 10)
					if err != nil {
						t.Fatal(err)
					}
					l, _, err := loop.run(context.Background())
					if err != nil {
						t.Fatal(err)
					}
					w, bias := u.current()
					what := fmt.Sprintf("%s, %s, %s, warm %v", name, kind, p.name, warm)
					if diff := max(largestDifference(w, want), largestDifference(bias, wantBias)); diff > 1e-10 {
						t.Fatalf("%s: float64 differs by %g", what, diff)
					}
					if diff := largestDifference(l.Weight, narrow(want)); diff > 1e-6*(1+biggest(want)) {
						t.Fatalf("%s: the layer differs by %g", what, diff)
					}
					single, _, err := trainSGD[float32](context.Background(), ex.source(), o, sgd, 10)
					if err != nil {
						t.Fatal(err)
					}
					if diff := max(largestDifference(single.Weight, narrow(want)), largestDifference(single.Bias, narrow(wantBias))); diff > 1e-5*(1+biggest(want)) {
						t.Fatalf("%s: float32 differs by %g of %g", what, diff, biggest(want))
					}
				}
			}
		}
	}
}

// Last is what training without averaging returns.
func TestLastBesideTheMean(t *testing.T) {
	dense := sample(22, 30, 8, 4)
	for kind, ex := range map[string]Examples{"dense": dense, "sparse": sparsely(dense)} {
		for _, momentum := range []float64{0, 0.9} {
			sgd := SGD{Epochs: 2, Batch: 3, Rate: 0.1, Momentum: momentum, Last: &Layer{}}
			want, _, err := Fit(context.Background(), ex, 4, Options{Trainer: sgd})
			if err != nil {
				t.Fatal(err)
			}
			if diff := largestDifference(sgd.Last.Weight, want.Weight); diff != 0 {
				t.Errorf("%s: without averaging the last weights differ by %g from those returned", kind, diff)
			}
			sgd.Average = true
			mean, _, err := Fit(context.Background(), ex, 4, Options{Trainer: sgd})
			if err != nil {
				t.Fatal(err)
			}
			if diff := max(largestDifference(sgd.Last.Weight, want.Weight), largestDifference(sgd.Last.Bias, want.Bias)); diff > 1e-6 {
				t.Errorf("%s, momentum %v: the last weights differ by %g from those without averaging", kind, momentum, diff)
			}
			if largestDifference(mean.Weight, want.Weight) < 1e-3 {
				t.Errorf("%s: the mean is the last", kind)
			}
		}
	}
}

func startLayer(d, k int) *Layer {
	random := rand.New(rand.NewPCG(3, 3))
	l := &Layer{Classes: k, Features: d, Weight: make([]float32, d*k), Bias: make([]float32, k)}
	for j := range l.Weight {
		l.Weight[j] = float32(random.NormFloat64()) / 4
	}
	for j := range l.Bias {
		l.Bias[j] = float32(random.NormFloat64()) / 4
	}
	return l
}

func narrow(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}

func biggest(x []float64) (most float64) {
	for _, v := range x {
		most = max(most, math.Abs(v))
	}
	return most
}

// plainAdamW is AdamW on V and b with A written out (Loshchilov and Hutter
// 2019, algorithm 2), for inputs of mean squared length 1.
func plainAdamW(ex Examples, a [][]float64, l lossOf, adam AdamW, seed uint64, v, b []float64) (w, bias []float64) {
	x := rows(ex)
	scale := 1 / math.Sqrt(ex.meanSquaredNorm())
	for _, row := range x {
		for f := range row {
			row[f] *= scale
		}
	}
	n, d, m, k := len(x), len(x[0]), len(a[0]), len(a)
	for j := range v {
		v[j] /= scale
	}
	params := append(append([]float64(nil), v...), b...)
	mean, square := make([]float64, len(params)), make([]float64, len(params))
	scores, outputs, t := make([]float64, k), make([]float64, m), 0.0
	for epoch := range adam.Epochs {
		order := make([]int32, n)
		for i := range order {
			order[i] = int32(i)
		}
		rand.New(rand.NewPCG(seed, streamShuffle<<32|uint64(epoch))).Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
		for at := 0; at < n; at += adam.Batch {
			batch := order[at:min(at+adam.Batch, n)]
			grad := make([]float64, len(params))
			for _, i := range batch {
				clear(outputs)
				for f, value := range x[i] {
					add(value, params[f*m:(f+1)*m], outputs)
				}
				for c := range k {
					scores[c] = params[d*m+c] + inner(a[c], outputs)
				}
				_, g := l(scores, int(ex.Class[i]))
				clear(outputs)
				for c := range k {
					grad[d*m+c] += g[c] / float64(len(batch))
					add(g[c]/float64(len(batch)), a[c], outputs)
				}
				for f, value := range x[i] {
					add(value, outputs, grad[f*m:(f+1)*m])
				}
			}
			t++
			for j, g := range grad {
				mean[j] = adam.Beta1*mean[j] + (1-adam.Beta1)*g
				square[j] = adam.Beta2*square[j] + (1-adam.Beta2)*g*g
				step := mean[j] / (1 - math.Pow(adam.Beta1, t)) / (math.Sqrt(square[j]/(1-math.Pow(adam.Beta2, t))) + adam.Epsilon)
				if j < d*m {
					params[j] -= adam.Rate * adam.WeightDecay * params[j]
				}
				params[j] -= adam.Rate * step
			}
		}
	}
	w = make([]float64, d*k)
	for f := range d {
		for c := range k {
			w[f*k+c] = scale * inner(a[c], params[f*m:(f+1)*m])
		}
	}
	return w, params[d*m:]
}

func TestAdamWIsThePlainForm(t *testing.T) {
	dense := sample(22, 33, 12, 6)
	adam := AdamW{Epochs: 3, Batch: 5, Rate: 0.05, Beta1: 0.8, Beta2: 0.95, Epsilon: 1e-3, WeightDecay: 0.1}
	for _, p := range problems(t) {
		for kind, ex := range map[string]Examples{"dense": dense, "sparse": sparsely(dense)} {
			o, err := p.options.withDefaults(6)
			if err != nil {
				t.Fatal(err)
			}
			m := len(p.a[0])
			v, b := make([]float64, 12*m), make([]float64, len(p.a))
			if p.options.Hierarchy == nil && kind == "dense" {
				o.Init = startLayer(12, 6)
				if err := unfold(o.Init, v, b, 1, o.Sharing, 1); err != nil {
					t.Fatal(err)
				}
			}
			want, wantBias := plainAdamW(ex, p.a, p.loss, adam, 0, v, b)
			loop, u, err := newAdamW[float64](ex.source(), o, adam)
			if err != nil {
				t.Fatal(err)
			}
			l, _, err := loop.run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if diff := max(largestDifference(l.Weight, narrow(want)), largestDifference(u.bias, wantBias)); diff > 1e-6*(1+biggest(want)) {
				t.Errorf("%s, %s: float64 differs by %g", p.name, kind, diff)
			}
			single, _, err := trainAdamW[float32](context.Background(), ex.source(), o, adam, 10)
			if err != nil {
				t.Fatal(err)
			}
			if diff := largestDifference(single.Weight, narrow(want)); diff > 1e-4*(1+biggest(want)) {
				t.Errorf("%s, %s: float32 differs by %g", p.name, kind, diff)
			}
		}
	}
}

// A step that an earlier row of features missed counts as if it had been made,
// whatever the number of steps missed.
func TestCatchingUpIsAPower(t *testing.T) {
	for name, sgd := range sgdVariants() {
		o := Options{Sharing: sharing.None{K: 2}}
		loop, u, err := newSGD[float64](Examples{X: matrix.NewDense(1, 1), Class: []int32{0}}.source(), o, sgd, 10)
		if err != nil || loop == nil {
			t.Fatal(err)
		}
		if u.velocity == nil { // without momentum
			u.velocity = make([]float64, 2)
		}
		u.weight[0], u.velocity[0] = 1.5, -0.25
		one := *u
		one.weight, one.velocity = []float64{1.5, 0}, []float64{-0.25, 0}
		if u.sum != nil {
			one.sum = make([]float64, 2)
		}
		u.beginEpoch(0.1, 200)
		one.beginEpoch(0.1, 200)
		for n := 1; n <= 200; n++ {
			one.advance(one.powers[1], 0, 2)
			w, v := u.weight[0], u.velocity[0]
			for u.step < int32(n) {
				u.step++
			}
			if n%50 == 0 {
				u.catchUp(0)
				if d := max(math.Abs(u.weight[0]-one.weight[0]), math.Abs(u.velocity[0]-one.velocity[0])); d > 1e-13 {
					t.Errorf("%s: %d steps from %v, %v: off by %g", name, n, w, v, d)
				}
				if u.sum != nil && math.Abs(u.sum[0]-one.sum[0]) > 1e-11 {
					t.Errorf("%s: %d steps: sum %v, want %v", name, n, u.sum[0], one.sum[0])
				}
			}
		}
	}
}

// TestTreesTakeTheFusedStep: a tree that was normalised, as every sharing that the
// program trains with, must not fall to the general product with K.
func TestTreesTakeTheFusedStep(t *testing.T) {
	dense := sample(24, 20, 5, 6)
	for _, kind := range []labeltree.Kind{labeltree.UTree, labeltree.VTree} {
		s, err := sharing.Normalized(sharing.NewTree(sixClasses(t, kind)))
		if err != nil {
			t.Fatal(err)
		}
		o, err := Options{Sharing: s}.withDefaults(6)
		if err != nil {
			t.Fatal(err)
		}
		loop, _, err := newSGD[float32](dense.source(), o, SGD{}, 10)
		if err != nil {
			t.Fatal(err)
		}
		d, ok := loop.stepper.(*denseSteps)
		if !ok || d.tree == nil {
			t.Fatalf("kind %v, dense rows: steps by %T without the tree in them", kind, loop.stepper)
		}
		d.beginEpoch(0.1, 1)
		batch := []int32{3, 1, 4, 15, 9}
		if n := testing.AllocsPerRun(3, func() { d.makeStep(batch) }); n != 0 {
			t.Errorf("kind %v: a step allocates %v times", kind, n)
		}
		loop, _, err = newSGD[float32](sparsely(dense).source(), o, SGD{}, 10)
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := loop.stepper.(*sparseSteps[float32]); !ok || d.gradients.tree == nil || d.gradients.blocks[0].kernel != nil {
			t.Errorf("kind %v, sparse rows: steps by %T, example by example", kind, loop.stepper)
		}
	}
}

func TestSchedules(t *testing.T) {
	for _, tc := range []struct {
		s     Schedule
		epoch int
		want  float64
	}{
		{Step{Every: 3, Gamma: 0.1}, 2, 1}, {Step{Every: 3, Gamma: 0.1}, 3, 0.1}, {Step{Every: 3, Gamma: 0.5}, 9, 0.125},
		{Step{Gamma: 0.5}, 2, 0.25}, {Cosine{}, 0, 1}, {Cosine{}, 5, 0.5}, {Cosine{}, 10, 0},
	} {
		if got := tc.s.Factor(tc.epoch, 10); math.Abs(got-tc.want) > 1e-15 {
			t.Errorf("%T%v in epoch %d: %v, want %v", tc.s, tc.s, tc.epoch, got, tc.want)
		}
	}
}

// The defaults of SGD come near the optimum that Converge finds.
func TestSGDComesNearTheOptimum(t *testing.T) {
	ex := sparsely(sample(23, 200, 15, 6))
	tree := sharing.NewTree(sixClasses(t, labeltree.VTree))
	for name, s := range map[string]sharing.Sharing{"none": nil, "V-tree": tree} {
		_, best := mustFit(t, ex, 6, Options{Sharing: s})
		l, _ := mustFit(t, ex, 6, Options{Sharing: s, Trainer: SGD{Epochs: 300, Schedule: Cosine{}}})
		if s == nil {
			s = sharing.None{K: 6}
		}
		value, _ := newReference(ex, denseA(s), crossEntropy(0, 6), 10).at(t, l, s)
		if value > 1.01*best.Objective {
			t.Errorf("%s: objective %v, the least is %v", name, value, best.Objective)
		}
	}
}

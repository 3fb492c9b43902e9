package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// randomTree returns a random tree over k classes: some on inner nodes, some
// two on one, edges of any length.
func randomTree(t testing.TB, rng *rand.Rand, k int) (f *Tree, parent []int32, length []float64, class []int32) {
	t.Helper()
	n := 1 + rng.IntN(2*k)
	parent, length, class = make([]int32, n), make([]float64, n), make([]int32, k)
	for v := range parent {
		parent[v], length[v] = int32(rng.IntN(max(v, 1))), rng.Float64()+0.1
	}
	parent[0] = -1
	for c := range class {
		class[c] = int32(rng.IntN(n))
	}
	f, err := NewTree(parent, length, class)
	if err != nil {
		t.Fatal(err)
	}
	return f, parent, length, class
}

// reference is SGD on V in float64, W = A V.
type reference struct {
	a                [][]float64 // k x m
	v, vel           [][]float64 // m x d
	bias, biasVel    []float64
	rate, mu, decay  float64
	nesterov         bool
	sum              [][]float64 // of W, k x d
	features, labels int
}

func newReference(a [][]float64, d int) *reference {
	matrix := func(rows int) [][]float64 {
		m := make([][]float64, rows)
		for i := range m {
			m[i] = make([]float64, d)
		}
		return m
	}
	m := len(a[0])
	return &reference{a: a, v: matrix(m), vel: matrix(m), sum: matrix(len(a)), bias: make([]float64, len(a)), biasVel: make([]float64, len(a)), features: d, labels: len(a)}
}

func (r *reference) weight(c, f int) (w float64) {
	for j, a := range r.a[c] {
		w += a * r.v[j][f]
	}
	return w
}

func (r *reference) step(rows [][]float32, class []int32, share []float32) (loss float64) {
	k, d := r.labels, r.features
	g := make([][]float64, k) // k x d
	for c := range g {
		g[c] = make([]float64, d)
	}
	gBias := make([]float64, k)
	weights := make([]float64, k*d)
	for c := range k {
		for f := range d {
			weights[c*d+f] = r.weight(c, f)
		}
	}
	for b, x := range rows {
		z := make([]float64, k)
		for c := range z {
			z[c] = r.bias[c]
			for f := range d {
				z[c] += weights[c*d+f] * float64(x[f])
			}
		}
		p := make([]float64, k)
		loss += float64(share[b]) * (softmaxGo(p, z) - z[class[b]])
		p[class[b]]--
		for c := range k {
			gBias[c] += float64(share[b]) * p[c]
			for f := range d {
				g[c][f] += float64(share[b]) * p[c] * float64(x[f])
			}
		}
	}
	move := func(w, v *float64, grad, decay float64) {
		grad += decay * *w
		*v = r.mu**v + grad
		if r.nesterov {
			*w -= r.rate * (grad + r.mu**v)
		} else {
			*w -= r.rate * *v
		}
	}
	for j := range r.v {
		for f := range d {
			var grad float64
			for c := range k {
				grad += r.a[c][j] * g[c][f]
			}
			move(&r.v[j][f], &r.vel[j][f], grad, r.decay)
		}
	}
	for c := range k {
		move(&r.bias[c], &r.biasVel[c], gBias[c], 0) // shares nothing
		for f := range d {
			r.sum[c][f] += r.weight(c, f)
		}
	}
	return loss
}

// linear returns the step of SGD as a map.
func linear(rate, mu, decay float64, nesterov bool) Step[float32] {
	if nesterov {
		return Step[float32]{WW: float32(1 - rate*(decay+mu*decay)), WV: float32(-rate * mu * mu), WG: float32(-rate * (1 + mu)), VW: float32(decay), VV: float32(mu), VG: 1}
	}
	return Step[float32]{WW: float32(1 - rate*decay), WV: float32(-rate * mu), WG: float32(-rate), VW: float32(decay), VV: float32(mu), VG: 1}
}

func batchOf(rng *rand.Rand, makeRow func(int) []float32, n, d, k int) (rows [][]float32, class []int32, share []float32) {
	all := makeRow(n * d)
	fill(rng, all, false)
	for b := range n {
		rows = append(rows, all[b*d:(b+1)*d:(b+1)*d])
		class, share = append(class, int32(rng.IntN(k))), append(share, rng.Float32()/float32(n))
	}
	return rows, class, share
}

// checkDense makes steps on a random problem, of a sort that n says, on all kinds.
func checkDense(t *testing.T, rng *rand.Rand, n int, three *Team, makeRow func(int) []float32) {
	t.Helper()
	k, d, batch := 1+rng.IntN(40), 1+rng.IntN(70), 1+rng.IntN(70)
	large := n == 0 || n == 3
	if large {
		k, d, batch = 130, 200, 66 // past smallProduct
	}
	f, parent, length, class := randomTree(t, rng, k)
	a := make([][]float64, k)
	for c := range a {
		a[c] = make([]float64, len(parent))
		for v := class[c]; v >= 0; v = parent[v] {
			a[c][v] = math.Sqrt(length[v])
		}
	}
	var general func(worker int, out, g []float32, cols int)
	switch n % 3 {
	case 1: // cross entropy
		f = nil
		for c := range a {
			a[c] = make([]float64, k)
			a[c][c] = 1
		}
	case 2: // K by its definition
		f = nil
		general = func(_ int, out, g []float32, cols int) {
			clear(out[:k*cols])
			for i := range k {
				for j := range k {
					var dot float64
					for v := range a[i] {
						dot += a[i][v] * a[j][v]
					}
					axpyGo(float32(dot), g[j*cols:(j+1)*cols], out[i*cols:(i+1)*cols])
				}
			}
		}
	}
	seed := rng.Uint64()
	rate, mu, decay, nesterov := 0.3, 0.9, 0.01, n%2 == 0
	var vector, inGo []float32
	for _, kd := range kinds() {
		for _, team := range []*Team{nil, three} {
			name := fmt.Sprintf("case %d: k=%d d=%d batch=%d kind=%v threads=%d", n, k, d, batch, kd, team.Threads())
			rng := rand.New(rand.NewPCG(seed, 0))
			s := newDense(kd, team, k, d, batch, true, f, general)
			s.SetStep(linear(rate, mu, decay, nesterov), linear(rate, mu, 0, nesterov))
			var classes []int32 // of the batch
			if n%4 == 3 {
				s.SetLoss(func(_ int, grad, scores []float32, row int) float64 {
					value := softmaxGo(grad, scores) - float64(scores[classes[row]])
					grad[classes[row]]--
					return value
				})
			}
			r := newReference(a, d)
			r.rate, r.mu, r.decay, r.nesterov = rate, mu, decay, nesterov
			for range 4 {
				rows, class, share := batchOf(rng, makeRow, 1+rng.IntN([]int{batch, min(batch, fewExamples)}[n/3%2]), d, k)
				classes = class
				got, want := s.Step(rows, class, share), 0.0
				if !large || kd == best && team != nil {
					want = r.step(rows, class, share)
					if math.Abs(got-want) > 2e-5*(1+want) {
						t.Fatalf("%s: loss %v, want %v", name, got, want)
					}
				}
			}
			var all []float32
			for c := range k {
				for j, w := range s.Weight.X[c*s.Weight.Stride:][:d] {
					all = append(all, w, s.Velocity.X[c*s.Weight.Stride+j], s.Sum.X[c*s.Sum.Stride+j])
					if large && (kd != best || team == nil) {
						continue
					}
					if want := r.weight(c, j); math.Abs(float64(w)-want) > 1e-4*(1+math.Abs(want)) {
						t.Fatalf("%s: weight %d,%d is %g, want %g", name, c, j, w, want)
					}
					if got, want := float64(s.Sum.X[c*s.Sum.Stride+j]), r.sum[c][j]; math.Abs(got-want) > 4e-4*(1+math.Abs(want)) {
						t.Fatalf("%s: sum of weight %d,%d is %g, want %g", name, c, j, got, want)
					}
				}
				if want := r.bias[c]; (!large || kd == best && team != nil) && math.Abs(float64(s.Bias[c])-want) > 1e-4*(1+math.Abs(want)) {
					t.Fatalf("%s: bias %d is %g, want %g", name, c, s.Bias[c], want)
				}
			}
			all = append(all, s.BiasSum...)
			if kd == plain {
				inGo = all
			} else {
				// How far models may be apart, after a few steps with
				// gradients of about 1.
				for i, x := range inGo {
					if apart := math.Abs(float64(x - all[i])); apart > 1e-5*(1+math.Abs(float64(x))) {
						t.Fatalf("%s: number %d is %g, in plain Go %g", name, i, all[i], x)
					}
				}
				for i := range vector {
					if !same(vector[i], all[i]) {
						t.Fatalf("%s: number %d is %g, earlier kind or team %g", name, i, all[i], vector[i])
					}
				}
				vector = all
			}
		}
	}
}

// TestDense compares training in W space with SGD on V in float64, the vector
// kinds and teams with each other to the last bit, and plain Go with them.
func TestDense(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	three := NewTeam(3)
	defer three.Close()
	makeRow := guarded(t, 70*200)
	for n := range 30 {
		checkDense(t, rng, n, three, makeRow)
	}
}

func TestDenseDoesNotAllocate(t *testing.T) {
	team := NewTeam(2)
	defer team.Close()
	rng := rand.New(rand.NewPCG(5, 2))
	makeRow := func(n int) []float32 { return make([]float32, n) }
	for _, n := range []int{1, 40} {
		rows, class, share := batchOf(rng, makeRow, n, 200, 220)
		s := NewDense(team, 220, 200, n, true, balanced(t, 220), nil)
		for _, loss := range []func(int, []float32, []float32, int) float64{nil, func(_ int, grad, scores []float32, _ int) float64 {
			copy(grad, scores)
			return 1
		}} {
			if loss != nil {
				s.SetLoss(loss)
			}
			if allocs := testing.AllocsPerRun(10, func() { s.Step(rows, class, share) }); allocs >= 1 {
				t.Errorf("%d rows: %v allocations a step", n, allocs)
			}
		}
		if s.Step(nil, nil, nil) != 0 {
			t.Error("a step on nothing has a loss")
		}
	}
}

func BenchmarkDense(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][3]int{{256, 768, 1000}, {64, 768, 1000}, {256, 300, 150}, {32, 2048, 1000}, {128, 64, 100}} {
		n, d, k := s[0], s[1], s[2]
		rows, class, share := batchOf(rng, func(n int) []float32 { return make([]float32, n) }, n, d, k)
		for _, kd := range kinds()[1:] {
			for _, loss := range []string{"xent", "tree"} {
				for _, threads := range []int{1, 2} {
					b.Run(fmt.Sprintf("B=%d/d=%d/k=%d/kind=%v/loss=%s/threads=%d", n, d, k, kd, loss, threads), func(b *testing.B) {
						team := NewTeam(threads)
						defer team.Close()
						var f *Tree
						if loss == "tree" {
							f = balanced(b, k)
						}
						s := newDense(kd, team, k, d, n, false, f, nil)
						s.SetStep(linear(0.01, 0.9, 1e-4, false), linear(0.01, 0.9, 0, false))
						for b.Loop() {
							s.Step(rows, class, share)
						}
						b.ReportMetric(4*float64(n*d*k)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
					})
				}
			}
		}
	}
}

// balanced returns a tree with k leaves and about k/2 inner nodes.
func balanced(t testing.TB, k int) *Tree {
	inner := max(1, k/2)
	parent, length, class := make([]int32, inner+k), make([]float64, inner+k), make([]int32, k)
	for v := range parent {
		length[v] = 1
		if v < inner {
			parent[v] = int32((v - 1) / 2)
		} else {
			parent[v] = int32((v - inner) % inner)
			class[v-inner] = int32(v)
		}
	}
	parent[0] = -1
	f, err := NewTree(parent, length, class)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

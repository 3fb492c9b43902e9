package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// vectorOp is a loop over an input that changes y: at kind k, and in float64 by the
// plain twin.
type vectorOp struct {
	name     string
	products int // a number of y is a sum of so many
	fast     func(k kind, a float32, x []float32, y []float32)
	exact    func(a float64, x []float64, y []float64)
}

var vectorOps = []vectorOp{
	{"axpy", 2,
		func(k kind, a float32, x []float32, y []float32) { axpy32(k, a, x, y) },
		func(a float64, x []float64, y []float64) { axpyGo(a, x, y) }},
	{"add", 2,
		func(k kind, _ float32, x []float32, y []float32) { add32(k, x, y) },
		func(_ float64, x []float64, y []float64) { addGo(x, y) }},
	{"scale", 1,
		func(k kind, a float32, _ []float32, y []float32) { scale32(k, a, y) },
		func(a float64, _ []float64, y []float64) { scaleGo(a, y) }},
}

// checkVectorOps compares the vector operations on n numbers with float64, and
// the vector kinds with each other.
func checkVectorOps(t *testing.T, rng *rand.Rand, n int, wild bool, makeX, makeY func(int) []float32) {
	t.Helper()
	for _, op := range vectorOps {
		x := makeX(n + rng.IntN(20)) // only the first n count
		fill(rng, x, wild)
		var a [1]float32
		fill(rng, a[:], wild)
		x64, a64 := as64(x), float64(a[0])
		start := make([]float32, n)
		fill(rng, start, wild)
		want, size := as64(start), magnitude(as64(start))
		op.exact(a64, x64, want)
		op.exact(math.Abs(a64), magnitude(x64), size)
		var vector []float32
		for _, k := range kinds() {
			name := fmt.Sprintf("%s n=%d kind=%v", op.name, n, k)
			y := makeY(n)
			copy(y, start)
			op.fast(k, a[0], x, y)
			checkFence(t, name, y)
			for j := range y {
				checkSum(t, fmt.Sprintf("%s [%d]", name, j), y[j], want[j], size[j], op.products)
				if vector != nil && !same(y[j], vector[j]) {
					t.Fatalf("%s [%d]: avx2 gives %g, avx512 %g", name, j, vector[j], y[j])
				}
			}
			if k != plain {
				vector = append([]float32{}, y...)
			}
		}
	}
}

func TestVectorOpsAgainstFloat64(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	makeX, makeY := guarded(t, 400), guarded(t, 400)
	for n := range 300 {
		checkVectorOps(t, rng, n, n%2 == 1, makeX, makeY)
	}
}

func TestVectorOpsKeepNotANumberAndInfinity(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, k := range kinds() {
		for _, n := range []int{1, 9, 40, 100} {
			for at := range n {
				x, y := make([]float32, n), make([]float32, n)
				x[at] = inf
				axpy32(k, 2, x, y)
				add32(k, x, y)
				axpy32(k, 0, x, y) // 0*Inf is NaN
				for j, v := range y {
					if (v != v) != (j == at) {
						t.Fatalf("kind=%v n=%d: Inf at %d made [%d] %v", k, n, at, j, v)
					}
				}
			}
		}
	}
}

// checkDistances does for dot products and distances what checkVectorOps does.
func checkDistances(t *testing.T, rng *rand.Rand, n int, wild bool, makeX, makeY func(int) []float32) {
	t.Helper()
	x, y := makeX(n), makeY(n)
	fill(rng, x, wild)
	fill(rng, y, wild)
	a, b := rng.Float64(), rng.Float64()
	var want, size, squares, difference, sum float64
	for j := range x {
		p, q := float64(x[j]), float64(y[j])
		want += p * q
		size += math.Abs(p * q)
		squares += (p - q) * (p - q)
		difference += (a*p - b*q) * (a*p - b*q)
		sum += (a*p + b*q) * (a*p + b*q)
	}
	close := func(name string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= float64(n+4)*0x1p-51*want) {
			t.Fatalf("%s: got %g, want %g", name, got, want)
		}
	}
	var vector []float64
	for _, k := range kinds() {
		name := fmt.Sprintf("n=%d kind=%v", n, k)
		dot := dot32(k, x, y)
		checkSum(t, "dot "+name, dot, want, size, n)
		square := squaredDistance32(k, x, y)
		close("squared distance "+name, square, squares)
		d, s := scaledSquares32(k, a, x, b, y)
		// a*p-b*q cancels: a rounding of a product counts by its size.
		if !(math.Abs(d-difference) <= 0x1p-46*(difference+sum)) {
			t.Fatalf("scaled difference %s: got %g, want %g", name, d, difference)
		}
		if !(math.Abs(s-sum) <= 0x1p-46*(difference+sum)) {
			t.Fatalf("scaled sum %s: got %g, want %g", name, s, sum)
		}
		if back := squaredDistance32(k, y, x); back != square {
			t.Fatalf("squared distance %s is not symmetric: %g and %g", name, square, back)
		}
		if d2, s2 := scaledSquares32(k, b, y, a, x); d2 != d || s2 != s {
			t.Fatalf("scaled squares %s are not symmetric", name)
		}
		if self, _ := scaledSquares32(k, a, x, a, x); self != 0 || squaredDistance32(k, x, x) != 0 {
			t.Fatalf("%s: a vector lies %g from itself", name, self)
		}
		got := []float64{float64(dot), square, d, s}
		for i := range vector {
			if !same(got[i], vector[i]) {
				t.Fatalf("%s result %d: avx2 gives %g, avx512 %g", name, i, vector[i], got[i])
			}
		}
		if k != plain {
			vector = got
		}
	}
}

func TestDotAndDistances(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	makeX, makeY := guarded(t, 400), guarded(t, 400)
	for n := range 400 {
		checkDistances(t, rng, n, n%2 == 1, makeX, makeY)
	}
}

func TestShortSlicesPanic(t *testing.T) {
	long, brief := make([]float32, 100), make([]float32, 99)
	for name, call := range map[string]func(){
		"axpy":             func() { Axpy(1, brief, long) },
		"add":              func() { Add(brief, long) },
		"dot":              func() { Dot(long, brief) },
		"squared distance": func() { SquaredDistance(long, brief) },
		"scaled squares":   func() { ScaledSquares(1, long, 1, brief) },
		"softmax":          func() { Softmax(brief, long) },
		"exp":              func() { Exp(brief, long) },
	} {
		mustPanic(t, name, call)
	}
}

func mustPanic(t *testing.T, name string, call func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s did not panic", name)
		}
	}()
	call()
}

// TestBothElementTypes runs the exported functions on float32 and float64,
// named types included, on numbers that are exact in both.
func TestBothElementTypes(t *testing.T) {
	type single float32
	t.Run("float32", exportedOps[float32])
	t.Run("named float32", exportedOps[single])
	t.Run("float64", exportedOps[float64])
	if got := SquaredDistance([]float32{1, 5}, []float32{4, 1}); got != 25 {
		t.Errorf("squared distance %v, want 25", got)
	}
	if d, s := ScaledSquares(2, []float32{1, 0}, 1, []float32{0, 2}); d != 8 || s != 8 {
		t.Errorf("scaled squares %v and %v, want 8 and 8", d, s)
	}
}

func exportedOps[T ~float32 | ~float64](t *testing.T) {
	for _, n := range []int{3, 20} {
		one, y := make([]T, n), make([]T, n)
		for j := range one {
			one[j] = 1
		}
		Axpy(12, one, y) // 12
		Add(one, y)      // 13
		Scale(3, y)      // 39
		CombineRows([]int32{1, 0}, []float32{1, 2}, make([]T, 2*n), n, y)
		CombineAllRows([]float32{5}, one, n, y) // 44
		if got := Dot(one, y); got != T(44*n) {
			t.Errorf("n=%d: got %v, want %v", n, got, 44*n)
		}
		if got, want := Softmax(y, one), 1+math.Log(float64(n)); math.Abs(got-want) > 1e-12 || math.Abs(float64(y[n-1])*float64(n)-1) > 1e-6 {
			t.Errorf("n=%d: log of the sum %v, want %v; p %v", n, got, want, y)
		}
		if Exp(y, make([]T, n)); Dot(y, one) != T(n) {
			t.Errorf("n=%d: e^0 is %v", n, y)
		}
	}
	if Instructions() != best.String() {
		t.Error("Instructions does not name what runs")
	}
}

func TestNothingIsAllocated(t *testing.T) {
	const n = 40
	x, y, index := make([]float32, n), make([]float32, n), make([]int32, 2)
	if got := testing.AllocsPerRun(10, func() {
		Axpy(1, x, y)
		Add(x, y)
		Scale(1, y)
		Dot(x, y)
		SquaredDistance(x, y)
		ScaledSquares(1, x, 1, y)
		CombineRows(index, x, x, n, y)
		CombineAllRows(x[:1], x, n, y)
		Softmax(y, x)
		Exp(y, x)
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

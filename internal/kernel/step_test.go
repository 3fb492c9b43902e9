package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// checkSteps compares the maps of steps on n numbers with float64.
func checkSteps(t *testing.T, rng *rand.Rand, n int, wild bool, makeW, makeV, makeG func(int) []float32) {
	t.Helper()
	start := make([]float32, 3*n)
	fill(rng, start, wild)
	var f [6]float32
	for i := range f {
		f[i] = rng.Float32()*2 - 1
	}
	spread := NewFactors(Step[float32]{f[0], f[1], f[2], f[3], f[4], f[5]}).spread
	for _, tc := range []struct {
		name string
		run  func(k kind, w, v, g []float32)
		f    [6]float32 // what the map is
	}{
		{"stepRow", func(k kind, w, v, g []float32) { stepRow32(k, w, v, g, spread) }, f},
		{"advance", func(k kind, w, v, _ []float32) { advance32(k, [4]float32{f[0], f[1], f[3], f[4]}, w, v) }, [6]float32{f[0], f[1], 0, f[3], f[4], 0}},
		{"scaleAdd", func(k kind, w, _, g []float32) { scaleAdd32(k, f[0], w, f[2], g) }, [6]float32{f[0], 0, f[2], 0, 1, 0}},
	} {
		var vector []float32
		for _, k := range kinds() {
			w, v, g := makeW(n), makeV(n), makeG(n)
			copy(w, start)
			copy(v, start[n:])
			copy(g, start[2*n:])
			tc.run(k, w, v, g)
			name := fmt.Sprintf("%s n=%d kind=%v", tc.name, n, k)
			checkFence(t, name, w)
			checkFence(t, name, v)
			for j := range n {
				for i, got := range []float32{w[j], v[j]} {
					var want, size float64
					for l := range 3 {
						p := float64(tc.f[3*i+l]) * float64(start[l*n+j])
						want, size = want+p, size+math.Abs(p)
					}
					checkSum(t, fmt.Sprintf("%s [%d] %d", name, j, i), got, want, size, 3)
				}
			}
			both := append(append([]float32{}, w...), v...)
			for i := range vector {
				if k != plain && !same(both[i], vector[i]) {
					t.Fatalf("%s: number %d is %g, earlier kind %g", name, i, both[i], vector[i])
				}
			}
			if k != plain {
				vector = both
			}
		}
	}
}

// TestSteps compares the maps of steps with float64 on every kind, and the
// vector kinds with each other to the last bit.
func TestSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	makeW, makeV, makeG := guarded(t, 400), guarded(t, 400), guarded(t, 400)
	for n := range 300 {
		checkSteps(t, rng, n, n%2 == 0, makeW, makeV, makeG)
	}
}

func TestStepsInFloat64(t *testing.T) {
	w, v, g := []float64{1, 2}, []float64{3, 4}, []float64{5, 6}
	NewFactors(Step[float64]{WW: 1, WV: 10, WG: 100, VW: 2, VV: 3, VG: 4}).Apply(w, v, g)
	if w[0] != 1+30+500 || v[1] != 4+12+24 {
		t.Errorf("Apply gives %v and %v", w, v)
	}
	w, v = []float64{1}, []float64{3}
	Advance(1, 10, 2, 3, w, v)
	if w[0] != 31 || v[0] != 11 {
		t.Errorf("Advance gives %v and %v", w, v)
	}
	ScaleAdd(2, w, 3, v)
	if w[0] != 62+33 {
		t.Errorf("ScaleAdd gives %v", w)
	}
	Fetch(w)
	Fetch([]float32{1})
}

// checkAddToRows compares AddToRows on every kind with float64.
func checkAddToRows(t *testing.T, index []int32, value, start []float32, stride int, x []float32, makeRows func(int) []float32) {
	t.Helper()
	want, size, count := as64(start), magnitude(as64(start)), make([]int, len(start))
	for n, i := range index {
		for j, v := range x {
			p := float64(value[n]) * float64(v)
			want[int(i)*stride+j] += p
			size[int(i)*stride+j] += math.Abs(p)
			count[int(i)*stride+j]++
		}
	}
	var vector []float32
	for _, k := range kinds() {
		name := fmt.Sprintf("kind=%v nonzeros=%d stride=%d cols=%d", k, len(index), stride, len(x))
		rows := makeRows(len(start))
		copy(rows, start)
		addToRows32(k, index, value, rows, stride, x)
		checkFence(t, name, rows)
		for j, got := range rows {
			if size[j] < math.MaxFloat32 {
				checkSum(t, fmt.Sprintf("%s [%d]", name, j), got, want[j], size[j], count[j])
			}
			if vector != nil && !same(got, vector[j]) {
				t.Fatalf("%s [%d]: %g, earlier kind %g", name, j, got, vector[j])
			}
		}
		if k != plain {
			vector = append([]float32{}, rows...)
		}
	}
}

func TestAddToRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 2))
	makeRows, makeX := guarded(t, 9*700), guarded(t, 600)
	widths := []int{400, 511, 513}
	for cols := range 290 {
		widths = append(widths, cols)
	}
	for _, cols := range widths {
		stride, count := cols+rng.IntN(2)*rng.IntN(40), 1+rng.IntN(8)
		start := make([]float32, (count-1)*stride+cols)
		x, value, index := makeX(cols), make([]float32, rng.IntN(20)), make([]int32, 0)
		wild := rng.IntN(2) == 0
		fill(rng, start, wild)
		fill(rng, x, wild)
		fill(rng, value, wild)
		for range value {
			index = append(index, int32(rng.IntN(count)))
		}
		checkAddToRows(t, index, value, start, stride, x, makeRows)
	}
	rows := make([]float32, 40)
	for _, k := range kinds()[1:] {
		for _, outside := range []int32{4, -1, math.MaxInt32, math.MinInt32} {
			mustPanic(t, "outside", func() {
				addToRows32(k, []int32{0, outside}, []float32{1, 1}, rows, 10, make([]float32, 10))
			})
		}
	}
}

func FuzzAddToRows(f *testing.F) {
	f.Add(uint64(1), uint16(77), uint8(30), uint8(3), []byte("0123456789abcdef"))
	f.Add(uint64(2), uint16(300), uint8(1), uint8(0), []byte("\x00\x00\x80\x7f\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, seed uint64, cols uint16, nonzeros, gap uint8, data []byte) {
		rng := rand.New(rand.NewPCG(seed, 0))
		width, count := int(cols)%400, 1+rng.IntN(6)
		stride := width + int(gap)
		start, x, value := make([]float32, (count-1)*stride+width), make([]float32, width), make([]float32, nonzeros)
		fill(rng, start, seed%2 == 0)
		fill(rng, x, seed%2 == 0)
		copy(value, floatsOf(data))
		index := make([]int32, nonzeros)
		for n := range index {
			index[n] = int32(rng.IntN(count))
		}
		checkAddToRows(t, index, value, start, stride, x, guarded(t, 6*700))
	})
}

// checkMultiplyRows compares K passes over a random tree with K by its definition.
func checkMultiplyRows(t *testing.T, rng *rand.Rand, k, rows int, makeZ func(int) []float32) {
	t.Helper()
	f, parent, length, class := randomTree(t, rng, k)
	if f.Classes() != k {
		t.Fatalf("%d classes, want %d", f.Classes(), k)
	}
	above := func(c int32) map[int32]float64 {
		path := map[int32]float64{}
		for v := c; v >= 0; v = parent[v] {
			path[v] = length[v]
		}
		return path
	}
	start := make([]float32, rows*k)
	fill(rng, start, false)
	want, size := make([]float64, rows*k), make([]float64, rows*k)
	for c := range k {
		path := above(class[c])
		for o := range k {
			var share float64
			for v := range above(class[o]) {
				share += path[v]
			}
			for b := range rows {
				p := share * float64(start[b*k+o])
				want[b*k+c] += p
				size[b*k+c] += math.Abs(p)
			}
		}
	}
	var vector, scratch []float32
	for _, kd := range kinds() {
		z := makeZ(rows * k)
		copy(z, start)
		scratch = f.multiplyRows(kd, z, rows, scratch)
		checkFence(t, kd.String(), z)
		for i, got := range z {
			if math.Abs(float64(got)-want[i]) > 1e-4*(1+size[i]) {
				t.Fatalf("kind=%v k=%d row %d class %d: %g, want %g", kd, k, i/k, i%k, got, want[i])
			}
			if vector != nil && !same(got, vector[i]) {
				t.Fatalf("kind=%v: number %d is %g, earlier kind %g", kd, i, got, vector[i])
			}
		}
		if kd != plain {
			vector = append([]float32{}, z...)
		}
	}
	f.MultiplyRows(makeZ(0), 0, nil)
}

func TestMultiplyRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 3))
	makeZ := guarded(t, 100*60)
	for range 60 {
		checkMultiplyRows(t, rng, 1+rng.IntN(50), rng.IntN(90), makeZ)
	}
}

func TestNewTreeRefusesWhatIsNoTree(t *testing.T) {
	one := []float64{1, 1}
	for name, tc := range map[string]struct {
		parent []int32
		length []float64
		class  []int32
	}{
		"no nodes":         {nil, nil, []int32{0}},
		"no classes":       {[]int32{-1, 0}, one, nil},
		"lengths missing":  {[]int32{-1, 0}, one[:1], []int32{1}},
		"no root":          {[]int32{0, 0}, one, []int32{1}},
		"two roots":        {[]int32{-1, -1}, one, []int32{1}},
		"child first":      {[]int32{-1, 1}, one, []int32{1}},
		"class nowhere":    {[]int32{-1, 0}, one, []int32{2}},
		"class below zero": {[]int32{-1, 0}, one, []int32{-1}},
	} {
		if f, err := NewTree(tc.parent, tc.length, tc.class); err == nil {
			t.Errorf("%s: made %+v", name, f)
		}
	}
}

// checkColumns compares the softmax of the columns of a panel with float64.
func checkColumns(t *testing.T, rows int, z, bias []float32, columns int, makeZ func(int) []float32) {
	t.Helper()
	for _, k := range kinds() {
		nr := k.panelCols()
		panel := makeZ(rows * nr)
		clear(panel)
		for i := range rows {
			for j := range min(nr, columns) {
				panel[i*nr+j] = z[i*columns+j]
			}
		}
		top, sum := make([]float32, nr), make([]float64, nr)
		columnsTop32(k, panel, bias, rows, top)
		columnsExp32(k, panel, rows, top, sum)
		checkFence(t, k.String(), panel)
		factor, total := make([]float32, nr), make([]float32, max(1, nr/16)*rows)
		for j := range factor {
			factor[j] = float32(1 / sum[j])
		}
		scaleColumns32(k, panel, rows, factor, total)
		for j := range min(nr, columns) {
			scores, p := make([]float64, rows), make([]float64, rows)
			for i := range scores {
				scores[i] = float64(z[i*columns+j] + bias[i])
			}
			logSum := softmaxGo(p, scores)
			if got := float64(top[j]) + math.Log(sum[j]); math.Abs(got-logSum) > 1e-6*(1+math.Abs(logSum)) {
				t.Fatalf("kind=%v rows=%d column %d: log of the sum %v, want %v", k, rows, j, got, logSum)
			}
			for i, want := range p {
				if got := float64(panel[i*nr+j]); math.Abs(got-want) > want*1e-5+0x1p-126 {
					t.Fatalf("kind=%v rows=%d column %d row %d: %g, want %g", k, rows, j, i, got, want)
				}
			}
		}
		for i, got := range total {
			var want float64
			group := min(nr, 16)
			for _, p := range panel[i%rows*nr+i/rows*group:][:group] {
				want += float64(p)
			}
			checkSum(t, "sum of a row", got, want, want, 16)
		}
	}
}

// scoresOf returns random scores of 32 examples, up to spread, and a bias.
func scoresOf(rng *rand.Rand, rows int, spread float32) (z, bias []float32) {
	z, bias = make([]float32, rows*32), make([]float32, rows)
	for i := range z {
		z[i] = (rng.Float32()*2 - 1) * spread
	}
	for i := range bias {
		bias[i] = rng.Float32()
	}
	return z, bias
}

func TestColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 4))
	makeZ := guarded(t, 400*32)
	for rows := 1; rows < 300; rows += 1 + rows/20 {
		for _, spread := range []float32{0, 1, 60} {
			z, bias := scoresOf(rng, rows, spread)
			checkColumns(t, rows, z, bias, 32, makeZ)
		}
	}
}

package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// form is one of the three products.
type form struct {
	name string
	run  func(p *Product, c, a, b Rect)
	turn func(m, l, n int) (aRows, aCols, bRows, bCols int)
	at   func(i, l int, j int) (ai, aj, bi, bj int)
}

var forms = []form{
	{"NN", (*Product).NN, func(m, l, n int) (int, int, int, int) { return m, l, l, n }, func(i, l, j int) (int, int, int, int) { return i, l, l, j }},
	{"NT", (*Product).NT, func(m, l, n int) (int, int, int, int) { return m, l, n, l }, func(i, l, j int) (int, int, int, int) { return i, l, j, l }},
	{"TN", (*Product).TN, func(m, l, n int) (int, int, int, int) { return l, m, l, n }, func(i, l, j int) (int, int, int, int) { return l, i, l, j }},
}

// rect makes a matrix that ends where its slice does, at an unreadable page.
func rect(make func(int) []float32, rows, cols, gap int) Rect {
	return Rect{X: make(max(0, (rows-1)*(cols+gap)+cols)), Rows: rows, Cols: cols, Stride: cols + gap}
}

// checkProduct compares a product on every kind and several teams with
// float64, and the vector kinds with each other to the last bit.
func checkProduct(t *testing.T, rng *rand.Rand, teams []*Team, makers [3]func(int) []float32, f form, m, l, n int, wild bool) {
	t.Helper()
	aRows, aCols, bRows, bCols := f.turn(m, l, n)
	a, b := rect(makers[0], aRows, aCols, rng.IntN(20)), rect(makers[1], bRows, bCols, rng.IntN(2)*rng.IntN(20))
	fill(rng, a.X, wild)
	fill(rng, b.X, wild)
	gap := rng.IntN(2) * rng.IntN(5)
	want, size := make([]float64, m*n), make([]float64, m*n)
	for i := range m {
		for x := range l {
			for j := range n {
				ai, aj, bi, bj := f.at(i, x, j)
				p := float64(a.X[ai*a.Stride+aj]) * float64(b.X[bi*b.Stride+bj])
				want[i*n+j] += p
				size[i*n+j] += math.Abs(p)
			}
		}
	}
	var vector []float32
	for _, k := range kinds() {
		for _, team := range teams {
			name := fmt.Sprintf("%s m=%d l=%d n=%d kind=%v threads=%d", f.name, m, l, n, k, team.Threads())
			c := rect(makers[2], m, n, gap)
			for i := range c.X {
				c.X[i] = untouched
			}
			f.run(newProduct(k, team), c, a, b)
			checkFence(t, name, c.X)
			got := make([]float32, 0, m*n)
			for i := range m {
				row := c.X[i*c.Stride : min(len(c.X), (i+1)*c.Stride)]
				for j := range row[:n] {
					checkSum(t, fmt.Sprintf("%s [%d,%d]", name, i, j), row[j], want[i*n+j], size[i*n+j], l)
				}
				for j, x := range row[n:] {
					if x != untouched {
						t.Fatalf("%s: wrote %g to row %d, %d past its end", name, x, i, j)
					}
				}
				got = append(got, row[:n]...)
			}
			for i := range vector {
				if k != plain && !same(got[i], vector[i]) {
					t.Fatalf("%s [%d]: %g, earlier kind or team %g", name, i, got[i], vector[i])
				}
			}
			if k != plain {
				vector = got
			}
		}
	}
}

func TestProduct(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	const most = 1 << 18
	makers := [3]func(int) []float32{guarded(t, most), guarded(t, most), guarded(t, most)}
	three := NewTeam(3)
	defer three.Close()
	for _, f := range forms {
		for _, s := range [][3]int{
			{1, 1, 1}, {1, 400, 70}, {14, 385, 33}, {29, 5, 31}, {6, 16, 16}, {100, 0, 3}, {0, 3, 3}, {3, 3, 0},
			{5, 64, 200}, {33, 512, 70}, {16, 2, 800}, {48, 17, 300}, {150, 100, 17},
			{7, 12, 64}, {100, 100, 64}, {20, 60, 32}, {9, 400, 16}, {9, 130, 64},
		} {
			checkProduct(t, rng, []*Team{nil}, makers, f, s[0], s[1], s[2], false)
		}
		for range 60 {
			checkProduct(t, rng, []*Team{nil}, makers, f, 1+rng.IntN(60), 1+rng.IntN(50), 1+rng.IntN(100), rng.IntN(2) == 0)
		}
		// Past smallProduct, so that the team is used.
		checkProduct(t, rng, []*Team{nil, three}, makers, f, 130, 120, 110, true)
		checkProduct(t, rng, []*Team{nil, three}, makers, f, 20, 390, 260, true)
	}
}

func FuzzProduct(f *testing.F) {
	f.Add(uint64(1), uint16(3), uint16(4), uint16(5), uint8(0), []byte("0123456789abcdef"))
	f.Add(uint64(2), uint16(70), uint16(1), uint16(33), uint8(1), []byte("\x00\x00\x80\x7f\x00\x00\x00\x00"))
	f.Add(uint64(3), uint16(15), uint16(99), uint16(64), uint8(2), []byte{})
	f.Fuzz(func(t *testing.T, seed uint64, m, l, n uint16, which uint8, data []byte) {
		rng := rand.New(rand.NewPCG(seed, 0))
		rows, inner, cols := int(m%80), int(l%450), int(n%120)
		const most = 60_000
		makers := [3]func(int) []float32{guarded(t, most), guarded(t, most), guarded(t, most)}
		fuzzed := floatsOf(data)
		first := makers[0]
		makers[0] = func(n int) []float32 {
			x := first(n)
			copy(x, fuzzed) // then overwritten: what is stale must not matter
			return x
		}
		checkProduct(t, rng, []*Team{nil}, makers, forms[int(which)%3], rows, inner, cols, seed%2 == 0)
	})
}

func TestProductDoesNotAllocate(t *testing.T) {
	team := NewTeam(2)
	defer team.Close()
	a, b, c := make([]float32, 200*100), make([]float32, 200*100), make([]float32, 200*200)
	p := NewProduct(team)
	step := func() {
		p.NT(Rect{c, 200, 200, 200}, Rect{a, 200, 100, 100}, Rect{b, 200, 100, 100})
		p.NN(Rect{c, 200, 100, 100}, Rect{c, 200, 200, 200}, Rect{b, 200, 100, 100})
		p.TN(Rect{c, 100, 100, 100}, Rect{a, 200, 100, 100}, Rect{b, 200, 100, 100})
	}
	for range 20 {
		step() // each worker has had a task
	}
	if n := testing.AllocsPerRun(10, step); n >= 1 {
		t.Errorf("%v allocations a step", n)
	}
}

func TestProductOfWrongShapePanics(t *testing.T) {
	x := make([]float32, 12)
	for name, run := range map[string]func(p *Product){
		"inner lengths differ": func(p *Product) { p.NN(Rect{x, 3, 3, 3}, Rect{x, 3, 4, 4}, Rect{x, 3, 3, 3}) },
		"result too small":     func(p *Product) { p.NN(Rect{x, 2, 4, 4}, Rect{x, 3, 3, 3}, Rect{x, 3, 4, 4}) },
		"slice too short":      func(p *Product) { p.NT(Rect{x, 3, 3, 3}, Rect{x, 3, 4, 4}, Rect{x[:11], 3, 4, 4}) },
		"stride below cols":    func(p *Product) { p.TN(Rect{x, 3, 3, 3}, Rect{x, 4, 3, 2}, Rect{x, 4, 3, 3}) },
	} {
		mustPanic(t, name, func() { run(NewProduct(nil)) })
	}
}

// checkTranspose looks at every place of a transposed matrix, and beside it.
func checkTranspose(t *testing.T, rng *rand.Rand, rows, cols int, makeSrc, makeDst func(int) []float32) {
	t.Helper()
	src := rect(makeSrc, rows, cols, rng.IntN(9))
	fill(rng, src.X, true)
	for _, k := range kinds() {
		dst := rect(makeDst, cols, rows, rng.IntN(9))
		for i := range dst.X {
			dst.X[i] = untouched
		}
		transposeRows(k, dst.X, dst.Stride, src.X, src.Stride, rows, cols)
		checkFence(t, k.String(), dst.X)
		for i, got := range dst.X {
			want := float32(untouched)
			if i%dst.Stride < rows {
				want = src.X[i%dst.Stride*src.Stride+i/dst.Stride]
			}
			if !same(got, want) {
				t.Fatalf("kind=%v %d x %d: place %d is %g, want %g", k, rows, cols, i, got, want)
			}
		}
	}
}

func TestTranspose(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	makeSrc, makeDst := guarded(t, 70*90), guarded(t, 70*90)
	for range 300 {
		checkTranspose(t, rng, 1+rng.IntN(40), 1+rng.IntN(60), makeSrc, makeDst)
	}
}

func BenchmarkProduct(b *testing.B) {
	for _, s := range [][3]int{{64, 768, 1000}, {256, 768, 1000}, {256, 300, 150}, {32, 2048, 1000}, {128, 64, 100}, {1024, 1024, 1024}} {
		batch, d, k := s[0], s[1], s[2]
		x, w, g := make([]float32, batch*d), make([]float32, k*d), make([]float32, batch*k)
		rx, rw, rg := Rect{x, batch, d, d}, Rect{w, k, d, d}, Rect{g, batch, k, k}
		for _, kind := range kinds() {
			p := newProduct(kind, nil)
			for _, f := range []struct {
				name string
				run  func()
			}{{"NT", func() { p.NT(rg, rx, rw) }}, {"TN", func() { p.TN(rw, rg, rx) }}, {"NN", func() { p.NN(rx, rg, rw) }}} {
				b.Run(fmt.Sprintf("op=%s/B=%d/d=%d/k=%d/kind=%v", f.name, batch, d, k, kind), func(b *testing.B) {
					for b.Loop() {
						f.run()
					}
					b.ReportMetric(2*float64(batch*d*k)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
				})
			}
		}
	}
}

package metric

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/matrix"
)

// sparsify returns the same rows in sparse form.
func sparsify(m *matrix.Dense) *matrix.Sparse {
	out := &matrix.Sparse{Columns: m.Columns}
	for i := range m.Rows() {
		var index []int32
		var value []float32
		for c, v := range m.Row(i) {
			if v != 0 {
				index, value = append(index, int32(c)), append(value, v)
			}
		}
		out.AppendRow(index, value)
	}
	return out
}

func randomRows(seed uint64, k, d int) *matrix.Dense {
	random := rand.New(rand.NewPCG(seed, 0))
	m := matrix.NewDense(k, d)
	for n := range m.Data {
		if random.IntN(3) > 0 {
			m.Data[n] = float32(random.NormFloat64())
		}
	}
	for i := 3; i < k; i += 4 {
		copy(m.Row(i), m.Row(i-2)) // equal rows
	}
	return m
}

func TestVectorsAgreeWithTheirFormulas(t *testing.T) {
	for _, d := range []int{1, 2, 3, 4, 5, 7, 8, 64} {
		dense := randomRows(uint64(d), 12, d)
		for form, m := range map[string]matrix.Matrix{"dense": dense, "sparse": sparsify(dense)} {
			euclid, err := Euclidean(m)
			if err != nil {
				t.Fatal(err)
			}
			angle, err := Cosine(m)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 12 {
				for j := range 12 {
					var squared, dot, ni, nj float64
					for c := range d {
						x, y := float64(dense.Row(i)[c]), float64(dense.Row(j)[c])
						squared, dot, ni, nj = squared+(x-y)*(x-y), dot+x*y, ni+x*x, nj+y*y
					}
					if got, want := euclid.Distance(i, j), math.Sqrt(squared); math.Abs(got-want) > 1e-12 {
						t.Errorf("%s d=%d: Euclidean(%d,%d) = %v, want %v", form, d, i, j, got, want)
					}
					want := math.Pi / 2
					if ni*nj > 0 {
						want = math.Acos(min(max(dot/math.Sqrt(ni*nj), -1), 1))
					}
					if i == j {
						want = 0
					}
					if got := angle.Distance(i, j); math.Abs(got-want) > 1e-7 { // arccos itself is off by 1e-8 near 1
						t.Errorf("%s d=%d: Cosine(%d,%d) = %v, want %v", form, d, i, j, got, want)
					}
				}
			}
		}
	}
}

func TestVectorsMeetTheLawsExactly(t *testing.T) {
	dense := randomRows(9, 41, 13)
	for _, m := range []matrix.Matrix{dense, sparsify(dense)} {
		for _, make := range []func(matrix.Matrix) (Space, error){Euclidean, Cosine} {
			s, err := make(m)
			if err != nil {
				t.Fatal(err)
			}
			if err := Check(s); err != nil {
				t.Error(err)
			}
			if err := CheckTriangle(s, 1_000_000, 1); err != nil {
				t.Error(err)
			}
			for i := range s.Len() {
				for j := range s.Len() {
					if s.Distance(i, j) != s.Distance(j, i) {
						t.Errorf("%T: distance of %d and %d depends on the direction", s, i, j)
					}
				}
				if i >= 3 && (i-3)%4 == 0 && s.Distance(i, i-2) != 0 {
					t.Errorf("%T: equal rows %d and %d are %v apart", s, i, i-2, s.Distance(i, i-2))
				}
			}
		}
	}
}

func TestCosineAtItsLimits(t *testing.T) {
	m := &matrix.Dense{Columns: 2, Data: []float32{
		1, 0, // 0
		-1, 0, // 1: opposite
		0, 0, // 2: zero
		0, 0, // 3: zero too
		8, 0, // 4: longer
		1, 1e-12, // 5: nearly parallel
		3e38, 3e38, // 6: squares beyond float32
		1e-40, 1e-40, // 7: squares below float32
	}}
	s, err := Cosine(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		i, j int
		want float64
	}{
		{"opposite rows", 0, 1, math.Pi},
		{"zero row to another", 2, 0, math.Pi / 2},
		{"two zero rows", 2, 3, math.Pi / 2},
		{"zero row to itself", 2, 2, 0},
		{"length does not count", 0, 4, 0},
		{"a tiny angle keeps its digits", 0, 5, float64(float32(1e-12))},
		{"huge and tiny rows, same way", 6, 7, 0},
		{"huge row", 0, 6, math.Pi / 4},
	} {
		if got := s.Distance(tc.i, tc.j); math.Abs(got-tc.want) > 1e-15+1e-9*math.Abs(tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, tc := range []struct {
		name string
		rows [][]float64
		i, j int
		text string
	}{
		{"not a number", [][]float64{{0, nan}, {nan, 0}}, 0, 1, "from point 0 to point 1 is NaN"},
		{"infinite", [][]float64{{0, 1, inf}, {1, 0, 1}, {inf, 1, 0}}, 0, 2, "finite"},
		{"infinite below", [][]float64{{0, 1}, {inf, 0}}, 1, 0, "finite"},
		{"negative", [][]float64{{0, 1, 1}, {1, 0, -2}, {1, -2, 0}}, 1, 2, "0 or more"},
		{"not symmetric", [][]float64{{0, 1}, {1.001, 0}}, 0, 1, "but from 1 to 0 it is 1.001"},
		{"diagonal", [][]float64{{0, 1}, {1, 0.5}}, 1, 1, "to itself"},
		{"diagonal NaN", [][]float64{{nan}}, 0, 0, "to itself"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := Check(Func(len(tc.rows), func(i, j int) float64 { return tc.rows[i][j] }))
			var pair *PairError
			if !errors.As(err, &pair) {
				t.Fatalf("got %v, want a *PairError", err)
			}
			if pair.I != tc.i || pair.J != tc.j || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("got %v, want the pair %d, %d and %q", err, tc.i, tc.j, tc.text)
			}
		})
	}
	dense := matrix.NewDense(3, 2)
	dense.Data[3] = float32(nan)
	for _, m := range []matrix.Matrix{dense, sparsify(dense)} {
		for _, make := range []func(matrix.Matrix) (Space, error){Euclidean, Cosine} {
			_, err := make(m)
			if err == nil || !strings.Contains(err.Error(), "row 1, column 1 is NaN") {
				t.Errorf("%T with a NaN: %v", m, err)
			}
		}
	}
	for name, m := range map[string]matrix.Matrix{
		"dense of a wrong size":    &matrix.Dense{Columns: 2, Data: []float32{1, 2, 3}},
		"sparse, columns descend":  &matrix.Sparse{Columns: 3, Start: []int{0, 2}, Index: []int32{2, 1}, Value: []float32{1, 1}},
		"sparse, start past range": &matrix.Sparse{Columns: 3, Start: []int{0, 5, 1}, Index: []int32{2}, Value: []float32{1}},
	} {
		if _, err := Euclidean(m); err == nil || !strings.HasPrefix(err.Error(), "metric: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// pairwise returns all distances in the order of Condensed.
func pairwise(s Space) (out []float64) {
	for i := range s.Len() {
		for j := i + 1; j < s.Len(); j++ {
			out = append(out, s.Distance(i, j))
		}
	}
	return out
}

func TestCondensedAndMaxDistance(t *testing.T) {
	for k := range 9 {
		s := Func(k, func(i, j int) float64 { return math.Abs(float64(i*i - j*j)) })
		flat, most := pairwise(s), 0.0
		if len(flat) != k*(k-1)/2 {
			t.Fatalf("k=%d: %d distances", k, len(flat))
		}
		for i := range k {
			for j := range k {
				if i != j && flat[Condensed(k, i, j)] != s.Distance(i, j) {
					t.Errorf("k=%d: pair %d, %d misplaced", k, i, j)
				}
				most = max(most, s.Distance(i, j))
			}
		}
		if MaxDistance(s) != most {
			t.Errorf("k=%d: MaxDistance %v, want %v", k, MaxDistance(s), most)
		}
	}
}

func TestCheckTriangleFindsTheBrokenOne(t *testing.T) {
	for _, k := range []int{3, 10, 100} { // 100: drawn triples; else every one
		for a := range 3 {
			bad := a // the long side is (bad, bad+1 mod 3)
			s := Func(k, func(i, j int) float64 {
				switch {
				case i == j:
					return 0
				case k == 100 && (i%2 == j%2) || k < 100 && (i == bad && j == (bad+1)%3 || j == bad && i == (bad+1)%3):
					return 3
				}
				return 1
			})
			err := CheckTriangle(s, 1000, 7)
			var triangle *TriangleError
			if !errors.As(err, &triangle) || triangle.Distance != 3 || triangle.ToVia != 1 || triangle.FromVia != 1 ||
				s.Distance(triangle.I, triangle.J) != 3 || s.Distance(triangle.I, triangle.Via) != 1 || !strings.Contains(err.Error(), "more than 1 + 1") {
				t.Errorf("k=%d: %v", k, err)
			}
		}
	}
	if err := CheckTriangle(Func(2, func(i, j int) float64 { return 5 }), 10, 1); err != nil {
		t.Error(err)
	}
}

func FuzzVectors(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8}, uint8(2))
	f.Add([]byte{0, 0, 128, 127, 0, 0, 128, 255}, uint8(1)) // infinities
	f.Add([]byte{1, 0, 0, 0, 255, 255, 127, 127}, uint8(1)) // smallest and largest
	f.Fuzz(func(t *testing.T, data []byte, columns uint8) {
		d := int(columns)%8 + 1
		m := &matrix.Dense{Columns: d}
		for n := 0; n+4 <= len(data) && n < 4*8*12; n += 4 {
			bits := uint32(data[n]) | uint32(data[n+1])<<8 | uint32(data[n+2])<<16 | uint32(data[n+3])<<24
			m.Data = append(m.Data, math.Float32frombits(bits))
		}
		m.Data = m.Data[:len(m.Data)/d*d]
		forms := []matrix.Matrix{m, sparsify(m)}
		for _, build := range []func(matrix.Matrix) (Space, error){Euclidean, Cosine} {
			var spaces []Space
			for _, form := range forms {
				s, err := build(form)
				if (err == nil) != (m.Check() == nil) {
					t.Fatalf("%v", err)
				}
				if err != nil {
					return
				}
				if err := Check(s); err != nil {
					t.Fatal(err)
				}
				if err := CheckTriangle(s, 300, 1); err != nil {
					t.Fatal(err)
				}
				spaces = append(spaces, s)
			}
			for i := range m.Rows() {
				for j := range m.Rows() {
					a, b := spaces[0].Distance(i, j), spaces[1].Distance(i, j)
					if math.Abs(a-b) > 1e-12*max(a, b)+1e-15 {
						t.Fatalf("dense %v, sparse %v", a, b)
					}
				}
			}
		}
	})
}

func BenchmarkDistance(b *testing.B) {
	dense := randomRows(1, 100, 300)
	for _, kind := range []string{"euclidean", "cosine"} {
		for _, form := range []string{"dense", "sparse"} {
			b.Run(fmt.Sprintf("metric=%s/form=%s/d=300", kind, form), func(b *testing.B) {
				var m matrix.Matrix = dense
				if form == "sparse" {
					m = sparsify(dense)
				}
				build := Euclidean
				if kind == "cosine" {
					build = Cosine
				}
				s, err := build(m)
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					s.Distance(3, 50)
				}
			})
		}
	}
}

func ExampleCosine() {
	names := []string{"dog", "puppy", "car"}
	space, err := Cosine(&matrix.Dense{Columns: 2, Data: []float32{3, 1, 2, 1, 0, 2}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range names {
		for j := i + 1; j < len(names); j++ {
			fmt.Printf("%s %s %.2f\n", names[i], names[j], space.Distance(i, j))
		}
	}
	// Output:
	// dog puppy 0.14
	// dog car 1.25
	// puppy car 1.11
}

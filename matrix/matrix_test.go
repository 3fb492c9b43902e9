package matrix

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// random returns a sparse matrix, about a third full, some rows empty, and the
// same numbers dense.
func random(seed uint64, rows, cols int) (*Sparse, *Dense) {
	rng := rand.New(rand.NewPCG(seed, 3))
	s, d := &Sparse{Columns: cols}, NewDense(rows, cols)
	for i := range rows {
		var index []int32
		var value []float32
		for j := range cols {
			if rng.IntN(3) == 0 && i%4 != 1 {
				v := float32(rng.NormFloat64())
				index, value = append(index, int32(j)), append(value, v)
				d.Row(i)[j] = v
			}
		}
		s.AppendRow(index, value)
	}
	return s, d
}

// dense writes a sparse matrix out.
func dense(s *Sparse) *Dense {
	d := NewDense(s.Rows(), s.Cols())
	for i := range s.Rows() {
		index, value := s.Row(i)
		for n, j := range index {
			d.Row(i)[j] = value[n]
		}
	}
	return d
}

func TestSparseAgainstDense(t *testing.T) {
	for seed, shape := range [][2]int{{1, 1}, {7, 3}, {3, 20}, {25, 11}} {
		s, d := random(uint64(seed), shape[0], shape[1])
		if s.Rows() != d.Rows() || s.Cols() != d.Cols() {
			t.Fatalf("sparse %d x %d, dense %d x %d", s.Rows(), s.Cols(), d.Rows(), d.Cols())
		}
		if err := s.Check(); err != nil {
			t.Error(err)
		}
		if err := d.Check(); err != nil {
			t.Error(err)
		}
		for a := range s.Rows() {
			if got, want := s.SquaredNorm(a), d.SquaredNorm(a); math.Abs(got-want) > 1e-12 {
				t.Errorf("row %d: squared norm %v sparse, %v dense", a, got, want)
			}
			for b := range s.Rows() {
				var want float64
				for j := range d.Cols() {
					want += float64(d.Row(a)[j]) * float64(d.Row(b)[j])
				}
				for _, m := range []Matrix{s, d} {
					if got := Dot(m, a, b); math.Abs(got-want) > 1e-12 {
						t.Errorf("%T: rows %d and %d have the product %v, want %v", m, a, b, got, want)
					}
					cosine := 0.0
					if n := d.SquaredNorm(a) * d.SquaredNorm(b); n > 0 {
						cosine = want / math.Sqrt(n)
					}
					if got := Cosine(m, a, b); math.Abs(got-cosine) > 1e-12 || got > 1 || got < -1 {
						t.Errorf("%T: rows %d and %d have the cosine %v, want %v", m, a, b, got, cosine)
					}
				}
			}
		}
		for a := range s.Rows() {
			if got, want := s.SquaredNorm(a), d.SquaredNorm(a); math.Abs(got-want) > 1e-12 {
				t.Errorf("squared norm of row %d: %v sparse, %v dense", a, got, want)
			}
		}
	}
}

func TestCosineByHand(t *testing.T) {
	m := &Dense{Columns: 2, Data: []float32{3, 4, -6, -8, 4, -3, 0, 0}}
	for _, tc := range []struct {
		name string
		b    int
		want float64
	}{{"itself", 0, 1}, {"opposite", 1, -1}, {"at right angles", 2, 0}, {"a row of zeros", 3, 0}} {
		if got := Cosine(m, 0, tc.b); got != tc.want {
			t.Errorf("%s: cosine %v, want %v", tc.name, got, tc.want)
		}
	}
	if got := []float64{m.SquaredNorm(0), m.SquaredNorm(1), m.SquaredNorm(2), m.SquaredNorm(3)}; !slices.Equal(got, []float64{25, 100, 25, 0}) {
		t.Errorf("squared norms %v, want 25, 100, 25 and 0", got)
	}
	tiny := &Dense{Columns: 1, Data: []float32{1e-45, 1e-45, 3e38, 3e38}}
	if got := Cosine(tiny, 0, 1); got != 1 {
		t.Errorf("cosine of the smallest numbers %v, want 1", got)
	}
	if got := Cosine(tiny, 2, 3); got != 1 {
		t.Errorf("cosine of the largest numbers %v, want 1", got)
	}
}

func TestSelect(t *testing.T) {
	s, d := random(5, 6, 4)
	rows := []int{4, 0, 4, 1}
	picked, full := s.Select(rows).(*Sparse), d.Select(rows).(*Dense)
	if err := picked.Check(); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(dense(picked), full) {
		t.Errorf("sparse rows %v, dense rows %v", dense(picked), full)
	}
	for n, i := range rows {
		if !slices.Equal(full.Row(n), d.Row(i)) {
			t.Errorf("row %d is %v, want %v", n, full.Row(n), d.Row(i))
		}
	}
	full.Row(0)[0] += 1 // a copy, not a view
	picked.Value[0] += 1
	if _, again := random(5, 6, 4); !slices.Equal(d.Data, again.Data) || !reflect.DeepEqual(dense(s), again) {
		t.Error("the matrix changed with the rows selected from it")
	}
	for _, m := range []Matrix{s, d} {
		if none := m.Select(nil); none.Rows() != 0 || none.Cols() != 4 || none.Check() != nil {
			t.Errorf("%T: no rows make %d x %d", m, none.Rows(), none.Cols())
		}
	}
}

func TestTranspose(t *testing.T) {
	for seed, shape := range [][2]int{{1, 1}, {7, 3}, {3, 20}, {1, 9}} {
		s, d := random(uint64(seed)+10, shape[0], shape[1])
		turned := s.Transpose()
		if err := turned.Check(); err != nil {
			t.Fatal(err)
		}
		if turned.Rows() != s.Cols() || turned.Cols() != s.Rows() {
			t.Fatalf("%d x %d became %d x %d", s.Rows(), s.Cols(), turned.Rows(), turned.Cols())
		}
		flat := dense(turned)
		for i := range d.Rows() {
			for j := range d.Cols() {
				if flat.Row(j)[i] != d.Row(i)[j] {
					t.Errorf("element %d, %d: %v became %v", i, j, d.Row(i)[j], flat.Row(j)[i])
				}
			}
		}
		back := turned.Transpose()
		if back.Columns != s.Columns || !slices.Equal(back.Start, s.Start) || !slices.Equal(back.Index, s.Index) || !slices.Equal(back.Value, s.Value) {
			t.Error("turned twice it is not the same")
		}
	}
}

func TestEmpty(t *testing.T) {
	for _, m := range []Matrix{&Sparse{}, &Dense{}, &Sparse{Columns: 5}, NewDense(0, 5), &Sparse{Columns: 5, Start: []int{0}}} {
		if m.Rows() != 0 || m.Check() != nil || m.Select(nil).Rows() != 0 {
			t.Errorf("%T: %d rows, check %v", m, m.Rows(), m.Check())
		}
	}
	turned := (&Sparse{Columns: 3}).Transpose()
	if turned.Rows() != 3 || turned.Cols() != 0 || turned.Check() != nil {
		t.Errorf("0 x 3 became %d x %d", turned.Rows(), turned.Cols())
	}
	if back := turned.Transpose(); back.Rows() != 0 || back.Cols() != 3 || back.Check() != nil {
		t.Errorf("3 x 0 became %d x %d", back.Rows(), back.Cols())
	}
	m := &Sparse{Columns: 2}
	m.AppendRow(nil, nil)
	if m.Rows() != 1 || m.Check() != nil || Dot(m, 0, 0) != 0 || Cosine(m, 0, 0) != 0 || m.SquaredNorm(0) != 0 {
		t.Error("an empty row is not a row of zeros")
	}
}

func TestRowsDoNotGrowIntoTheNext(t *testing.T) {
	s, d := random(6, 5, 8)
	want := dense(s)
	index, value := s.Row(0)
	_, _ = append(index, 99), append(value, 99)
	_ = append(d.Row(0), 99)
	if !reflect.DeepEqual(dense(s), want) || !slices.Equal(d.Data, want.Data) {
		t.Error("appending to a row changed the next one")
	}
}

func TestCheck(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for _, tc := range []struct {
		name string
		m    Matrix
		want string
	}{
		{"more indices than values", &Sparse{Columns: 3, Start: []int{0, 2}, Index: []int32{0, 1}, Value: []float32{1}}, "2 indices and 1 values"},
		{"no starts", &Sparse{Columns: 3, Index: []int32{0}, Value: []float32{1}}, "starts []"},
		{"does not start at 0", &Sparse{Columns: 3, Start: []int{1, 1}, Index: []int32{0}, Value: []float32{1}}, "starts [1 1]"},
		{"ends early", &Sparse{Columns: 3, Start: []int{0, 0, 1}, Index: []int32{0, 1}, Value: []float32{1, 1}}, "starts [0 ... 1]"},
		{"a row that ends before it starts", &Sparse{Columns: 3, Start: []int{0, 2, 1, 2}, Index: []int32{0, 1}, Value: []float32{1, 1}}, "row 1 of sparse rows starts at 2 and ends at 1"},
		{"a row past the end", &Sparse{Columns: 3, Start: []int{0, 5, 1}, Index: []int32{0}, Value: []float32{1}}, "row 0 of sparse rows starts at 0 and ends at 5"},
		{"a negative start", &Sparse{Columns: 3, Start: []int{0, -1, 1}, Index: []int32{0}, Value: []float32{1}}, "row 0 of sparse rows"},
		{"a column twice", &Sparse{Columns: 3, Start: []int{0, 2}, Index: []int32{1, 1}, Value: []float32{1, 1}}, "column 1 after 1"},
		{"columns that descend", &Sparse{Columns: 3, Start: []int{0, 2}, Index: []int32{2, 1}, Value: []float32{1, 1}}, "column 1 after 2"},
		{"a negative column", &Sparse{Columns: 3, Start: []int{0, 1}, Index: []int32{-1}, Value: []float32{1}}, "column -1"},
		{"a column too far", &Sparse{Columns: 3, Start: []int{0, 1}, Index: []int32{3}, Value: []float32{1}}, "below 3"},
		{"sparse NaN", &Sparse{Columns: 3, Start: []int{0, 0, 1}, Index: []int32{2}, Value: []float32{nan}}, "row 1, column 2 is NaN"},
		{"sparse Inf", &Sparse{Columns: 3, Start: []int{0, 1}, Index: []int32{2}, Value: []float32{inf}}, "-Inf"},
		{"negative width", &Sparse{Columns: -1}, "-1 columns"},
		{"half a row", &Dense{Columns: 2, Data: []float32{1, 2, 3}}, "3 values are no whole number of rows of 2"},
		{"values without columns", &Dense{Data: []float32{1}}, "rows of 0"},
		{"dense of negative width", &Dense{Columns: -2}, "rows of -2"},
		{"dense NaN", &Dense{Columns: 2, Data: []float32{1, 2, 3, nan}}, "row 1, column 1 is NaN"},
		{"dense Inf", &Dense{Columns: 1, Data: []float32{inf}}, "row 0, column 0 is -Inf"},
	} {
		if err := tc.m.Check(); err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "matrix: ") {
			t.Errorf("%s: %v, want an error of package matrix about %q", tc.name, err, tc.want)
		}
	}
}

// FuzzSparse: what Check accepts can be used without a panic, and survives
// being turned over twice.
func FuzzSparse(f *testing.F) {
	f.Add(3, []byte{0, 2, 3}, []byte{0, 2, 1})
	f.Add(0, []byte{0}, []byte{})
	f.Add(1, []byte{0, 9, 1}, []byte{0})
	f.Fuzz(func(t *testing.T, columns int, start, index []byte) {
		if columns > 1000 {
			return
		}
		m := &Sparse{Columns: columns}
		for _, b := range start {
			m.Start = append(m.Start, int(int8(b)))
		}
		for n, b := range index {
			m.Index = append(m.Index, int32(int8(b)))
			m.Value = append(m.Value, float32(n)-1)
		}
		if m.Check() != nil {
			return
		}
		twice := m.Transpose().Transpose()
		if err := twice.Check(); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(dense(twice), dense(m)) {
			t.Fatalf("%v turned twice is %v", m, twice)
		}
		for i := range m.Rows() {
			if d := Dot(m, i, m.Rows()-1-i); math.IsNaN(d) {
				t.Fatal("NaN from finite numbers")
			}
		}
	})
}

// AddRows of the transpose is the product with each row.
func TestAddRows(t *testing.T) {
	m := &Sparse{Columns: 4}
	m.AppendRow([]int32{0, 2}, []float32{1, -2})
	m.AppendRow(nil, nil)
	m.AppendRow([]int32{1, 2, 3}, []float32{3, 0.5, 4})
	for i := range m.Rows() {
		index, value := m.Row(i)
		got := []float64{10, 20, 30}
		m.Transpose().AddRows(got, index, value)
		for n := range got {
			if want := float64(10*(n+1)) + Dot(m, i, n); got[n] != want {
				t.Errorf("row %d with row %d: %v, want %v", i, n, got[n], want)
			}
		}
	}
}

package feature

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/matrix"
)

// numbersTable returns n random rows of p columns.
func numbersTable(t *testing.T, n, p int) (*Table, [][]float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 5))
	var columns []string
	for j := range p {
		columns = append(columns, fmt.Sprint("x", j))
	}
	table := NewTable(dataset.Numbers, columns)
	var rows [][]float64
	for range n {
		row := make([]float64, p)
		for j := range row {
			row[j] = 7 + 3*rng.NormFloat64()
		}
		rows = append(rows, row)
		if err := table.Add(dataset.Example{Values: row}); err != nil {
			t.Fatal(err)
		}
	}
	return table, rows
}

// The product of the Fourier features of two rows is p times a Gaussian kernel.
func TestFourierIsAKernel(t *testing.T) {
	const n, p, d = 30, 5, 20000
	table, _ := numbersTable(t, n, p)
	set, err := table.Fit(dataset.Range(0, n), Options{Fourier: d})
	if err != nil || set.Dim() != p+d || set.Fourier() != d {
		t.Fatalf("%d features, %d of them Fourier, %v; want %d and %d", set.Dim(), set.Fourier(), err, p+d, d)
	}
	m, err := set.Matrix(table, dataset.Range(0, n))
	if err != nil {
		t.Fatal(err)
	}
	x := m.(*matrix.Dense)
	for i := range n {
		for k := range i {
			var far, product float64
			for j := range p {
				far += math.Pow(float64(x.Row(i)[j]-x.Row(k)[j]), 2)
			}
			for j := p; j < p+d; j++ {
				product += float64(x.Row(i)[j]) * float64(x.Row(k)[j])
			}
			if want := p * math.Exp(-far/p); math.Abs(product-want) > 0.05*p {
				t.Errorf("rows %d and %d at %v: product %v, want %v", i, k, far, product, want)
			}
		}
	}
}

// A row by itself, in a matrix, and by a set that went through a file are the same.
func TestFourierRows(t *testing.T) {
	const n, p, d = 40, 3, 50
	table, rows := numbersTable(t, n, p)
	set, err := table.Fit(dataset.Range(0, n), Options{Fourier: d})
	if err != nil {
		t.Fatal(err)
	}
	m, err := set.Matrix(table, dataset.Range(0, n))
	if err != nil {
		t.Fatal(err)
	}
	var f safetensors.File
	if err := set.Store(&f); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(&f)
	if err != nil {
		t.Fatal(err)
	}
	again, loadedRower := NewRower(set), NewRower(loaded)
	for i, row := range rows {
		want := m.(*matrix.Dense).Row(i)
		for _, r := range []*Rower{again, loadedRower} {
			if _, got, err := r.Row(dataset.Example{Values: row}); err != nil || !slices.Equal(got, want) {
				t.Fatalf("row %d is %v (%v), want %v", i, got, err, want)
			}
		}
	}
	match, err := loaded.Match(set)
	if err != nil || match[p+7] != int32(p+7) || match[1] != 1 {
		t.Errorf("match %v (%v), want each feature to be itself", match, err)
	}
	plain, err := table.Fit(dataset.Range(0, n), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if match, err = set.Match(plain); err != nil || match[2] != 2 || match[p] != -1 {
		t.Errorf("match %v (%v), want columns alone", match, err)
	}
	if name := set.Name(p); name != "Fourier feature 1" {
		t.Errorf("feature %d is %q", p, name)
	}
	f.Metadata[metadataKey] = fmt.Sprintf(`{"kind":"numbers","dim":%d,"columns":["a","b","c"],"fourier":%d}`, p+d+1, d+1)
	if _, err := Load(&f); err == nil {
		t.Error("a map of fewer features than promised: want an error")
	}
}

package spill

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/dataset"
)

// fill adds n examples of a kind and returns them.
func fill(t *testing.T, s *Store, kind dataset.Kind, n int) []dataset.Example {
	t.Helper()
	var all []dataset.Example
	for i := range n {
		e := dataset.Example{Label: fmt.Sprint("label ", i%7), Weight: float64(1 + i%3)}
		switch kind {
		case dataset.Text:
			e.Text = strings.Repeat("wörds ", i%50) + fmt.Sprint(i)
			if i%4 == 1 {
				e.Fields, e.Values = []string{fmt.Sprint("body ", i), ""}, []float64{float64(i), math.NaN()}
			}
		case dataset.Numbers:
			e.Values = []float64{float64(i), -0.5, 1e-20}
		case dataset.Sparse:
			e.Index, e.Values = []int32{int32(i % 5), int32(5 + i)}, []float64{2, float64(i)}
		}
		if i%10 == 3 {
			e.Mix = []dataset.Share{{Label: e.Label, Share: 0.75}, {Label: "label of a mix", Share: 0.25}}
		}
		if err := s.Add(e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// All examples come back once, unchanged, whatever their kind; those of a part in the
// order they were added.
func TestRowsComeBack(t *testing.T) {
	for _, kind := range []dataset.Kind{dataset.Text, dataset.Numbers, dataset.Sparse} {
		s := New(t.TempDir(), kind, 1)
		want := map[string]int{}
		for _, e := range fill(t, s, kind, 30000) {
			want[fmt.Sprint(e.Label, e.Weight, e.Mix, e.Text, e.Fields, e.Values, e.Index)]++
		}
		labels, counts := s.Labels()
		var row Row
		rows := 0
		for i := range Parts {
			p, err := s.Part(i)
			if err != nil {
				t.Fatal(err)
			}
			if p.Rows() != s.PartRows(i) || p.Rows() < 60 || p.Rows() > 180 {
				t.Errorf("part %d has %d rows of 30,000, want about 117 and %d", i, p.Rows(), s.PartRows(i))
			}
			for n := range p.Rows() {
				p.Row(n, &row)
				var mix []dataset.Share
				for _, m := range row.Mix {
					mix = append(mix, dataset.Share{Label: labels[m.Label], Share: float64(float32(m.Share))})
				}
				e := row.Example
				for i, v := range e.Values { // float32 on the way
					if v > 1e-21 && v < 1e-19 {
						e.Values[i] = 1e-20
					}
				}
				want[fmt.Sprint(labels[row.Label], e.Weight, mix, e.Text, e.Fields, e.Values, e.Index)]--
				rows++
			}
		}
		for key, n := range want {
			if n != 0 {
				t.Fatalf("%v: %q came back %d times too few", kind, key, n)
			}
		}
		if rows != 30000 || s.Rows() != rows || len(labels) != 8 || slices.Max(counts) != 4286 || counts[slices.Index(labels, "label of a mix")] != 0 {
			t.Errorf("%v: %d rows, labels %q with %v", kind, rows, labels, counts)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The file is gone after Close, and no folder for it is one line.
func TestFileGoes(t *testing.T) {
	folder := t.TempDir()
	s := New(folder, dataset.Text, 1)
	fill(t, s, dataset.Text, 200_000)
	if s.file == nil {
		t.Fatal("200,000 texts made no file")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v is left: %v", left, err)
	}
	s = New(folder+"/none", dataset.Text, 1)
	defer s.Close()
	var err error
	for n := 0; err == nil && n < 100; n++ {
		err = s.Add(dataset.Example{Text: strings.Repeat("long", pieceBytes), Weight: 1})
	}
	if err == nil || !strings.Contains(err.Error(), "cannot be made") {
		t.Errorf("in no folder: %v", err)
	}
}

// A file that another process shortened is an error, no panic.
func TestFileIsCut(t *testing.T) {
	s := New(t.TempDir(), dataset.Text, 1)
	defer s.Close()
	for range 400_000 {
		if err := s.Add(dataset.Example{Label: "a", Text: strings.Repeat("x", 60), Weight: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.file.Truncate(100); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Part(0); err == nil {
		t.Error("a part that is gone was read")
	}
}

package feature

import (
	"testing"

	"github.com/treeloss/treeloss/dataset"
)

// readTexts returns the texts of a file below shared/data, and skips the test
// where that folder is not there.
func readTexts(tb testing.TB, path string) []string {
	tb.Helper()
	r, err := dataset.Open("../../shared/data/"+path, dataset.Options{})
	if err != nil {
		tb.Skipf("the real data of ../shared is not beside the repository: %v", err)
	}
	defer r.Close()
	var texts []string
	for e, err := range r.All() {
		if err != nil {
			tb.Fatal(err)
		}
		texts = append(texts, e.Text)
	}
	return texts
}

// tableOf returns a table of the texts and the numbers of its rows.
func tableOf(texts []string) (*Table, []int) {
	t := NewTable(dataset.Text, nil)
	rows := make([]int, len(texts))
	for i, text := range texts {
		t.AddText(text)
		rows[i] = i
	}
	return t, rows
}

// BenchmarkClinc goes the way of the 15,000 texts of clinc150.
func BenchmarkClinc(b *testing.B) {
	texts := readTexts(b, "clinc150/train.csv")
	table, rows := tableOf(texts)
	set, err := table.Fit(rows, Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("step=add/rows=15000", func(b *testing.B) {
		for b.Loop() {
			tableOf(texts)
		}
	})
	b.Run("step=fit/rows=15000", func(b *testing.B) {
		for b.Loop() {
			if _, err := table.Fit(rows, Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("step=matrix/rows=15000", func(b *testing.B) {
		for b.Loop() {
			if _, err := set.Matrix(table, rows); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("step=row/rows=15000", func(b *testing.B) {
		for b.Loop() {
			r := NewRower(set)
			for _, text := range texts {
				if _, _, err := r.Row(dataset.Example{Text: text}); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

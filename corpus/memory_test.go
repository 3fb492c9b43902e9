package corpus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/memory"
)

// textsOfMany returns a corpus of n texts of k classes, most of their words unlike
// others.
func textsOfMany(t *testing.T, n, k int) *Corpus {
	t.Helper()
	c := New(dataset.Text, nil)
	for i := range n {
		text := fmt.Sprintf("usual words of class %d and number%dx of its own%d", i%k, i, 7*i)
		if err := c.Add(dataset.Example{Text: text, Label: fmt.Sprint("class ", i%k), Weight: 1}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// A smaller budget leaves out the rarest n-grams, and the estimate says so; where all
// fit, features are those without any bound.
func TestMemoryBoundsFeatures(t *testing.T) {
	dims := map[int64]int{}
	for _, budget := range []int64{memory.Least, 1 << 40} {
		c := textsOfMany(t, 900, 100)
		c.Memory = budget
		d, err := c.Data(context.Background(), c.Rows(), ClassFiles{})
		if err != nil {
			t.Fatal(err)
		}
		f, err := d.Fit(c.Rows(), Inputs{})
		if err != nil {
			t.Fatal(err)
		}
		dims[budget] = f.X.Cols()
		need := d.Need(900)
		if cut := f.Features.MinRows() > 1; cut != strings.Contains(need.String(), "the rarest are left out") {
			t.Errorf("budget %s: n-grams of %d rows, and the estimate is %q", memory.Text(budget), f.Features.MinRows(), need)
		}
		if need.Features < f.X.Cols() || need.Total() > budget || need.Weights != int64(need.Features)*100*weightBytes {
			t.Errorf("budget %s: %+v for %d features", memory.Text(budget), need, f.X.Cols())
		}
	}
	if dims[memory.Least] >= dims[1<<40] || dims[memory.Least] == 0 {
		t.Errorf("%v features by budget, want fewer with less", dims)
	}
}

// What does not fit is one line that names the budget and what would mend it.
func TestTooLargeForMemory(t *testing.T) {
	c := New(dataset.Numbers, nil)
	c.Memory = 1 << 20
	values := make([]float64, 64)
	var err error
	rows := 0
	for ; err == nil && rows < 10*checkedRows; rows++ {
		err = c.Add(dataset.Example{Values: values, Label: fmt.Sprint(rows % 2), Weight: 1})
	}
	if !errors.Is(err, ErrMemory) || rows > 2*checkedRows {
		t.Fatalf("after %d rows: %v, want ErrMemory", rows, err)
	}
	for _, part := range []string{"4096 examples", "budget is 2 MB", "Options.Memory", "fewer examples"} {
		if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q lacks %q", err, part)
		}
	}
	d, err := textsOfMany(t, 20, 4).Data(context.Background(), dataset.Range(0, 20), ClassFiles{})
	if err != nil {
		t.Fatal(err)
	}
	d.Memory = 1e9
	if err := d.CheckFeatures(30e6); err != nil {
		t.Errorf("30 million features of 4 classes in 1 GB: %v", err)
	}
	if err := d.CheckFeatures(40e6); !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "1.3 GB") {
		t.Errorf("40 million features of 4 classes in 1 GB: %v", err)
	}
}

// Origins are kept of all rows if asked for, and count in the budget.
func TestOrigins(t *testing.T) {
	read := func(n int, limits Limits) (*Corpus, error) {
		text := "nr,x,label\n"
		for i := range n {
			text += fmt.Sprintf("id %d,%d,class %d\n", i, i%7, i%2)
		}
		r, err := dataset.NewReader(strings.NewReader(text), "s", dataset.Options{ID: "nr", Columns: []string{"x"}, Format: dataset.CSV})
		if err != nil {
			t.Fatal(err)
		}
		return ReadFrom(r, limits)
	}
	c, err := read(3, Limits{Origins: true})
	if err != nil || len(c.Origins) != 3 || c.Origins[2] != (Origin{dataset.Place{File: "s", Line: 4}, "id 2", ""}) {
		t.Errorf("origins %v, %v", c.Origins, err)
	}
	if c, err = read(3, Limits{}); err != nil || c.Origins != nil {
		t.Errorf("origins %v, %v, want none unless asked for", c.Origins, err)
	}
	// A budget between what the rows take and what they take with their origins.
	const n = 2*checkedRows + 1
	if c, err = read(n, Limits{Origins: true}); err != nil {
		t.Fatal(err)
	}
	rows, grams := c.Table.Bytes()
	budget := int64(float64(grams+(1+featureCopies)*rows+c.originBytes()/2) / rowsShare)
	if _, err := read(n, Limits{Memory: budget}); err != nil {
		t.Error(err)
	}
	if _, err := read(n, Limits{Memory: budget, Origins: true}); !errors.Is(err, ErrMemory) {
		t.Errorf("%v, want ErrMemory: %d bytes of origins", err, c.originBytes())
	}
}

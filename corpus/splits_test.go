package corpus

import (
	"fmt"
	"slices"
	"testing"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/exampletest"
)

// tail returns texts of classes with the given numbers of rows.
func tail(t *testing.T, counts ...int) (*Data, []int) {
	t.Helper()
	c := of(t, exampletest.Topics(counts...))
	rows := c.Rows()
	d, err := c.Data(ctx, rows, ClassFiles{})
	if err != nil {
		t.Fatal(err)
	}
	return d, rows
}

func TestSplitsOfALongTail(t *testing.T) {
	for _, tc := range []struct {
		name   string
		counts []int
		held   int // rows, over all parts; 0: none
	}{
		{"one class of one row", []int{9, 8, 7, 1}, 24},
		{"one class of two rows", []int{9, 8, 7, 2}, 24},
		{"three rows are enough", []int{3, 3, 3, 3}, 12},
		{"Zipf", []int{40, 20, 13, 10, 8, 7, 6, 5, 4, 4, 3, 3, 2, 2, 2, 1, 1, 1, 1, 1}, 123},
		{"just half of the rows", []int{3, 3, 1, 1, 1, 1, 1, 1}, 6},
		{"less than half", []int{3, 3, 1, 1, 1, 1, 1, 1, 1}, 0},
		{"one class only could spare rows", []int{9, 1, 2}, 0},
		{"one row a class", []int{1, 1, 1}, 0},
		{"two rows a class", []int{2, 2, 2}, 0},
		{"many rows", []int{9000, 7000, 3, 2, 1}, 1800 + 1400 + 1},
		{"rows enough for two parts of five", []int{4000, 3000}, 2800},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, rows := tail(t, tc.counts...)
			train, held := d.HoldOut(rows, nil, 3)
			if tc.held == 0 {
				if train != nil || held != nil {
					t.Errorf("%d rows held out, want none", len(slices.Concat(held...)))
				}
				return
			}
			if all := slices.Concat(held...); len(all) != tc.held || len(slices.Compact(slices.Sorted(slices.Values(all)))) != len(all) {
				t.Errorf("%d rows held out, want %d, each once", len(all), tc.held)
			}
			for n := range train {
				both := slices.Sorted(slices.Values(slices.Concat(train[n], held[n])))
				if !slices.Equal(both, rows) {
					t.Errorf("part %d: %d and %d rows are not the %d rows", n, len(train[n]), len(held[n]), len(rows))
				}
				left := make([]int, len(d.Classes.Labels))
				for _, row := range train[n] {
					left[d.Class[row]]++
				}
				for c, have := range tc.counts {
					if have < 3 && left[c] != have || left[c] < min(have, 2) {
						t.Errorf("part %d: %d of the %d rows of class %d are left to train on", n, left[c], have, c)
					}
				}
			}
			again, _ := d.HoldOut(rows, nil, 3)
			if fmt.Sprint(again) != fmt.Sprint(train) {
				t.Error("the same seed gives other parts")
			}
		})
	}
}

// Rows of several classes count as of the one with the largest share, and each
// is held out once, whole.
func TestSplitsOfMixes(t *testing.T) {
	c, list := doubtful(t, 15)
	rows := dataset.Range(0, len(list))
	d, err := c.Data(ctx, rows, ClassFiles{})
	if err != nil {
		t.Fatal(err)
	}
	_, held := d.HoldOut(rows, nil, 0)
	if all := slices.Sorted(slices.Values(slices.Concat(held...))); !slices.Equal(all, rows) {
		t.Errorf("%d of %d rows held out once", len(all), len(rows))
	}
}

// Rows of classes that were left out, or without a label, take no part in any split.
func TestSplitsIgnoreRowsWithoutAClass(t *testing.T) {
	d, rows := tail(t, 6, 6, 6)
	var own []int
	for _, row := range rows {
		if d.Class[row] == 1 {
			d.Class[row] = -1
		} else {
			own = append(own, row)
		}
	}
	if n := d.Count(rows); !slices.Equal(n, []int{6, 0, 6}) {
		t.Errorf("%v rows of the classes, want 6, 0 and 6", n)
	}
	for _, split := range []struct {
		name  string
		pairs func(rows []int) (train, held [][]int)
	}{
		{"HoldOut", func(rows []int) (train, held [][]int) { return d.HoldOut(rows, nil, 1) }},
		{"HoldOut with rows of its own", func(rows []int) (train, held [][]int) { return d.HoldOut(rows, rows[:2], 1) }},
		{"Folds", func(rows []int) (train, held [][]int) { return d.Folds(rows, 3, 1) }},
	} {
		train, held := split.pairs(rows)
		wantTrain, wantHeld := split.pairs(own)
		if len(held) == 0 || fmt.Sprint(train, held) != fmt.Sprint(wantTrain, wantHeld) {
			t.Errorf("%s: %v and %v, want what the rows with a class give: %v and %v", split.name, train, held, wantTrain, wantHeld)
		}
	}
}

func TestTooRare(t *testing.T) {
	for _, tc := range []struct {
		counts []int
		want   float64
	}{{[]int{9, 8, 2, 1}, 3. / 20}, {[]int{3, 3}, 0}, {[]int{1, 1}, 1}} {
		if d, rows := tail(t, tc.counts...); d.TooRare(rows) != tc.want {
			t.Errorf("classes of %v rows: %v too rare, want %v", tc.counts, d.TooRare(rows), tc.want)
		}
	}
}

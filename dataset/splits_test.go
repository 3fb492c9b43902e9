package dataset

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// sizes makes rows of classes with the given sizes, in random order.
func sizes(seed uint64, n ...int) (y []int) {
	for class, size := range n {
		for range size {
			y = append(y, class)
		}
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(y), func(i, j int) { y[i], y[j] = y[j], y[i] })
	return y
}

func count(y, rows []int, k int) []int {
	n := make([]int, k)
	for _, row := range rows {
		n[y[row]]++
	}
	return n
}

func TestShots(t *testing.T) {
	y := sizes(7, 5, 9, 4, 100)
	var before []int
	for n := 1; n <= 4; n++ {
		got, err := Shots(y, 4, n, 1)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := Shots(y, 4, n, 1)
		if !slices.Equal(got, again) {
			t.Error("the same seed draws other rows")
		}
		if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != 4*n || !reflect.DeepEqual(count(y, got, 4), []int{n, n, n, n}) {
			t.Errorf("%d shots: rows %v, by class %v", n, got, count(y, got, 4))
		}
		for _, row := range before {
			if !slices.Contains(got, row) {
				t.Errorf("row %d is drawn for %d, not for %d", row, n-1, n)
			}
		}
		before = got
		if other, _ := Shots(y, 4, n, 2); slices.Equal(got, other) {
			t.Error("another seed draws the same rows")
		}
	}
	_, err := Shots(y, 4, 5, 1)
	var few *TooFewError
	if !errors.As(err, &few) || *few != (TooFewError{2, 4, 5}) || err.Error() != "dataset: class 2 has 4 rows, want at least 5; ask for fewer, add examples or leave the class out" {
		t.Error(err)
	}
	for _, bad := range []struct {
		y    []int
		k, n int
	}{{[]int{0, 2}, 2, 1}, {[]int{-1}, 2, 1}, {[]int{0}, 1, 0}, {[]int{0}, 2, 1}} {
		if _, err := Shots(bad.y, bad.k, bad.n, 1); err == nil {
			t.Errorf("no error for %+v", bad)
		}
	}
}

// Every row of a class is drawn equally often: 4000 draws of 2 of 8 rows give
// each 1000 in the mean, with a standard deviation of 27.
func TestShotsAreFair(t *testing.T) {
	y := make([]int, 8)
	n := make([]int, 8)
	for seed := range uint64(4000) {
		rows, err := Shots(y, 1, 2, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			n[row]++
		}
	}
	for row, n := range n {
		if n < 865 || n > 1135 {
			t.Errorf("row %d is drawn %d times, want 1000 give or take 135", row, n)
		}
	}
}

func TestHoldOut(t *testing.T) {
	y := sizes(3, 0, 1, 2, 3, 4, 10, 100)
	for _, tc := range []struct {
		fraction float64
		want     []int
	}{
		{0.2, []int{0, 0, 0, 1, 1, 2, 20}},
		{0.01, []int{0, 0, 0, 1, 1, 1, 1}},
		{0.99, []int{0, 0, 0, 1, 2, 8, 98}},
		{7, []int{0, 0, 0, 1, 2, 8, 98}},
		{0, make([]int, 7)}, {-1, make([]int, 7)}, {math.NaN(), make([]int, 7)},
	} {
		train, held := HoldOut(y, 7, tc.fraction, 1)
		if got := count(y, held, 7); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("fraction %g holds out %v, want %v", tc.fraction, got, tc.want)
		}
		isPartition(t, len(y), train, held)
		_, again := HoldOut(y, 7, tc.fraction, 1)
		if !slices.Equal(held, again) {
			t.Error("the same seed holds out other rows")
		}
	}
}

func TestFolds(t *testing.T) {
	y := sizes(5, 3, 1, 7, 0, 25, 2)
	for _, folds := range []int{1, 2, 5, 10, 50} {
		parts := Folds(y, 6, folds, 1)
		if len(parts) != folds {
			t.Fatalf("%d parts, want %d", len(parts), folds)
		}
		isPartition(t, len(y), parts...)
		for _, part := range parts {
			if d := len(part) - len(y)/folds; d < 0 || d > 1 {
				t.Errorf("a part of %d of %d rows in %d folds", len(part), len(y), folds)
			}
			for class, n := range count(y, part, 6) {
				total := count(y, slices.Concat(parts...), 6)[class]
				if d := n - total/folds; d < 0 || d > 1 {
					t.Errorf("%d folds: a part has %d of the %d rows of class %d", folds, n, total, class)
				}
			}
		}
		if !reflect.DeepEqual(parts, Folds(y, 6, folds, 1)) {
			t.Error("the same seed gives other parts")
		}
	}
	if Folds(y, 6, 0, 1) != nil {
		t.Error("parts for no folds")
	}
}

// isPartition checks that the parts ascend and hold every row once.
func isPartition(t *testing.T, rows int, parts ...[]int) {
	t.Helper()
	for _, part := range parts {
		if !slices.IsSorted(part) {
			t.Errorf("rows %v do not ascend", part)
		}
	}
	all := slices.Sorted(slices.Values(slices.Concat(parts...)))
	for i, row := range all {
		if i != row {
			t.Fatalf("row %d stands where %d is wanted", row, i)
		}
	}
	if len(all) != rows {
		t.Errorf("%d rows, want %d", len(all), rows)
	}
}

func TestLabelIndex(t *testing.T) {
	l := NewLabels([]string{"oak", "elm", "Ash", "oak", "éclair"})
	if want := []string{"Ash", "elm", "oak", "éclair"}; !slices.Equal(l.Names(), want) || l.Len() != 4 {
		t.Errorf("names %q, want %q", l.Names(), want)
	}
	for i, name := range l.Names() {
		if got, ok := l.Index(name); got != i || !ok || l.Name(i) != name {
			t.Errorf("%q is %d, %v; want %d", name, got, ok, i)
		}
	}
	if i, ok := l.Index("fir"); ok || i != 0 {
		t.Error("a label that is not there has an index")
	}
	l.Names()[0] = "changed"
	if l.Name(0) != "Ash" || NewLabels(nil).Len() != 0 {
		t.Error("Names does not return a copy")
	}
}

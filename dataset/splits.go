package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/treeloss/treeloss/internal/input"
)

// Each use of randomness has a stream of its own, so that a change of one
// moves no draw of another.
const (
	streamShots = iota + 1
	streamHoldOut
	streamFolds
)

// TooFewError says that a class has fewer rows than are wanted of each.
type TooFewError struct {
	Class, Have, Want int
}

// Error names the class by its index: only the caller knows its label.
func (e *TooFewError) Error() string {
	return fmt.Sprintf("dataset: class %d has %s, want at least %d; ask for fewer, add examples or leave the class out", e.Class, input.Plural(e.Have, "row"), e.Want)
}

// Shots draws n rows of each class 0..k-1 without replacement and returns their
// numbers, ascending: n*k of them. y[i] is the class of row i. The draw depends
// on y, n and seed alone, and that for n is part of that for n+1. A class
// with fewer rows is a *TooFewError; a class in y that is not in 0..k-1, or n
// below 1, is an error too. It takes O(rows) time.
func Shots(y []int, k, n int, seed uint64) ([]int, error) {
	if n < 1 {
		return nil, fmt.Errorf("dataset: %d rows of each class, want at least 1", n)
	}
	for i, c := range y {
		if c < 0 || c >= k {
			return nil, fmt.Errorf("dataset: row %d is of class %d, want 0 to %d", i, c, k-1)
		}
	}
	var drawn []int
	for class, rows := range shuffledClasses(y, k, seed, streamShots) {
		if len(rows) < n {
			return nil, &TooFewError{class, len(rows), n}
		}
		drawn = append(drawn, rows[:n]...)
	}
	slices.Sort(drawn)
	return drawn, nil
}

// HoldOut splits the rows, class by class, in a training and a held-out part,
// both ascending. Of a class with r >= 3 rows, fraction*r are held out, rounded,
// at least 1 and so that at least 2 stay; of smaller classes none. A fraction
// that is not above 0 holds out nothing. It panics if a class in y is not in
// 0..k-1, which is a slip in the calling code.
func HoldOut(y []int, k int, fraction float64, seed uint64) (train, held []int) {
	for _, rows := range shuffledClasses(y, k, seed, streamHoldOut) {
		n := 0
		if len(rows) >= 3 && fraction > 0 {
			n = int(math.Round(min(fraction, 1) * float64(len(rows))))
			n = min(max(n, 1), len(rows)-2)
		}
		held = append(held, rows[:n]...)
		train = append(train, rows[n:]...)
	}
	slices.Sort(train)
	slices.Sort(held)
	return train, held
}

// Folds splits the rows into the test parts of a stratified cross-validation,
// each ascending. The parts differ by at most one row in size, and by at most
// one row of each class. With more folds than rows some parts are empty; with
// fewer than 1 there are none. It panics if a class in y is not in 0..k-1, which
// is a slip in the calling code.
func Folds(y []int, k, folds int, seed uint64) [][]int {
	if folds < 1 {
		return nil
	}
	parts := make([][]int, folds)
	next := 0 // goes on from class to class, so that small ones do not all land in part 0
	for _, rows := range shuffledClasses(y, k, seed, streamFolds) {
		for _, row := range rows {
			parts[next%folds] = append(parts[next%folds], row)
			next++
		}
	}
	for _, part := range parts {
		slices.Sort(part)
	}
	return parts
}

// At returns the rows at some places of a list, such as those that a split of it
// names: a part of a part, in the numbers of the whole. It panics if a place is not in the list.
func At(rows, places []int) []int {
	out := make([]int, len(places))
	for n, p := range places {
		out[n] = rows[p]
	}
	return out
}

// Range returns the numbers from..to-1. It panics if to is below from.
func Range(from, to int) []int {
	rows := make([]int, to-from)
	for i := range rows {
		rows[i] = from + i
	}
	return rows
}

// shuffledClasses returns the rows of each class in random order (Fisher and Yates), class by
// class from one stream: the draw of a class depends on the sizes of those before it.
func shuffledClasses(y []int, k int, seed, stream uint64) [][]int {
	classes := make([][]int, k)
	for row, class := range y {
		classes[class] = append(classes[class], row)
	}
	rng := rand.New(rand.NewPCG(seed, stream))
	for _, rows := range classes {
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	}
	return classes
}

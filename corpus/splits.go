package corpus

import (
	"errors"
	"slices"

	"github.com/treeloss/treeloss/dataset"
)

// Labelled returns the rows whose label is one of the classes.
func (d *Data) Labelled(rows []int) []int {
	return slices.DeleteFunc(slices.Clone(rows), func(row int) bool { return d.Class[row] < 0 })
}

// HoldOut returns pairs of rows to train on and rows held out: the labelled ones of
// valid if there are any, else rows of the classes that have three or more; those of
// rarer classes are always trained on. Few rows are held out in turn, each once. A row
// of several classes counts as of that with the largest share, and is held out whole.
// Rows without a class are in neither part. The same seed gives the same pairs.
//
// There are none if the classes with three rows are fewer than two, or have less
// than half of the rows: what did best on them need not do so on the others.
func (d *Data) HoldOut(rows, valid []int, seed uint64) (train, held [][]int) {
	rows = d.Labelled(rows)
	if valid := d.Labelled(valid); len(valid) > 0 {
		return [][]int{rows}, [][]int{valid}
	}
	counts := d.Count(rows)
	present, large := 0, 0 // classes with rows, and with rows to spare
	for _, n := range counts {
		present += min(n, 1)
		if n >= heldOutRows {
			large++
		}
	}
	var common []int // places in rows
	for n, row := range rows {
		if counts[d.Class[row]] >= heldOutRows {
			common = append(common, n)
		}
	}
	// With one class that can spare rows all held-out rows would be of it.
	if large < min(2, present) || 2*len(common) < len(rows) {
		return nil, nil
	}
	y := d.classNumbers(dataset.At(rows, common))
	var parts [][]int // places in common
	// One part is drawn by itself, so that its share of each class is exact; several are the
	// first of as many folds.
	if n := d.parts(rows); n == 1 {
		_, h := dataset.HoldOut(y, len(counts), HeldOutShare, seed)
		parts = [][]int{h}
	} else {
		parts = dataset.Folds(y, len(counts), DefaultFolds, seed)[:n]
	}
	for n := range parts {
		parts[n] = dataset.At(common, parts[n])
	}
	return deal(rows, parts)
}

// TooRare returns the share of the labelled rows, from 0 to 1, whose class has so few that
// HoldOut holds none of them out.
func (d *Data) TooRare(rows []int) float64 {
	rare, total := 0, 0
	for _, n := range d.Count(rows) {
		total += n
		if n < heldOutRows {
			rare += n
		}
	}
	return float64(rare) / float64(max(total, 1))
}

// parts is the number of parts of rows, a fifth of them each, that are held out in
// turn: enough of them for a choice, where that takes seconds.
func (d *Data) parts(rows []int) int {
	if len(rows) <= maxFoldRows {
		return DefaultFolds
	}
	work := float64(d.Table.Values(rows)) * float64(len(d.Classes.Labels))
	return max(1, min(DefaultFolds, DefaultFolds*enoughHeldOut/len(rows), int(cheapWork/work)))
}

// DefaultFolds is the usual number of folds.
const DefaultFolds = 5

// HeldOutShare is the share of the rows of a class that is held out where only one part is.
const HeldOutShare = 0.2

const (
	maxFoldRows   = 1500 // up to here every row is held out once
	heldOutRows   = 3    // of a class that can spare one
	enoughHeldOut = 3000 // rows whose answers tell methods apart by half a point
	cheapWork     = 8e7  // values in the rows x classes of all parts together
)

// Folds deals rows into folds with about as many rows of each class, and returns for
// each fold the rows outside and inside of it; rows without a class are in neither.
func (d *Data) Folds(rows []int, folds int, seed uint64) (train, held [][]int) {
	rows = d.Labelled(rows)
	return deal(rows, dataset.Folds(d.classNumbers(rows), len(d.Classes.Labels), folds, seed))
}

// Split names table rows to train and to test on.
type Split struct {
	Train []int
	Test  []int
	Seed  uint64 // of everything random in the training
}

// Shots makes a split for each seed 1..seeds of the given rows that belong to a class:
// n rows of each class to train on, or all for n = 0, and the rows test to test on. A
// nil test stands for the rows that were not drawn; for n = 0 a fifth of each class is
// then drawn to be tested and the rest trained on. A class with fewer than n rows is a
// *dataset.TooFewError.
func (d *Data) Shots(rows []int, n, seeds int, test []int) ([]Split, error) {
	own := d.Labelled(rows)
	y, k := d.classNumbers(own), len(d.Classes.Labels)
	var splits []Split
	for seed := uint64(1); seed <= uint64(seeds); seed++ {
		s := Split{Seed: seed, Train: own, Test: test}
		switch {
		case n > 0:
			places, err := dataset.Shots(y, k, n, seed)
			if err != nil {
				return nil, err
			}
			outside, inside := deal(own, [][]int{places})
			s.Train = inside[0]
			if test == nil {
				s.Test = outside[0]
			}
		case test == nil:
			train, held := dataset.HoldOut(y, k, HeldOutShare, seed)
			s.Train, s.Test = dataset.At(own, train), dataset.At(own, held)
		}
		if len(s.Test) == 0 {
			return nil, errors.New("no examples are left to test on; give test examples or draw fewer")
		}
		splits = append(splits, s)
	}
	return splits, nil
}

// deal returns, for each part, a list of places in rows, the rows outside of it
// and those inside.
func deal(rows []int, parts [][]int) (outside, inside [][]int) {
	for _, part := range parts {
		in := make([]bool, len(rows))
		for _, n := range part {
			in[n] = true
		}
		var rest []int
		for n, row := range rows {
			if !in[n] {
				rest = append(rest, row)
			}
		}
		outside, inside = append(outside, rest), append(inside, dataset.At(rows, part))
	}
	return outside, inside
}

// classNumbers returns the classes of rows that have one.
func (d *Data) classNumbers(rows []int) []int {
	y := make([]int, len(rows))
	for n, row := range rows {
		y[n] = int(d.Class[row])
	}
	return y
}

// Count returns the number of rows of each class; rows without one are not counted.
func (d *Data) Count(rows []int) []int {
	counts := make([]int, len(d.Classes.Labels))
	for _, row := range rows {
		if c := d.Class[row]; c >= 0 {
			counts[c]++
		}
	}
	return counts
}

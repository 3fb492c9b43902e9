package tune

import "github.com/treeloss/treeloss/dataset"

// splits returns pairs of rows to train on and rows held out: the given
// validation rows if there are any, else rows of the classes that have three or
// more; those of rarer classes are always trained on. Few rows are held out in
// turn, each once. A row of several classes counts as of that with the largest
// share, and is held out whole.
//
// There are none if the classes with three rows are fewer than two, or have less
// than half of the rows: what did best on them need not do so on the others.
func (d *Data) splits(rows []int, opts Options) (train, held [][]int) {
	if valid := d.labelled(opts.Valid); len(valid) > 0 {
		return [][]int{rows}, [][]int{valid}
	}
	counts := make([]int, len(d.Classes.Labels))
	for _, row := range rows {
		counts[d.Class[row]]++
	}
	classes := 0
	for _, c := range counts {
		if c >= heldOutRows {
			classes++
		}
	}
	var common, y []int // places in rows, and their classes
	for n, row := range rows {
		if c := d.Class[row]; counts[c] >= heldOutRows {
			common, y = append(common, n), append(y, int(c))
		}
	}
	if classes < min(2, present(counts)) || 2*len(common) < len(rows) {
		return nil, nil
	}
	var parts [][]int // places in common
	if n := d.parts(rows); n == 1 {
		_, h := dataset.HoldOut(y, len(counts), heldOutShare, opts.Seed)
		parts = [][]int{h}
	} else {
		parts = dataset.Folds(y, len(counts), folds, opts.Seed)[:n]
	}
	for _, part := range parts {
		for i, n := range part {
			part[i] = common[n]
		}
	}
	return deal(rows, parts)
}

// parts is the number of parts of rows, a fifth of them each, that are held out in
// turn: enough of them for a choice, where that takes seconds.
func (d *Data) parts(rows []int) int {
	if len(rows) <= maxFoldRows {
		return folds
	}
	work := float64(d.Table.Values(rows)) * float64(len(d.Classes.Labels))
	return max(1, min(folds, folds*enoughHeldOut/len(rows), int(cheapWork/work)))
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

// present returns the number of classes that have rows.
func present(counts []int) (classes int) {
	for _, c := range counts {
		if c > 0 {
			classes++
		}
	}
	return classes
}

const (
	maxFoldRows   = 1500 // up to here every row is held out once
	folds         = 5
	heldOutRows   = 3 // of a class that can spare one
	heldOutShare  = 0.2
	enoughHeldOut = 3000 // rows whose answers tell methods apart by half a point
	cheapWork     = 8e7  // values in the rows x classes of all parts together
)

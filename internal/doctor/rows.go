package doctor

import (
	"math/rand/v2"
	"slices"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/matrix"
)

// RowsPerClass says how many rows the classes have.
type RowsPerClass struct {
	Least       int      `json:"least"`
	Median      float64  `json:"median"`
	Most        int      `json:"most"`
	Largest     string   `json:"largest"`      // the class with the most rows
	Share       float64  `json:"share"`        // of all rows that are of it
	Few         int      `json:"few"`          // classes with fewer than 3 rows, too few to hold one out
	FewExamples []string `json:"few_examples"` // up to 5 of these
}

// fewest is the number of rows a class must have for one to be held out.
const fewest = 3

// rowsPerClass counts the rows of each class; class has one of 0 to len(labels)-1 for each row.
func rowsPerClass(class []int, labels []string) RowsPerClass {
	counts := make([]int, len(labels))
	for _, c := range class {
		counts[c]++
	}
	out := RowsPerClass{FewExamples: []string{}}
	largest := 0
	for c, n := range counts {
		if n > counts[largest] {
			largest = c
		}
		if n < fewest {
			if out.Few++; len(out.FewExamples) < maxExamples {
				out.FewExamples = append(out.FewExamples, labels[c])
			}
		}
	}
	out.Largest, out.Share = labels[largest], float64(counts[largest])/float64(len(class))
	slices.Sort(counts)
	k := len(counts)
	out.Least, out.Most = counts[0], counts[k-1]
	out.Median = float64(counts[(k-1)/2]+counts[k/2]) / 2
	return out
}

// Coverage says how much of unseen rows a model can know.
type Coverage struct {
	Seen     float64 `json:"seen"`     // share of the n-grams (or sparse features) of the held-out rows that others have
	Rows     int     `json:"rows"`     // held out to find this
	Features int     `json:"features"` // distinct ones in all rows
}

// heldOutShare is the share of rows held out, as tune holds out.
const heldOutShare = 0.2

// coverageOf holds out rows of x and counts how many of their features, each
// once a row, occur in the other rows. It is nil without two rows. O(values). Features that
// are held out and seen nowhere else are what a model has no weight for.
func coverageOf(x *matrix.Sparse, class []int, k int, seed uint64) *Coverage {
	train, held := dataset.HoldOut(class, k, heldOutShare, seed)
	if len(held) == 0 { // classes too small: any rows will do for a vocabulary
		if len(class) < 2 {
			return nil
		}
		order := rand.New(rand.NewPCG(seed, coverageStream)).Perm(len(class))
		n := max(1, len(class)/5)
		held, train = order[:n], order[n:]
	}
	occurs := make([]bool, x.Columns)
	for _, row := range train {
		index, _ := x.Row(row)
		for _, j := range index {
			occurs[j] = true
		}
	}
	seen, all := 0, 0
	for _, row := range held {
		index, _ := x.Row(row)
		for _, j := range index {
			if all++; occurs[j] {
				seen++
			}
		}
	}
	return &Coverage{Seen: float64(seen) / float64(max(all, 1)), Rows: len(held), Features: x.Columns}
}

// Streams of random numbers, one for each use.
const (
	coverageStream = iota + 1
	agreementStream
	classStream
)

// Columns says which numeric columns tell nothing. Rows with a missing number
// are refused when the file is read, so there are none here.
type Columns struct {
	All              int      `json:"all"`
	Constant         int      `json:"constant"`          // with the same number in each row
	ConstantExamples []string `json:"constant_examples"` // up to 5 of these
}

// columnsOf looks for columns of zeros, which is what standardising makes of a
// constant.
func columnsOf(x *matrix.Dense, names []string) *Columns {
	out := &Columns{All: x.Columns, ConstantExamples: []string{}}
	varies := make([]bool, x.Columns)
	for i := range x.Rows() {
		for j, v := range x.Row(i) {
			varies[j] = varies[j] || v != 0
		}
	}
	for j, v := range varies {
		if !v {
			if out.Constant++; len(out.ConstantExamples) < maxExamples {
				out.ConstantExamples = append(out.ConstantExamples, names[j])
			}
		}
	}
	return out
}

// classesOf returns the class of each of the rows.
func classesOf(d *corpus.Data, rows []int) []int {
	out := make([]int, len(rows))
	for n, row := range rows {
		out[n] = int(d.Class[row])
	}
	return out
}

// sample returns n of the numbers 0..k-1, ascending; all if n is not smaller.
func sample(k, n int, seed, stream uint64) []int {
	if n >= k {
		return dataset.Range(0, k)
	}
	return slices.Sorted(slices.Values(rand.New(rand.NewPCG(seed, stream)).Perm(k)[:n]))
}

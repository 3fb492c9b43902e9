package evaluate

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"github.com/treeloss/treeloss/dataset"
)

// WriteConfusions writes the k x k confusion matrix of what was counted so far as
// CSV: a row for each true class, a column for each predicted one, and the numbers of
// examples. Both are in the order of the tree's nodes, in which similar classes are
// neighbours, or in that of the labels where there is no tree. Examples with a label
// that was never trained are in no row. The errors are those of w.
//
// Beside the k^2 cells that are written it takes memory for the mistakes only.
func (e *Evaluation) WriteConfusions(w io.Writer) error {
	all, err := e.total()
	if err != nil {
		return err
	}
	order := dataset.Range(0, len(e.about.Labels))
	if tree := e.about.Tree; tree != nil {
		slices.SortFunc(order, func(a, b int) int { return tree.Node(a) - tree.Node(b) })
	}
	column := make([]int, len(order)) // of each class, behind that of the names
	header := []string{"label"}
	for n, class := range order {
		column[class] = n + 1
		header = append(header, e.about.Labels[class])
	}
	// The counter has the mistakes; what is left of a class was right.
	right, mistakes := make([]int, len(order)), map[int][]int{} // mistakes: indices of those of each true class
	for _, c := range all.Classes() {
		right[c.Class] = c.Support
	}
	confusions := all.Confusions(-1)
	for n, c := range confusions {
		right[c.True] -= c.Count
		mistakes[c.True] = append(mistakes[c.True], n)
	}
	table := csv.NewWriter(w)
	if err := table.Write(header); err != nil {
		return err
	}
	row := make([]string, len(header))
	for _, class := range order {
		for n := range row {
			row[n] = "0"
		}
		row[0], row[column[class]] = e.about.Labels[class], strconv.Itoa(right[class])
		for _, n := range mistakes[class] {
			row[column[confusions[n].Predicted]] = strconv.Itoa(confusions[n].Count)
		}
		if err := table.Write(row); err != nil {
			return err
		}
	}
	table.Flush()
	return table.Error()
}

package evaluate

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/score"
)

// Matrix is a k x k confusion matrix in memory for its mistakes only. Examples with a
// label that was never trained are in no row.
type Matrix struct {
	Labels   []string          // of the k classes, by their numbers
	Right    []int             // examples of each class that were right
	Support  []int             // examples of each class
	Mistakes []score.Confusion // the most frequent first
	Tree     *labeltree.Tree   // of the model or of Options; nil: none
}

// Matrix returns the confusion matrix of what was counted so far.
func (e *Evaluation) Matrix() (*Matrix, error) {
	all, err := e.total()
	if err != nil {
		return nil, err
	}
	m := &Matrix{Labels: e.about.Labels, Mistakes: all.Confusions(-1), Tree: e.about.Tree}
	for _, c := range all.Classes() {
		m.Right, m.Support = append(m.Right, c.Support), append(m.Support, c.Support)
	}
	// The counter has the mistakes; what is left of a class was right.
	for _, c := range m.Mistakes {
		m.Right[c.True] -= c.Count
	}
	return m, nil
}

// Order returns the classes in the order of the tree's nodes, in which similar ones are
// neighbours, or as they are numbered where there is no tree.
func (m *Matrix) Order() []int {
	order := dataset.Range(0, len(m.Labels))
	if m.Tree != nil {
		slices.SortFunc(order, func(a, b int) int { return m.Tree.Node(a) - m.Tree.Node(b) })
	}
	return order
}

// WriteCSV writes the matrix with a row for each true class and a column for each
// predicted one, both in the given order of all classes. Beside the k^2 cells that are
// written it takes memory for the mistakes only. The errors are those of w.
func (m *Matrix) WriteCSV(w io.Writer, order []int) error {
	column := make([]int, len(order)) // of each class, behind that of the names
	header := []string{"label"}
	for n, class := range order {
		column[class] = n + 1
		header = append(header, m.Labels[class])
	}
	mistakes := map[int][]score.Confusion{} // of each true class
	for _, c := range m.Mistakes {
		mistakes[c.True] = append(mistakes[c.True], c)
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
		row[0], row[column[class]] = m.Labels[class], strconv.Itoa(m.Right[class])
		for _, c := range mistakes[class] {
			row[column[c.Predicted]] = strconv.Itoa(c.Count)
		}
		if err := table.Write(row); err != nil {
			return err
		}
	}
	table.Flush()
	return table.Error()
}

// WriteConfusions writes the confusion matrix of what was counted so far as CSV, in
// the order of the tree; see Matrix.
func (e *Evaluation) WriteConfusions(w io.Writer) error {
	m, err := e.Matrix()
	if err != nil {
		return err
	}
	return m.WriteCSV(w, m.Order())
}

package tune

import (
	"fmt"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/knowledge"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/wordvec"
)

// Data is everything there is to train on and to measure with, before any
// feature is fitted. Rows are numbered as in the Table.
type Data struct {
	Table   *feature.Table
	Class   []int32   // class of each row, -1 for a label that is none of the classes
	Weight  []float32 // of each row; nil: all 1
	Classes knowledge.Classes

	Found   *wordvec.LabelVectors // how Classes.Vectors were found; nil without a file
	Dropped []string              // labels that are no class for want of a vector

	names int // table row of the name of class 0; 0 if names cannot be examples
}

// NewData checks that the parts fit together. It adds the names of the classes
// to a table of texts, after the rows.
func NewData(t *feature.Table, class []int32, weight []float32, classes knowledge.Classes) (*Data, error) {
	n, k := t.Rows(), len(classes.Labels)
	if len(class) != n || weight != nil && len(weight) != n {
		return nil, fmt.Errorf("tune: %d rows, %d classes of rows and %d weights", n, len(class), len(weight))
	}
	for i, c := range class {
		if c < -1 || int(c) >= k {
			return nil, fmt.Errorf("tune: row %d: class %d, want -1 to %d", i, c, k-1)
		}
	}
	d := &Data{Table: t, Class: class, Weight: weight, Classes: classes}
	if t.Kind() == dataset.Text {
		d.names = n
		for _, label := range classes.Labels {
			t.AddText(feature.NameText(label))
		}
	}
	return d, nil
}

// Named tells whether class names can be examples: they need texts.
func (d *Data) Named() bool { return d.names > 0 }

// nameRows returns the table rows of the class names.
func (d *Data) nameRows() []int {
	rows := make([]int, len(d.Classes.Labels))
	for c := range rows {
		rows[c] = d.names + c
	}
	return rows
}

// classOf returns the class of a table row, names included.
func (d *Data) classOf(row int) int32 {
	if row >= len(d.Class) {
		return int32(row - d.names)
	}
	return d.Class[row]
}

// classes returns the classes of table rows.
func (d *Data) classes(rows []int) []int32 {
	out := make([]int32, len(rows))
	for n, row := range rows {
		out[n] = d.classOf(row)
	}
	return out
}

// weights returns the weights of table rows; a name has weight 1.
func (d *Data) weights(rows []int) []float32 {
	if d.Weight == nil {
		return nil
	}
	out := make([]float32, len(rows))
	for n, row := range rows {
		out[n] = 1
		if row < len(d.Weight) {
			out[n] = d.Weight[row]
		}
	}
	return out
}

// fitted is a set of features and the examples it was fitted on.
type fitted struct {
	features *feature.Set
	x        matrix.Matrix
	class    []int32
	weight   []float32
}

// fit fits features on rows, with the names of all classes if they are
// examples too, and returns them with the rows as features.
func (d *Data) fit(rows []int, names bool) (*fitted, error) {
	if names {
		rows = append(append([]int(nil), rows...), d.nameRows()...)
	}
	set, err := d.Table.Fit(rows, feature.Options{})
	if err != nil {
		return nil, err
	}
	x, err := set.Matrix(d.Table, rows)
	if err != nil {
		return nil, err
	}
	return &fitted{features: set, x: x, class: d.classes(rows), weight: d.weights(rows)}, nil
}

// lastRows returns the last n rows, which are the names if they were fitted.
func (f *fitted) lastRows(n int) *matrix.Sparse {
	x := f.x.(*matrix.Sparse)
	rows := make([]int, n)
	for i := range rows {
		rows[i] = x.Rows() - n + i
	}
	return x.Select(rows).(*matrix.Sparse)
}

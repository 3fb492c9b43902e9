package corpus

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/wordvec"
)

// Data is everything there is to train on and to measure with, before any
// feature is fitted. Rows are numbered as in the Table.
type Data struct {
	Table   *feature.Table
	Class   []int32   // class of each row, -1 for a label that is none of the classes
	Weight  []float32 // of each row; nil: all 1
	Classes classinfo.Info

	// Mix (rows x classes) has the targets that are distributions: shares that
	// sum to 1 in the row of each, nothing in the others. Class is then the class
	// with the largest share, which is what the row counts as wherever one class
	// is wanted: in held-out splits, accuracy, class means. nil: none.
	Mix *matrix.Sparse
	// ClassWeight multiplies the weight of the rows of each class, of a mix the
	// share of each, in training; not that of names as examples. nil: all 1.
	ClassWeight []float32

	// Unlabelled rows are examples of class -1 to learn from beside the labelled ones.
	Unlabelled Unlabelled

	// Stream has all examples where the table has a sample of them only; nil: it has
	// them all.
	Stream *Stream

	// Memory is the budget of training, in bytes; 0: half of what the machine or its
	// container has. Where n-grams x classes would need more, the rarest n-grams are
	// left out.
	Memory int64

	Found   *wordvec.LabelVectors // how Classes.Vectors were found; nil without a file
	Dropped []string              // labels that are no class for want of a vector

	names int // table row of the name of class 0; 0 if names cannot be examples
}

// NewData checks that the parts fit together. It adds the names of the classes
// to a table of texts, after the rows.
func NewData(t *feature.Table, class []int32, weight []float32, classes classinfo.Info) (*Data, error) {
	n, k := t.Rows(), len(classes.Labels)
	if len(class) != n || weight != nil && len(weight) != n {
		return nil, fmt.Errorf("corpus: %d rows, %d classes of rows and %d weights", n, len(class), len(weight))
	}
	for i, c := range class {
		if c < -1 || int(c) >= k {
			return nil, fmt.Errorf("corpus: row %d: class %d, want -1 to %d", i, c, k-1)
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

// Truth returns the shares of the classes in a table row, none if it is of its
// class alone.
func (d *Data) Truth(row int) score.Mix {
	if d.Mix == nil || row >= d.Mix.Rows() {
		return score.Mix{}
	}
	index, share := d.Mix.Row(row)
	return score.Mix{Class: index, Share: share}
}

// EachShare calls visit with each class of a table row and its share: 1 of its
// class, unless the row has a Mix.
func (d *Data) EachShare(row int, visit func(class int, share float64)) {
	mix := d.Truth(row)
	if len(mix.Class) == 0 {
		visit(int(d.classOf(row)), 1)
	}
	for n, c := range mix.Class {
		visit(int(c), float64(mix.Share[n]))
	}
}

// Score counts the answer to a table row, given the probability of each class:
// by its class, or by the shares of its classes (score.Count).
func (d *Data) Score(c *score.Counter, row int, p []float32) error {
	return score.Count(c, int(d.Class[row]), d.Truth(row), p, nil)
}

// weights returns the weights of table rows in training; a name has weight 1.
func (d *Data) weights(rows []int) []float32 {
	// Trainers take nil for all 1.
	if d.Weight == nil && d.ClassWeight == nil {
		return nil
	}
	out := make([]float32, len(rows))
	for n, row := range rows {
		out[n] = 1
		if row >= len(d.Class) || d.Class[row] < 0 {
			continue
		}
		if d.Weight != nil {
			out[n] = d.Weight[row]
		}
		if d.ClassWeight != nil {
			out[n] *= d.classWeight(row)
		}
	}
	return out
}

// classWeight returns the mean weight of the classes of a row.
func (d *Data) classWeight(row int) float32 { return d.classWeightOf(d.Class[row], d.Truth(row)) }

// classWeightOf is classWeight for an example of a class, or of several.
func (d *Data) classWeightOf(class int32, mix score.Mix) float32 {
	if len(mix.Class) == 0 {
		return d.ClassWeight[class]
	}
	var sum float32
	for n, c := range mix.Class {
		sum += mix.Share[n] * d.ClassWeight[c]
	}
	return sum
}

// mixes returns the shares of table rows, names included, and nil if each is of
// one class. With training, each share counts by the weight of its class.
func (d *Data) mixes(rows []int, training bool) *matrix.Sparse {
	if !slices.ContainsFunc(rows, func(row int) bool { return len(d.Truth(row).Class) > 0 }) {
		return nil
	}
	out := &matrix.Sparse{Columns: len(d.Classes.Labels)}
	for _, row := range rows {
		mix := d.Truth(row)
		if training {
			mix = d.weighed(mix)
		}
		out.AppendRow(mix.Class, mix.Share)
	}
	return out
}

// weighed returns a mix whose shares count by the weights of their classes.
func (d *Data) weighed(mix score.Mix) score.Mix {
	if d.ClassWeight == nil || len(mix.Class) == 0 {
		return mix
	}
	// Weighted shares sum to 1 again: the weight of the row has their mean.
	if all := d.classWeightOf(0, mix); all > 0 {
		share := make([]float32, len(mix.Share))
		for n, c := range mix.Class {
			share[n] = mix.Share[n] * d.ClassWeight[c] / all
		}
		mix.Share = share
	}
	return mix
}

// Fitted is a set of features and the examples that it was fitted on.
type Fitted struct {
	Features *feature.Set
	softmax.Examples
}

// Inputs says what the examples of a fit are, beside the rows.
type Inputs struct {
	Names   bool // the names of the classes are examples, too
	Fourier int  // random Fourier features behind numeric columns

	// The features of a sentence encoder, where the table has one: see feature.Options.
	EncoderScale float64
	EncoderAlone bool

	MaxFeatures int // n-grams at most, the most frequent ones; 0: as many as there is room for a weight of each for all classes
}

// Fit fits features on rows, with the names of all classes, in their order, after them
// if these are examples too. Its cost is that of reading the rows once; what is counted
// are the rows given, no others.
func (d *Data) Fit(rows []int, in Inputs) (*Fitted, error) {
	if in.Names {
		if !d.Named() {
			return nil, errors.New("names as examples need texts to learn from, this data has numbers")
		}
		rows = slices.Concat(rows, dataset.Range(d.names, d.names+len(d.Classes.Labels)))
	}
	set, err := d.Table.Fit(rows, feature.Options{MaxFeatures: cmp.Or(in.MaxFeatures, d.maxFeatures(len(rows))), Fourier: in.Fourier, EncoderScale: in.EncoderScale, EncoderAlone: in.EncoderAlone})
	if err != nil {
		return nil, err
	}
	x, err := set.Matrix(d.Table, rows)
	if err != nil {
		return nil, err
	}
	return &Fitted{set, softmax.Examples{X: x, Class: d.classes(rows), Weight: d.weights(rows), Mix: d.mixes(rows, true)}}, nil
}

// Examples returns rows by features that were fitted on others, to measure a layer on,
// all of weight 1.
func (d *Data) Examples(f *feature.Set, rows []int) (softmax.Examples, error) {
	x, err := f.Matrix(d.Table, rows)
	return softmax.Examples{X: x, Class: d.classes(rows), Mix: d.mixes(rows, false)}, err
}

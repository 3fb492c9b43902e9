package doctor

import (
	"cmp"
	"context"
	"fmt"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/internal/theory"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

// Options sets up Examine. The zero value is the default.
type Options struct {
	// From is where the distances between classes come from, one of
	// classinfo.Metrics; "" takes the first that is there of Distances, Taxonomy,
	// Weights, Vectors and Names.
	From    classinfo.Source
	Base    float64     // of the cover tree; 0 means 2, the paper's where it proves its bounds
	Train   tune.Choice // trains: Auto what takes seconds, plain cross entropy for the weights and each source for its gain; On whatever it takes; Off nothing
	Seed    uint64      // of everything random
	Threads int         // 0: one a CPU

	// Progress is called as training goes on; nil: not.
	Progress func(stage string, p softmax.Progress)
}

// Report is what Examine found. Rates and their errors are fractions 0..1;
// what was not looked at is nil.
type Report struct {
	Kind     string       `json:"kind"` // of the rows: text, numbers or sparse
	Classes  int          `json:"classes"`
	Rows     int          `json:"rows"`
	PerClass RowsPerClass `json:"rows_per_class"`
	Coverage *Coverage    `json:"coverage"` // text and sparse rows
	Columns  *Columns     `json:"columns"`  // numeric rows
	Repeats  *Repeats     `json:"repeats"`  // with Records
	Hidden   []Hidden     `json:"hidden_characters"`
	Names    Names        `json:"names"`

	Unlabelled *Unlabelled `json:"unlabelled"` // examples without labels; nil: none are given

	Taxonomy bool       `json:"taxonomy"` // whether one is given
	Vectors  bool       `json:"vectors"`  // whether names have vectors
	Sources  []Evidence `json:"sources"`  // whether the rows support what was given about the classes
	Metric   *Metric    `json:"metric"`   // of the classes; nil: none could be made
	Weights  *Weights   `json:"weights"`  // where plain cross entropy was trained
	Gain     *Gain      `json:"gain"`     // where sources were measured
	Verdict  Verdict    `json:"verdict"`
	Skipped  []string   `json:"skipped"` // what was left out, and why
}

// Unlabelled tells of examples without labels.
type Unlabelled struct {
	Read     int     `json:"read"`     // in the files
	Examples int     `json:"examples"` // different ones that are none of the rows
	Similar  float64 `json:"similar"`  // share that is as near to the rows as these are to each other: tune.Similar
}

// Evidence says whether the rows support a source of class information.
type Evidence struct {
	Source string `json:"source"`
	// Errors is by how many standard errors classes that the source calls near
	// have nearer rows than if it were shuffled: corpus.Data.Agreement.
	Errors float64 `json:"errors"`
}

// Metric is the distances between classes that trees are built from.
type Metric struct {
	Source    string           `json:"source"`
	Dimension theory.Dimension `json:"doubling_dimension"`
}

// Examine looks at the given rows of d, all of known classes, two classes at
// least. records are of these rows, or of all that were read, where classes were
// dropped; nil looks for no repeats.
//
// Without training it takes a pass over the rows and the distances between
// classes, and seconds. If ctx is cancelled it returns an error that wraps
// ctx.Err().
func Examine(ctx context.Context, d *corpus.Data, rows []int, records *Records, opts Options) (*Report, error) {
	if err := check(d, rows, records, opts); err != nil {
		return nil, err
	}
	class, labels := classesOf(d, rows), d.Classes.Labels
	r := &Report{
		Kind: kindWord(d.Table.Kind()), Classes: len(labels), Rows: len(rows),
		PerClass: rowsPerClass(class, labels), Hidden: []Hidden{}, Sources: []Evidence{}, Skipped: []string{},
		Taxonomy: d.Classes.Taxonomy != nil, Vectors: d.Classes.Vectors != nil,
	}
	if records != nil {
		r.Repeats, r.Hidden = records.repeats(), records.leaks()
	}
	examples, err := featuresOf(d, rows)
	if err != nil {
		return nil, err
	}
	switch x := examples.X.(type) {
	case *matrix.Sparse:
		r.Coverage = coverageOf(x, class, len(labels), opts.Seed)
	case *matrix.Dense:
		r.Columns = columnsOf(x, examples.Features.Columns())
	}
	if r.Names, err = namesOf(d, rows, opts.Seed); err != nil {
		return nil, err
	}
	if u := d.Unlabelled; u.Read > 0 {
		r.Unlabelled = &Unlabelled{Read: u.Read}
		if r.Unlabelled.Similar, r.Unlabelled.Examples, err = tune.Similar(d, rows, opts.Threads); err != nil {
			return nil, err
		}
	}
	if err := r.weighSources(ctx, d, rows); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("doctor: stopped before the metric of the classes: %w", err)
	}
	space := r.classMetric(d, examples, opts)
	prior, err := r.measure(ctx, d, rows, examples, opts)
	if err != nil {
		return nil, err
	}
	if err := r.weigh(ctx, d, examples, space, prior, opts); err != nil {
		return nil, err
	}
	r.Verdict = r.verdict()
	return r, nil
}

// check refuses what would be a slip of the caller or cannot be examined.
func check(d *corpus.Data, rows []int, records *Records, opts Options) error {
	if len(d.Classes.Labels) < 2 {
		return fmt.Errorf("doctor: %d class: %w", len(d.Classes.Labels), corpus.ErrOneClass)
	}
	if len(rows) == 0 {
		return fmt.Errorf("doctor: no rows to examine")
	}
	for _, row := range rows {
		if row < 0 || row >= len(d.Class) || d.Class[row] < 0 {
			return fmt.Errorf("doctor: row %d has no known class; leave it out", row)
		}
	}
	if n := len(rows); records != nil && records.Rows() != n && records.Rows() != len(d.Class)-len(d.Unlabelled.Rows) {
		return fmt.Errorf("doctor: records of %d rows, want those of the %d rows to examine", records.Rows(), n)
	}
	return opts.Check()
}

// Check returns an *option.Error for a field that is out of range.
func (o Options) Check() error {
	return cmp.Or(
		classinfo.Options{From: o.From, Base: o.Base}.Check(),
		option.Threads(o.Threads))
}

// kindWord is the kind of rows in JSON.
func kindWord(k dataset.Kind) string {
	switch k {
	case dataset.Text:
		return "text"
	case dataset.Numbers:
		return "numbers"
	}
	return "sparse"
}

// examples are the rows as features fitted on all of them, with one class each.
type examples struct{ *corpus.Fitted }

// featuresOf fits features on the rows as training would. A row with several classes
// counts as its likeliest: the theory knows one a row.
func featuresOf(d *corpus.Data, rows []int) (*examples, error) {
	fitted, err := d.Fit(rows, corpus.Inputs{})
	if err != nil {
		return nil, err
	}
	fitted.Mix = nil
	return &examples{fitted}, nil
}

// values returns how many numbers a pass over the examples meets.
func (e *examples) values() float64 {
	if s, ok := e.X.(*matrix.Sparse); ok {
		return float64(len(s.Value))
	}
	return float64(e.X.Rows()) * float64(e.X.Cols())
}

package dataset

import (
	"errors"
	"fmt"
	"math"

	"github.com/treeloss/treeloss/internal/input"
)

// cells are what one record has in its columns: a row of CSV, TSV or Parquet, or a
// JSON object, whose keys are its columns. Columns are
// numbered as in the list given to newRows. All errors are *Errors.
type cells interface {
	// use learns which columns play a part, and stands on the first record then.
	use(c choice) error
	// read goes on to the next record; at the end it returns io.EOF.
	read() error
	// line is the line, or the row of Parquet, on which the record starts.
	line() int
	// label sets Label, without outer white space, and Mix where there is one.
	label(ex *Example, i int) error
	text(i int) (string, error)
	// missing tells whether there is nothing, for columns where that is no error.
	missing(i int) bool
	// number returns a finite number; option is what to set where there is none.
	number(i int, option string) (float64, error)
	// numbers appends those of the chosen columns, or of the one with a list, of
	// which width are wanted. All are finite.
	numbers(dst []float64, c choice, width int) ([]float64, error)
	extent() extent
	// refuse returns an error at column i.
	refuse(i int, format string, args ...any) error
}

// oneByOne appends the numbers of some columns.
func oneByOne(c cells, dst []float64, columns []int) ([]float64, error) {
	for _, i := range columns {
		v, err := c.number(i, "Options.Columns")
		if err != nil {
			return dst, err
		}
		dst = append(dst, v)
	}
	return dst, nil
}

// rows reads what has named columns.
type rows struct {
	cells          cells
	chosen         choice
	array          string // what the format calls a list of numbers
	nullable       bool   // the label may be missing
	several        bool   // an example may have several labels
	labelSeparator string // in a cell; "": it has one label
	ahead          bool   // cells has a record that next has not given yet
	parts
}

// newRows chooses the columns. noun and array are what the format calls a column
// and a list; line, 0 for none, is where the columns are named. With typed, what a
// column holds is known, else it was guessed from the first row.
func newRows(c cells, in *input.Stream, cols []column, line int, opts Options, noun, array string, typed bool) (*rows, error) {
	r := &rows{cells: c, array: array, nullable: opts.Unlabelled || opts.Several(), several: opts.Several(), labelSeparator: opts.LabelSeparator, ahead: true}
	var err error
	if r.chosen, err = newChooser(cols, opts, noun, typed).choose(); errors.Is(err, ErrSeveralLabels) {
		return nil, refuseSeveral(input.Refuse(in.Name, line, 0, "%s", err), "list")
	} else if err != nil {
		return nil, input.Refuse(in.Name, line, 0, "%s", err)
	}
	if opts.Multilabel && opts.LabelSeparator == "" && noun == "column" && !opts.Unlabelled {
		return nil, input.Refuse(in.Name, line, 0, "say with Options.LabelSeparator what stands between the labels of a cell of %q, such as ; or |", describe(cols, r.chosen, noun).labelName)
	}
	r.parts = describe(cols, r.chosen, noun)
	if err := c.use(r.chosen); err != nil {
		return nil, err
	}
	if !r.chosen.list {
		return r, nil
	}
	// The first row says how many numbers a list has.
	first, err := c.numbers(nil, r.chosen, 0)
	if err != nil {
		return nil, err
	}
	name := cols[r.chosen.numbers[0]].name
	if len(first) == 0 {
		return nil, input.Refuse(in.Name, c.line(), 0, "%s %q: an empty %s, want numbers; fill it in or remove the row", noun, name, array)
	}
	r.columns, r.width = nil, len(first)
	r.about = fmt.Sprintf("%s, %s in %s %q", labelPart(r.parts, noun), input.Plural(r.width, "number"), noun, name)
	return r, nil
}

// extent implements source.
func (r *rows) extent() extent { return r.cells.extent() }

// next implements source. Label, id, weight and then text or numbers are read in that order,
// whatever the order of the columns: so the first complaint about a row is about its label.
func (r *rows) next(ex *Example) (err error) {
	if !r.ahead {
		if err := r.cells.read(); err != nil {
			return err
		}
	}
	r.ahead = false
	ex.Place.Line = r.cells.line()
	ex.Weight, ex.Label, ex.Text, ex.Values, ex.Mix = 1, "", "", ex.Values[:0], nil
	if i := r.chosen.label; i >= 0 {
		if err := r.cells.label(ex, i); err != nil {
			return err
		}
		if ex.Label == "" && !r.nullable {
			return r.cells.refuse(i, "the label is empty; fill it in or remove the row")
		}
		if r.several && ex.Label != "" && !addSplit(ex, ex.Label, r.labelSeparator) {
			return r.cells.refuse(i, "%s", tooMany())
		}
	}
	if i := r.chosen.id; i >= 0 { // what a label may be, an id may be
		var id Example // with a label alone
		if err := r.cells.label(&id, i); err != nil {
			return err
		}
		ex.ID = id.Label
	}
	if i := r.chosen.weight; i >= 0 {
		if ex.Weight, err = r.cells.number(i, "Options.Weight"); err != nil {
			return err
		}
		if ex.Weight < 0 {
			return r.cells.refuse(i, "weight %g, want 0 or more", ex.Weight)
		}
	}
	if r.fields.Several() {
		return r.readFields(ex)
	}
	if len(r.chosen.texts) > 0 {
		ex.Text, err = r.cells.text(r.chosen.texts[0])
		return err
	}
	ex.Values, err = r.cells.numbers(ex.Values, r.chosen, r.width)
	if n := len(ex.Values); err == nil && n != r.width {
		err = r.cells.refuse(r.chosen.numbers[0], "%s in the %s, want %d as in the first", input.Plural(n, "number"), r.array, r.width)
	}
	return err
}

// readFields reads texts, categories and numbers of a record that has several. What is
// missing is an empty text or category, or no number.
func (r *rows) readFields(ex *Example) (err error) {
	ex.Fields = ex.Fields[:0]
	for n, i := range r.chosen.texts {
		text := ""
		if !r.cells.missing(i) {
			if text, err = r.cells.text(i); err != nil {
				return err
			}
		}
		if n == 0 {
			ex.Text = text
		} else {
			ex.Fields = append(ex.Fields, text)
		}
	}
	for _, i := range r.chosen.categories {
		var category Example
		if !r.cells.missing(i) {
			if err := r.cells.label(&category, i); err != nil { // what a label may be, a category may be
				return err
			}
		}
		ex.Fields = append(ex.Fields, category.Label)
	}
	for _, i := range r.chosen.numbers {
		v := math.NaN()
		if !r.cells.missing(i) {
			if v, err = r.cells.number(i, "Options.Columns"); err != nil {
				return err
			}
		}
		ex.Values = append(ex.Values, v)
	}
	return nil
}

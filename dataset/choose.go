package dataset

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/internal/input"
)

// column is a column of a table or a key of JSON objects, as the first record
// shows it.
type column struct {
	name  string
	holds holding
}

// holding is what a column holds in the first record.
type holding int

const (
	words  holding = iota
	number         // or, in CSV and TSV, nothing
	truth          // JSON true or false
	list           // JSON array, Parquet list of numbers
	soft           // JSON object of numbers
	other          // JSON object or null, other Parquet columns
)

// choice is which column plays which part; -1 is none.
type choice struct {
	label, text, weight int
	numbers             []int
	list                bool  // numbers is one JSON key with an array
	left                []int // id columns and columns without numbers, passed over
}

// chooser finds the parts of the columns.
type chooser struct {
	cols   []column
	opts   Options
	noun   string         // "column" or "key"
	typed  bool           // what a column holds is known, not guessed from the first row
	first  map[string]int // name to the first column that has it
	double map[int]int    // column to another of the same name
}

func newChooser(cols []column, opts Options, noun string) *chooser {
	c := &chooser{cols: cols, opts: opts, noun: noun, first: make(map[string]int, len(cols)), double: make(map[int]int)}
	for i, col := range cols {
		if j, ok := c.first[col.name]; ok {
			c.double[i], c.double[j] = j, i
		} else {
			c.first[col.name] = i
		}
	}
	return c
}

// choose returns the parts, or a message that says what cannot be found or is
// asked for twice.
func (c *chooser) choose() (choice, error) {
	got := choice{label: -1, text: -1, weight: -1}
	if c.opts.Text != "" && len(c.opts.Columns) > 0 {
		return got, fmt.Errorf("both Options.Text and Options.Columns are given; choose one")
	}
	var err error
	if c.opts.Text != "" {
		if got.text, err = c.find(c.opts.Text, "Options.Text"); err != nil {
			return got, err
		}
	}
	if c.opts.Weight != "" {
		if got.weight, err = c.find(c.opts.Weight, "Options.Weight"); err != nil {
			return got, err
		}
	}
	if got.label, err = c.chooseLabel(got); err != nil {
		return got, err
	}
	for _, twice := range [][2]int{{got.label, got.text}, {got.label, got.weight}, {got.text, got.weight}} {
		if twice[0] >= 0 && twice[0] == twice[1] {
			return got, fmt.Errorf("%s %q is asked for as two of label, text and weight; name another", c.noun, c.cols[twice[0]].name)
		}
	}
	switch {
	case len(c.opts.Columns) > 0:
		return c.namedNumbers(got)
	case got.text < 0:
		got.text = c.usual(textNames, func(i int) bool {
			return i != got.label && i != got.weight && (c.cols[i].holds == words || c.noun == "column" && !c.typed)
		})
	}
	if got.text >= 0 {
		return got, c.unique(got.text)
	}
	return c.foundNumbers(got)
}

// chooseLabel returns the label's column, -1 if it is missing and may be.
func (c *chooser) chooseLabel(got choice) (int, error) {
	if c.opts.Label != "" {
		i, err := c.find(c.opts.Label, "Options.Label")
		if err != nil && c.opts.Unlabelled && !c.occurs(c.opts.Label) {
			return -1, nil
		}
		return i, err
	}
	free := func(i int) bool {
		return i != got.text && i != got.weight && !slices.Contains(c.opts.Columns, c.cols[i].name)
	}
	i := c.usual(labelNames, func(i int) bool { return c.cols[i].holds < list && free(i) })
	if i < 0 { // an object may be data about the row: a plain label goes before
		i = c.usual(labelNames, func(i int) bool { return c.cols[i].holds == soft && free(i) })
	}
	if i < 0 && !c.opts.Unlabelled {
		return -1, fmt.Errorf("no label %s found: %s; name it with Options.Label", c.noun, c.all())
	}
	if i < 0 {
		return -1, nil
	}
	return i, c.unique(i)
}

// namedNumbers expands Options.Columns.
func (c *chooser) namedNumbers(got choice) (choice, error) {
	taken := make([]bool, len(c.cols))
	for _, pattern := range c.opts.Columns {
		matches, err := c.match(pattern, got)
		if err != nil {
			return got, err
		}
		for _, i := range matches {
			if err := c.unique(i); err != nil {
				return got, err
			}
			if !taken[i] {
				taken[i] = true
				got.numbers = append(got.numbers, i)
			}
		}
	}
	for _, i := range got.numbers {
		got.list = got.list || c.cols[i].holds == list
	}
	if got.list && len(got.numbers) > 1 {
		return got, fmt.Errorf("Options.Columns has %s, one with an array; name keys with numbers, or the one with the array", input.Plural(len(got.numbers), c.noun))
	}
	return got, nil
}

// match returns the columns that an entry of Options.Columns stands for: the
// one of that name, else those that fit it as a pattern, else the one of that
// name in another case.
func (c *chooser) match(pattern string, got choice) ([]int, error) {
	if i, ok := c.first[pattern]; ok {
		if i == got.label || i == got.weight {
			return nil, fmt.Errorf("%s %q is named in Options.Columns and is the label or the weight; leave it out of one", c.noun, pattern)
		}
		return []int{i}, nil
	}
	var found []int
	if strings.ContainsAny(pattern, `*?[\`) { // else comparing names is wasted
		for i, col := range c.cols {
			fits, err := path.Match(pattern, col.name)
			if err != nil {
				return nil, fmt.Errorf("Options.Columns %q is no pattern: want names with *, ? and [a-z]", pattern)
			}
			if fits && i != got.label && i != got.weight {
				found = append(found, i)
			}
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	i, err := c.find(pattern, "Options.Columns")
	return []int{i}, err
}

// foundNumbers takes every column that looks like a feature.
func (c *chooser) foundNumbers(got choice) (choice, error) {
	free := func(i int) bool { return i != got.label && i != got.weight }
	if i := c.usual(listNames, func(i int) bool { return free(i) && c.cols[i].holds == list }); i >= 0 {
		got.numbers, got.list = []int{i}, true
		return got, c.unique(i)
	}
	for i, col := range c.cols {
		switch {
		case !free(i):
		case isID(col.name) || col.holds != number:
			got.left = append(got.left, i)
		default:
			if err := c.unique(i); err != nil {
				return got, err
			}
			got.numbers = append(got.numbers, i)
		}
	}
	if len(got.numbers) == 0 {
		return got, fmt.Errorf("neither a text %s nor one with numbers found: %s; name the text with Options.Text, or numbers with Options.Columns", c.noun, c.all())
	}
	return got, nil
}

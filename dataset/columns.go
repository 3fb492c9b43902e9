package dataset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/internal/input"
)

// find returns the column of that name, exact or else but for case.
func (c *chooser) find(name, option string) (int, error) {
	found := -1
	for _, same := range []func(string) bool{
		func(s string) bool { return s == name },
		func(s string) bool { return strings.EqualFold(s, name) },
	} {
		for i, col := range c.cols {
			if same(col.name) && found >= 0 {
				return -1, fmt.Errorf("%s %q occurs twice, as %d and %d; rename one", c.noun, name, found+1, i+1)
			} else if same(col.name) {
				found = i
			}
		}
		if found >= 0 {
			return found, nil
		}
	}
	return -1, fmt.Errorf("no %s %q: %s; name one of them with %s", c.noun, name, c.all(), option)
}

func (c *chooser) occurs(name string) bool {
	return slices.ContainsFunc(c.cols, func(col column) bool { return strings.EqualFold(col.name, name) })
}

// usual returns the first of the usual names that a fitting column has, or -1.
func (c *chooser) usual(names string, fits func(i int) bool) int {
	for name := range strings.FieldsSeq(names) {
		for i, col := range c.cols {
			if strings.EqualFold(col.name, name) && fits(i) {
				return i
			}
		}
	}
	return -1
}

// unique refuses a column that shares its name with another.
func (c *chooser) unique(i int) error {
	if j, ok := c.double[i]; ok {
		return fmt.Errorf("%s %q occurs twice, as %d and %d; rename one", c.noun, c.cols[i].name, min(i, j)+1, max(i, j)+1)
	}
	return nil
}

// all lists the columns for a message, with the likely reason for a strange list.
func (c *chooser) all() string {
	const most = 20
	names := make([]string, 0, most)
	for _, col := range c.cols[:min(len(c.cols), most)] {
		names = append(names, input.Clip(col.name))
	}
	s := fmt.Sprintf("the %ss are %s", c.noun, strings.Join(names, ", "))
	if more := len(c.cols) - most; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	if c.noun != "column" || c.typed {
		return s
	}
	if len(c.cols) == 1 && strings.ContainsAny(c.cols[0].name, ",;\t|") {
		return s + " (is another separator in use? want commas in .csv, tabs in .tsv)"
	}
	if slices.ContainsFunc(c.cols, func(col column) bool {
		_, err := parseNumber([]byte(col.name))
		return err == nil || len(strings.Fields(col.name)) > 2 // a number or a sentence
	}) {
		return s + " (is the header missing? the first line must name the columns)"
	}
	return s
}

// between shortens a list of names for people: "a", or a..z.
func between(names []string) string {
	switch n := len(names); n {
	case 0:
		return ""
	case 1:
		return input.Clip(names[0])
	case 2:
		return names[0] + ", " + names[1]
	default:
		return names[0] + ".." + names[n-1]
	}
}

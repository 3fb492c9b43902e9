package report

import (
	"encoding/csv"
	"fmt"
	"io"
)

// mostRows is the number of rows that a chart can have: more make a picture
// that nobody can take in.
const mostRows = 200

// Chart shows numbers of named things, one row each, from top to bottom: the
// accuracy of methods, the gain of classes. It has at most 200 rows.
type Chart struct {
	Name    string // of its files, without ending: letters a to z, digits, - and _
	Title   string
	Caption string
	XLabel  string   // of the numbers
	Rows    []string // names; hostile ones are shown as they are
	Percent bool     // numbers are fractions, drawn as points
	Zero    bool     // show 0 and a line there
	Stems   bool     // draw a line from 0 to each number; implies Zero

	Series []Values
}

// Values is one number for each row of a Chart. A NaN is a row without one.
type Values struct {
	Name string
	X    []float64
	Low  []float64 // lower end of the interval, NaN for none; nil: none at all
	High []float64 // upper end; nil if Low is
	Look int       // colour and marker, 1 to 8; 0: by its place in the chart
}

func (c *Chart) about() about { return about{c.Name, c.Title, c.Caption} }

func (c *Chart) check() error {
	if err := c.about().check(); err != nil {
		return err
	}
	if n := len(c.Rows); n > mostRows {
		return fmt.Errorf("report: chart %s has %d rows, want at most %d; a table can show more", c.Name, n, mostRows)
	}
	seen := map[string]bool{}
	for _, s := range c.Series {
		if err := c.about().checkSeries(seen, s.Name, s.Look, s.Low, s.High, len(c.Rows), len(s.X)); err != nil {
			return err
		}
	}
	return nil
}

// WriteCSV writes the columns series, row, x, low and high.
func (c *Chart) WriteCSV(w io.Writer) error {
	if err := c.check(); err != nil {
		return err
	}
	out := csv.NewWriter(w)
	rows := [][]string{{"series", "row", "x", "low", "high"}}
	for _, s := range c.Series {
		for i, name := range c.Rows {
			rows = append(rows, []string{s.Name, name, cell(s.X[i]), cell(at(s.Low, i)), cell(at(s.High, i))})
		}
	}
	return out.WriteAll(rows)
}

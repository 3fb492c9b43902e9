package report

import (
	"encoding/csv"
	"fmt"
	"io"
)

// Figure shows curves over a number. The zero value but for Name and Title is an
// empty figure, which is drawn as such.
//
// A point with a NaN or an infinity, or with a number below or at 0 on a
// logarithmic axis, is left out, and the curve is broken there.
type Figure struct {
	Name    string // of its files, without ending: letters a to z, digits, - and _
	Title   string
	Caption string // what to see in it; below the figure on a page
	XLabel  string
	YLabel  string
	LogX    bool // ticks at powers of 2 if all X are such, else of 10
	LogY    bool
	Percent bool // Y are fractions, drawn as points: 0.25 as 25
	Zero    bool // the y axis shows 0; not with LogY
	Band    bool // draw intervals as bands, not as error bars

	Series  []Series
	Markers []Marker
}

// Series is one curve. X and Y are of one length, in the order in which they
// are joined.
type Series struct {
	Name string
	X, Y []float64
	Low  []float64 // lower end of the interval of each Y, NaN for none; nil: none at all
	High []float64 // upper end; nil if Low is
	Look int       // colour, marker and dashes, 1 to 8; 0: by its place in the figure
}

// Marker is one faint point beside the curves, such as a value that a paper
// gives.
type Marker struct {
	Series string // whose look it has; "": grey
	X, Y   float64
	Label  string // what it is, such as "paper"; equal labels share a line of the legend
}

func (f *Figure) about() about { return about{f.Name, f.Title, f.Caption} }

// check returns an error if the figure is none.
func (f *Figure) check() error {
	if err := f.about().check(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, s := range f.Series {
		if err := f.about().checkSeries(seen, s.Name, s.Look, s.Low, s.High, len(s.X), len(s.Y)); err != nil {
			return err
		}
	}
	for _, m := range f.Markers {
		if m.Series != "" && !seen[m.Series] {
			return fmt.Errorf("report: figure %s: a marker belongs to the series %q, which is not there", f.Name, m.Series)
		}
	}
	return nil
}

// WriteCSV writes the columns series, x, y, low, high and marker: the points of
// each series, then the markers, whose label is in the last column.
func (f *Figure) WriteCSV(w io.Writer) error {
	if err := f.check(); err != nil {
		return err
	}
	out := csv.NewWriter(w)
	rows := [][]string{{"series", "x", "y", "low", "high", "marker"}}
	for _, s := range f.Series {
		for i, x := range s.X {
			rows = append(rows, []string{s.Name, cell(x), cell(s.Y[i]), cell(at(s.Low, i)), cell(at(s.High, i)), ""})
		}
	}
	for _, m := range f.Markers {
		rows = append(rows, []string{m.Series, cell(m.X), cell(m.Y), "", "", m.Label})
	}
	return out.WriteAll(rows)
}

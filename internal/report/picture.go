package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// Picture is a Figure, a Chart or a Heat map: a closed set, as all of them are drawn by the
// scene of this package.
type Picture interface {
	// WriteCSV writes the numbers of the picture, one point a line, in full
	// precision. A NaN or an infinity is an empty cell. A picture that cannot be
	// drawn is an error before anything is written.
	WriteCSV(w io.Writer) error

	about() about
	check() error
	scene(own bool) (*scene, error) // with its title in the picture if own is true
}

// about is what a page needs to know of a picture.
type about struct{ Name, Title, Caption string }

// Series is one curve of a Figure, or one number for each row of a Chart.
type Series struct {
	Name string
	X    []float64 // of a Figure, in the order in which points are joined; nil in a Chart
	Y    []float64 // a NaN or an infinity is not drawn
	Low  []float64 // lower end of the interval of each Y, NaN for none; nil: none at all
	High []float64 // upper end; nil if Low is
	Look int       // colour, marker and dashes, 1 to 8; 0: by its place in the picture
}

// Add adds a point with its interval, NaN to NaN for none. x is not kept in a Chart's
// series, which have one number a row: see AddRow.
func (s *Series) Add(x, y, low, high float64) {
	s.X = append(s.X, x)
	s.AddRow(y, low, high)
}

// AddRow adds the number of the next row of a Chart with its interval.
func (s *Series) AddRow(y, low, high float64) {
	s.Y, s.Low, s.High = append(s.Y, y), append(s.Low, low), append(s.High, high)
}

// check says whether the picture has the names that it needs, and as many numbers in each
// series as there are places.
func (a about) check(list []Series, places func(Series) int) error {
	if err := checkName(a.Name); err != nil {
		return fmt.Errorf("report: picture %q: %w", a.Title, err)
	}
	if a.Title == "" {
		return fmt.Errorf("report: picture %s has no title", a.Name)
	}
	seen := map[string]bool{"": true}
	for _, s := range list {
		low, high, n := len(s.Low), len(s.High), places(s)
		switch {
		case seen[s.Name]:
			return fmt.Errorf("report: picture %s: a series is named %q, want a name of its own", a.Name, s.Name)
		case len(s.Y) != n || low != high || (s.Low == nil) != (s.High == nil) || s.Low != nil && low != n:
			return fmt.Errorf("report: picture %s: series %q has %d numbers, %d low and %d high for %d places, want as many of each, or no low and high",
				a.Name, s.Name, len(s.Y), low, high, n)
		case s.Look < 0 || s.Look > looks:
			return fmt.Errorf("report: picture %s: series %q has the look %d, want 0 to %d", a.Name, s.Name, s.Look, looks)
		}
		seen[s.Name] = true
	}
	return nil
}

// checkName says whether a name can be that of a file anywhere: on systems that do not tell
// A from a, in a URL without escapes, and never an option of a command.
func checkName(name string) error {
	if name == "" || len(name) > 80 {
		return fmt.Errorf("the name %q has %d characters, want 1 to 80", name, len(name))
	}
	for i, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || i > 0 && (c == '-' || c == '_')) {
			return fmt.Errorf("the name %q has a %q, want letters a to z, digits and, after the first, - and _", name, c)
		}
	}
	return nil
}

// drawn returns the series as they are drawn: each with a look, fractions as points,
// and for each number an interval, NaN where there is none.
func drawn(list []Series, percent bool) []Series {
	list = slices.Clone(list)
	for i := range list {
		s := &list[i]
		if s.Look == 0 {
			s.Look = i%looks + 1
		}
		n := len(s.Y)
		s.Y, s.Low, s.High = scaled(s.Y, n, percent), scaled(s.Low, n, percent), scaled(s.High, n, percent)
	}
	return list
}

// scaled returns n numbers, times 100 if they are fractions to be drawn as points; NaN where
// there are none.
func scaled(x []float64, n int, percent bool) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = at(x, i)
		if percent {
			out[i] *= 100
		}
	}
	return out
}

// writeCSV writes a picture that passes its check as a table, numbers by cells.
func writeCSV(w io.Writer, p Picture, heads []string, rows [][]string) error {
	if err := p.check(); err != nil {
		return err
	}
	return csv.NewWriter(w).WriteAll(slices.Insert(rows, 0, heads))
}

// cells writes numbers for a CSV file, with as many digits as it takes to read the same
// float64 again; "" for one that cannot be drawn.
func cells(numbers ...float64) (out []string) {
	for _, x := range numbers {
		text := ""
		if finite(x) {
			text = strconv.FormatFloat(x, 'g', -1, 64)
		}
		out = append(out, text)
	}
	return out
}

// finite tells whether x is a number that can be drawn.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// at returns x[i], NaN if there is none.
func at(x []float64, i int) float64 {
	if i >= len(x) {
		return math.NaN()
	}
	return x[i]
}

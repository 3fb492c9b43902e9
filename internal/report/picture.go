package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
)

// Picture is a Figure or a Chart.
type Picture interface {
	// WriteCSV writes the numbers of the picture, one point a line, in full
	// precision. A NaN or an infinity is an empty cell. A picture that cannot be
	// drawn is an error before anything is written.
	WriteCSV(w io.Writer) error

	about() about
	check() error
	scene(own bool) (*scene, error)
}

// about is what a page needs to know of a picture.
type about struct{ Name, Title, Caption string }

// check says whether the picture has the names that it needs.
func (a about) check() error {
	if err := checkName(a.Name); err != nil {
		return fmt.Errorf("report: picture %q: %w", a.Title, err)
	}
	if a.Title == "" {
		return fmt.Errorf("report: picture %s has no title", a.Name)
	}
	return nil
}

// checkSeries says whether the numbers of a series are n each, and its name is
// none of those seen, to which it is added.
func (a about) checkSeries(seen map[string]bool, name string, look int, low, high []float64, n, numbers int) error {
	switch {
	case name == "" || seen[name]:
		return fmt.Errorf("report: picture %s: a series is named %q, want a name of its own", a.Name, name)
	case numbers != n || low != nil && len(low) != n || high != nil && len(high) != n || (low == nil) != (high == nil):
		return fmt.Errorf("report: picture %s: series %q has %d numbers, %d low and %d high for %d places, want as many of each, or no low and high",
			a.Name, name, numbers, len(low), len(high), n)
	case look < 0 || look > looks:
		return fmt.Errorf("report: picture %s: series %q has the look %d, want 0 to %d", a.Name, name, look, looks)
	}
	seen[name] = true
	return nil
}

// checkName says whether a name can be that of a file anywhere.
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

// finite tells whether x is a number that can be drawn.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// cell writes a number for a CSV file.
func cell(x float64) string {
	if !finite(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// at returns x[i], NaN if there is none.
func at(x []float64, i int) float64 {
	if i >= len(x) {
		return math.NaN()
	}
	return x[i]
}

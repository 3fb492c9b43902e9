package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/treeloss/treeloss/internal/compare"
	"github.com/treeloss/treeloss/internal/input"
)

// table prints columns that line up, the first to the left, the others to the
// right.
type table struct {
	out  io.Writer
	rows [][]string
}

func newTable(out io.Writer, head ...string) *table { return &table{out: out, rows: [][]string{head}} }

func (t *table) row(cells ...string) {
	for i, cell := range cells {
		cells[i] = input.Escape(cell)
	}
	t.rows = append(t.rows, cells)
}

func (t *table) flush() {
	wide := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			wide[i] = max(wide[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			blank := strings.Repeat(" ", wide[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				line.WriteString(cell + blank)
			} else {
				line.WriteString("  " + blank + cell)
			}
		}
		fmt.Fprintln(t.out, strings.TrimRight(line.String(), " "))
	}
}

// points prints a fraction as points, 0..100.
func points(x float64) string { return compare.Points(x) }

// difference prints a difference of fractions with its standard error.
func difference(x, se float64) string {
	if math.IsNaN(se) {
		return fmt.Sprintf("%+.1f", 100*x)
	}
	return fmt.Sprintf("%+.1f ± %.1f", 100*x, 100*se)
}

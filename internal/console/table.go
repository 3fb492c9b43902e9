package console

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/treeloss/treeloss/internal/input"
)

// Table prints columns that line up, the first to the left, the others to the right.
type Table struct {
	out  io.Writer
	rows [][]string
}

// NewTable begins a table with the heads of its columns.
func NewTable(out io.Writer, head ...string) *Table { return &Table{out: out, rows: [][]string{head}} }

// Row adds a row of as many cells as there are columns. What would move the cursor is
// shown as an escape.
func (t *Table) Row(cells ...string) {
	for i, cell := range cells {
		cells[i] = input.Escape(cell)
	}
	t.rows = append(t.rows, cells)
}

// Flush prints the table. Widths are counted in code points, which are columns of a terminal
// but for East Asian letters, emoji and combining marks. Errors of out are not reported.
func (t *Table) Flush() {
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

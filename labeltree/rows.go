package labeltree

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// headers are the words that tell a header from a first row.
var headers = struct{ child, parent, path []string }{
	child:  []string{"label", "child", "class", "name", "node"},
	parent: []string{"parent"},
	path:   []string{"path"},
}

// isHeader returns the first cell that is one of the words, -1 if none is.
func isHeader(row []string, words []string) int {
	return slices.IndexFunc(row, func(cell string) bool { return slices.Contains(words, strings.ToLower(strings.TrimSpace(cell))) })
}

// rowsOrPaths tells rows of child,parent from paths on lines, by the first line
// that shows which they are.
func rowsOrPaths(data []byte) form {
	comma := separator(data)
	for first := true; len(data) > 0; first = false {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		row, err := newCSV(line, comma).Read()
		switch {
		case first && err == nil && isHeader(row, headers.path) >= 0:
			return formPaths
		case first && len(row) == 2 && isHeader(row[1:], headers.parent) >= 0:
			return formRows
		case bytes.Contains(line, []byte(" > ")):
			return formPaths
		case err != nil && !errors.Is(err, io.EOF), len(row) > 1:
			return formRows // a quoted cell may go on below
		case bytes.Contains(line, []byte("/")):
			return formPaths
		}
	}
	return formRows
}

// separator looks at the first line.
func separator(data []byte) rune {
	first, _, _ := bytes.Cut(data, []byte("\n"))
	if bytes.Contains(first, []byte("\t")) && !bytes.Contains(first, []byte(",")) {
		return '\t'
	}
	return ','
}

// newCSV reads rows of any width, whose slice is used again for the next row.
func newCSV(data []byte, comma rune) *csv.Reader {
	rows := csv.NewReader(bytes.NewReader(data))
	rows.FieldsPerRecord = -1
	rows.ReuseRecord = true
	rows.Comma = comma
	return rows
}

// eachRow calls row for each row of a CSV file, cells without outer spaces.
func (g *graph) eachRow(data []byte, name string, row func(cells []string, line int) error) error {
	rows := newCSV(data, separator(bytes.TrimLeft(data, "\r\n")))
	for {
		cells, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if bad, ok := errors.AsType[*csv.ParseError](err); ok {
			return g.place(bad.Line, "column %d: %v; a quote inside a quoted cell is written twice", bad.Column, bad.Err)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for i, cell := range cells {
			cells[i] = strings.TrimSpace(cell)
		}
		line, _ := rows.FieldPos(0)
		if err := row(cells, line); err != nil {
			return err
		}
	}
}

// readRows reads rows of child,parent, or paths.
func (g *graph) readRows(data []byte, name string, form form) error {
	if form == formPaths {
		return g.readPaths(data, name)
	}
	first := true
	err := g.eachRow(data, name, func(row []string, line int) error {
		if len(row) != 2 {
			return g.place(line, "row of %d cells, want two: child,parent (quote a name that holds a comma; paths such as animal/dog/husky go below a header path)", len(row))
		}
		e := edge{child: row[0], parent: row[1], line: line}
		header := first && isHeader(row[:1], headers.child) == 0 && isHeader(row[1:], headers.parent) == 0
		first = false
		switch {
		case header:
			return nil
		case e.child == "":
			return g.place(line, "the child of %q is empty; name it or remove the row", e.parent)
		case e.parent == "":
			return g.place(line, "the parent of %q is empty; name it, or remove the row if %q is the root", e.child, e.child)
		}
		return g.edge(e)
	})
	if err == nil && len(g.name) == 0 {
		return g.place(0, "%v", errNoRows)
	}
	return err
}

package labeltree

import (
	"bytes"
	"slices"
	"strings"
)

// pathSeparators are what may stand between the names of a path; the first
// that occurs in a file is the one in use.
var pathSeparators = []string{" > ", "/"}

// pathRow is a path and, from a column of its own, the label of its class.
type pathRow struct {
	path, label string
	line        int
}

// readPaths reads paths from a column of a table, or from lines.
func (g *graph) readPaths(data []byte, name string) error {
	rows, err := g.pathRows(data, name)
	if err != nil {
		return err
	}
	g.words = inPaths
	g.separator = pathSeparators[len(pathSeparators)-1]
	for _, separator := range pathSeparators {
		if slices.ContainsFunc(rows, func(r pathRow) bool { return strings.Contains(r.path, separator) }) {
			g.separator = separator
			break
		}
	}
	given := make(map[int]int) // node to the line of its own row
	for _, row := range rows {
		names, err := g.split(row)
		if err != nil {
			return err
		}
		v := -1
		for _, name := range names {
			v = g.child(v, name, row.line)
		}
		if line, twice := given[v]; twice {
			return g.place(row.line, "the path %q stands already on line %d; remove one", row.path, line)
		}
		given[v] = row.line
	}
	if len(g.name) == 0 {
		return g.place(0, "no paths, want one for each class, such as animal/dog/husky")
	}
	return nil
}

// pathRows reads the table, if the first line has a column path, else lines.
func (g *graph) pathRows(data []byte, name string) ([]pathRow, error) {
	first, _, _ := bytes.Cut(bytes.TrimLeft(data, " \t\r\n"), []byte("\n"))
	header, err := newCSV(first, separator(first)).Read()
	if err == nil {
		header = slices.Clone(header)
	}
	path, label := isHeader(header, headers.path), isHeader(header, headers.child)
	var rows []pathRow
	if path < 0 {
		for n, line := range strings.Split(string(data), "\n") {
			line = strings.TrimSpace(line)
			if line != "" && !(len(rows) == 0 && strings.HasPrefix(line, "# ")) {
				rows = append(rows, pathRow{path: line, line: n + 1})
			}
		}
		return rows, nil
	}
	heading := true
	return rows, g.eachRow(data, name, func(row []string, line int) error {
		switch {
		case heading:
			heading = false
			return nil
		case len(row) != len(header):
			return g.place(line, "row of %d cells, want %d as in the header; quote a path that holds a comma", len(row), len(header))
		}
		r := pathRow{path: strings.Clone(row[path]), line: line}
		if label >= 0 {
			if r.label = strings.Clone(row[label]); r.label == "" {
				return g.place(line, "the label of path %q is empty; name it or remove the row", r.path)
			}
		}
		rows = append(rows, r)
		return nil
	})
}

// split returns the names of a path, its class last.
func (g *graph) split(row pathRow) ([]string, error) {
	names := splitPath(row.path, g.separator)
	if slices.Contains(names, "") || len(names) == 0 {
		return nil, g.place(row.line, "path %q has an empty name; write each name between two separators", row.path)
	}
	if row.label != "" && row.label != row.path && row.label != names[len(names)-1] {
		names = append(names, row.label)
	}
	return names, nil
}

// splitPath takes a path apart. A separator before the first name, or after
// the last, means nothing.
func splitPath(path, separator string) []string {
	mark := strings.TrimSpace(separator)
	path = strings.TrimSpace(path)
	path = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(path, mark), mark))
	if path == "" {
		return nil
	}
	names := strings.Split(path, separator)
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}

// descend returns the node at the end of a whole path, -1 if there is none or
// the file has no paths.
func (g *graph) descend(path string) int {
	if g.separator == "" {
		return -1
	}
	v := -1
	for _, name := range splitPath(path, g.separator) {
		child, known := g.children[sibling{v, name}]
		if !known {
			return -1
		}
		v = child
	}
	return v
}

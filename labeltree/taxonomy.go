package labeltree

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// SyntaxError says what is wrong with a file of a tree, and where.
type SyntaxError struct {
	File    string
	Line    int // from 1; 0 if the file as a whole is meant
	Message string
}

// Error returns "file:line: message", or "file: message".
func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message)
}

// byteOrderMark starts UTF-8 files of some editors and spreadsheets.
const byteOrderMark = "\ufeff"

// headers are the words that tell a header from a first row.
var headers = [2][]string{
	{"label", "child", "class", "name", "node"},
	{"parent"},
}

// ReadTaxonomy reads a taxonomy over the labels, one row child,parent for each
// node but the roots, as CSV, or with tabs if the first line has no comma. A
// first row such as label,parent or child,parent is a header. Spaces around a
// cell, a byte-order mark and CRLF do no harm. name is the file's name, for
// errors.
//
// The tree has V form. A class may sit on an inner node: its leaf comes first
// among the children, and the inner node is called "dog (group)". Nodes
// without a class below are left out. A node with a single child is joined
// with it, under the upper name: both would share among the same classes. Above
// several roots comes one called "root". A name that is taken gets an
// underscore. Siblings come in the order in which the file first names them.
//
// A *SyntaxError that names the line, the node and a remedy comes of: a row
// without two cells, an empty cell, text that is not UTF-8, a node with two
// parents or its own ancestor, a row that stands twice, a label that does not
// occur. Labels must be distinct and not empty.
func ReadTaxonomy(r io.Reader, name string, labels []string) (*Tree, error) {
	place := func(line int, format string, args ...any) error {
		return &SyntaxError{File: name, Line: line, Message: fmt.Sprintf(format, args...)}
	}
	in := bufio.NewReaderSize(r, 1<<16)
	if mark, err := in.Peek(len(byteOrderMark)); err == nil && string(mark) == byteOrderMark {
		if _, err := in.Discard(len(byteOrderMark)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	rows := csv.NewReader(in)
	rows.FieldsPerRecord = -1
	rows.ReuseRecord = true
	rows.Comma = separator(in)
	var edges []edge
	for first := true; ; first = false {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if bad, ok := errors.AsType[*csv.ParseError](err); ok {
			return nil, place(bad.Line, "column %d: %v; a quote inside a quoted cell is written twice", bad.Column, bad.Err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := rows.FieldPos(0)
		if len(row) != 2 {
			return nil, place(line, "row of %d cells, want two: child,parent (quote a name that holds a comma)", len(row))
		}
		e := edge{child: strings.TrimSpace(row[0]), parent: strings.TrimSpace(row[1]), line: line}
		switch {
		case first && isHeader(e):
			continue
		case !utf8.ValidString(e.child) || !utf8.ValidString(e.parent):
			return nil, place(line, "row %q, %q is not UTF-8; convert the file", e.child, e.parent)
		case e.child == "":
			return nil, place(line, "the child of %q is empty; name it or remove the row", e.parent)
		case e.parent == "":
			return nil, place(line, "the parent of %q is empty; name it, or remove the row if %q is the root", e.child, e.child)
		}
		edges = append(edges, e)
	}
	return hierarchy(edges, labels, place)
}

func isHeader(e edge) bool {
	return slices.Contains(headers[0], strings.ToLower(e.child)) && slices.Contains(headers[1], strings.ToLower(e.parent))
}

// separator looks ahead at the first line.
func separator(in *bufio.Reader) rune {
	ahead, _ := in.Peek(4096) // less is no error here: the file may be short
	first, _, _ := strings.Cut(string(ahead), "\n")
	if strings.Contains(first, "\t") && !strings.Contains(first, ",") {
		return '\t'
	}
	return ','
}

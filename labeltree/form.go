package labeltree

import (
	"bytes"
	"strings"
)

// form is how a file holds a tree.
type form int

// The forms, told apart by formOf.
const (
	formRows form = iota // child,parent
	formPaths
	formJSON
	formNewick
	formDrawing // SVG, DOT or drawn with ├──, which are for people
)

// formOf tells the form of a file by its first lines.
func formOf(data []byte) form {
	start := bytes.TrimLeft(data, " \t\r\n")
	for bytes.HasPrefix(start, []byte("#")) { // a comment in front of paths
		_, rest, _ := bytes.Cut(start, []byte("\n"))
		start = bytes.TrimLeft(rest, " \t\r\n")
	}
	first, rest, _ := bytes.Cut(start, []byte("\n"))
	first = bytes.TrimSpace(first)
	begins := func(prefix string) bool { return bytes.HasPrefix(start, []byte(prefix)) }
	switch {
	case begins("{"), begins("[") && strings.ContainsRune(`{["]`, nextRune(start[1:])):
		return formJSON
	case begins("<svg"), begins("<?xml"), begins("digraph") && bytes.Contains(first, []byte("{")),
		bytes.HasPrefix(rest, []byte("├── ")), bytes.HasPrefix(rest, []byte("└── ")):
		return formDrawing
	case isNewick(first, rest):
		return formNewick
	}
	return rowsOrPaths(start)
}

// nextRune returns the first byte that is no space, 0 at the end.
func nextRune(data []byte) rune {
	data = bytes.TrimLeft(data, " \t\r\n")
	if len(data) == 0 {
		return 0
	}
	return rune(data[0])
}

// isNewick tells a tree from rows whose first name begins with a parenthesis
// or a quote. A Newick tree ends with a semicolon; one that was cut off has
// parentheses that do not close, or nothing behind them.
func isNewick(first, rest []byte) bool {
	last := bytes.TrimSpace(rest)
	if len(last) == 0 {
		last = first
	}
	ends := bytes.HasSuffix(last, []byte(";"))
	switch nextRune(first) {
	case '(':
		return ends || bytes.HasSuffix(first, []byte(")")) || bytes.Count(first, []byte("(")) != bytes.Count(first, []byte(")")) || bytes.ContainsAny(first, ";:[")
	case '[', '\'':
		return ends
	}
	return ends && len(bytes.TrimSpace(rest)) == 0 && !bytes.ContainsAny(first, ",\t/")
}

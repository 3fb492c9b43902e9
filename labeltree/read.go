package labeltree

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/treeloss/treeloss/internal/input"
)

// maxFile is the most bytes of a tree file that are read: room for some ten
// million nodes, and an end to a stream that has none.
const maxFile = 1 << 30

// SyntaxError says what is wrong with a file of a tree, and where.
type SyntaxError = input.Error

// Read reads a tree that says itself which of its nodes are classes: a file of
// WriteJSON or WriteNewick, or Newick of another program, where the leaves are the
// classes, in order. It tells them apart by how the file begins; the file may be
// packed. name is its name, for errors; what does not parse is a *SyntaxError. For
// taxonomies in other forms, and to read a tree over given classes, see
// ReadTaxonomy.
//
// In Newick, comments are skipped but for [&class=n] behind a name. Inner nodes
// without a name become pseudo1, pseudo2, .... Names may stand in single or double
// quotes. An underscore in a name is an underscore, as in labels of classes, not the
// space that some programs take it for. A missing length of the root is 0; others
// must all be there, or none.
func Read(r io.Reader, name string) (*Tree, error) {
	data, err := readAll(r, name)
	if err != nil {
		return nil, err
	}
	switch formOf(data) {
	case formJSON:
		return readMarked(data, name, scanJSON)
	case formNewick:
		return readMarked(data, name, scanNewick)
	case formDrawing:
		return nil, refuseDrawing(name)
	}
	start := bytes.TrimLeft(data, " \t\r\n")
	return nil, input.Refuse(name, 1, 0, "starts with %q, want a tree as JSON ({) or Newick ((); a taxonomy CSV is read together with the class names", start[:min(len(start), 20)])
}

// refuseDrawing is for what WriteSVG, WriteDOT and WriteText write.
func refuseDrawing(name string) error {
	return input.Refuse(name, 1, 0, "a drawing of a tree (SVG, DOT or text), which is written for people; give the tree as .json or .nwk, or as rows child,parent")
}

// readAll reads a whole file.
func readAll(r io.Reader, name string) ([]byte, error) {
	return input.ReadAll(r, name, maxFile, input.Options{Want: "a tree", Forms: "JSON, Newick, rows child,parent or paths"})
}

// lineOf returns the line, from 1, of a place in the data.
func lineOf(data []byte, at int) int {
	return 1 + bytes.Count(data[:min(max(at, 0), len(data))], []byte("\n"))
}

// scanner walks through a Newick file.
type scanner struct {
	data []byte
	name string
	at   int

	counted, lines int // line breaks up to a place, for line
}

// line returns the line of the present place, counting on from the last call.
func (s *scanner) line() int {
	s.lines += bytes.Count(s.data[s.counted:s.at], []byte("\n"))
	s.counted = s.at
	return s.lines + 1
}

// fail makes an error of the present place.
func (s *scanner) fail(format string, args ...any) error {
	return s.failAt(s.at, format, args...)
}

// failAt is fail for another place.
func (s *scanner) failAt(at int, format string, args ...any) error {
	column := at - (bytes.LastIndexByte(s.data[:at], '\n') + 1)
	return input.Refuse(s.name, lineOf(s.data, at), column+1, format, args...)
}

// peek returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.at < len(s.data) {
		return s.data[s.at]
	}
	return 0
}

// found describes what stands at the present place.
func (s *scanner) found() string {
	if s.at >= len(s.data) {
		return "the end of the file"
	}
	r, _ := utf8.DecodeRune(s.data[s.at:])
	return fmt.Sprintf("%q", r)
}

// isSpace tells whether c is white space between the parts of a file.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// readMarked scans a file that says itself which nodes are classes and makes its tree.
func readMarked(data []byte, name string, scan func(data []byte, name string) (parts, error)) (*Tree, error) {
	p, err := scan(data, name)
	if err != nil {
		return nil, err
	}
	return p.complete(name)
}

// complete makes the tree of a file, which another program may have written. Where no
// node has a class, the leaves are the classes, in order. Inner nodes without a name
// become pseudo1, pseudo2, ..., and one whose name is taken gets an underscore.
func (p *parts) complete(name string) (*Tree, error) {
	order, err := preorder(p.parent, p.called)
	if err != nil {
		return nil, input.At(name, 0, err)
	}
	if !slices.ContainsFunc(p.class, func(c int) bool { return c >= 0 }) {
		leaf, classes := p.leaves(), 0
		for _, v := range order {
			if leaf[v] {
				p.class[v] = classes
				classes++
			}
		}
	}
	taken := make(names, len(order))
	for v, label := range p.name {
		if p.class[v] >= 0 {
			taken[label] = 0
		}
	}
	for _, v := range order {
		if p.class[v] < 0 && p.name[v] != "" {
			p.name[v] = taken.free(p.name[v])
		}
	}
	t, err := p.assemble(taken)
	if err != nil {
		return nil, input.At(name, 0, err)
	}
	return t, nil
}

package labeltree

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// maxFile is the most bytes of a tree file that are read: room for some ten
// million nodes, and an end to a stream that has none.
const maxFile = 1 << 30

// Read reads a tree that says itself which of its nodes are classes: any file
// that WriteJSON, WriteDOT, WriteNewick, WriteText or WriteSVG wrote, and DOT
// and Newick of other programs, where the leaves are the classes. It tells them
// apart by how the file begins. name is the file's name, for errors; what does
// not parse is a *SyntaxError. For taxonomies in other forms, and to read a
// tree over given classes, see ReadTaxonomy.
func Read(r io.Reader, name string) (*Tree, error) {
	data, err := readAll(r, name)
	if err != nil {
		return nil, err
	}
	switch formOf(data) {
	case formJSON:
		return parseJSON(data, name)
	case formDOT:
		return parseDOT(data, name)
	case formNewick:
		return parseNewick(data, name)
	case formText:
		return parseText(data, name)
	case formSVG:
		return parseSVG(data, name)
	}
	start := bytes.TrimLeft(data, " \t\r\n")
	return nil, &SyntaxError{File: name, Line: 1, Message: fmt.Sprintf(
		"starts with %q, want a tree as JSON ({), DOT (digraph), Newick ((), SVG (<svg) or drawn with ├──; a taxonomy CSV is read together with the class names", start[:min(len(start), 20)])}
}

// readAll reads a whole file, without its byte-order mark, and refuses what is
// not UTF-8, which no reader could give back as it was.
func readAll(r io.Reader, name string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > maxFile {
		return nil, &SyntaxError{File: name, Message: fmt.Sprintf("more than %d bytes, too long for a tree", maxFile)}
	}
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	if !utf8.Valid(data) {
		at := 0
		for {
			r, size := utf8.DecodeRune(data[at:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			at += size
		}
		return nil, &SyntaxError{File: name, Line: lineOf(data, at), Message: "text is not UTF-8; convert the file"}
	}
	return data, nil
}

// lineOf returns the line, from 1, of a place in the data.
func lineOf(data []byte, at int) int {
	return 1 + bytes.Count(data[:min(max(at, 0), len(data))], []byte("\n"))
}

// scanner walks through a DOT or Newick file.
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

func (s *scanner) failAt(at int, format string, args ...any) error {
	column := at - (bytes.LastIndexByte(s.data[:at], '\n') + 1)
	return &SyntaxError{File: s.name, Line: lineOf(s.data, at), Message: fmt.Sprintf("column %d: ", column+1) + fmt.Sprintf(format, args...)}
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

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// finish completes a tree that came from a DOT or Newick file, which another
// program may have written. Where no node has a class, the leaves are the
// classes, in order. Inner nodes without a name become pseudo1, pseudo2, ...,
// and one whose name is taken gets an underscore. length[v] < 0 says that node
// v came without one.
func finish(p parts, name string) (*Tree, error) {
	fail := func(err error) (*Tree, error) {
		return nil, &SyntaxError{File: name, Message: err.Error()}
	}
	order, err := preorder(p.parent)
	if err != nil {
		return fail(p.explain(err))
	}
	inner := make([]bool, len(p.parent))
	classes := 0
	for v, up := range p.parent {
		if up >= 0 {
			inner[up] = true
		}
		if p.class[v] >= 0 {
			classes++
		}
	}
	if classes == 0 {
		for _, v := range order {
			if !inner[v] {
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
	if err := namePseudoclasses(&p, taken); err != nil {
		return fail(err)
	}
	if err := p.settleLengths(); err != nil {
		return fail(err)
	}
	t, err := assemble(p)
	if err != nil {
		return fail(err)
	}
	return t, nil
}

// settleLengths makes nil of lengths that nobody gave, and refuses some without
// the others.
func (p *parts) settleLengths() error {
	if !slices.ContainsFunc(p.length, func(x float64) bool { return x >= 0 }) {
		p.length = nil
	}
	for v, x := range p.length {
		switch {
		case x >= 0:
		case p.parent[v] < 0:
			p.length[v] = 0 // other programs have no edge above the root
		default:
			return fmt.Errorf("node %q has no length but others have; give all or none", p.name[v])
		}
	}
	return nil
}

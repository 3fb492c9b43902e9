package labeltree

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"
)

// maxFile is the most bytes of a tree file that are read: room for some ten
// million nodes, and an end to a stream that has none.
const maxFile = 1 << 30

// Read reads a tree in any of the three forms that can hold one: JSON, DOT or
// Newick, told apart by how the file begins. name is the file's name, for
// errors; what does not parse is a *SyntaxError.
func Read(r io.Reader, name string) (*Tree, error) {
	data, err := readAll(r, name)
	if err != nil {
		return nil, err
	}
	start := bytes.TrimLeft(data, " \t\r\n")
	switch {
	case bytes.HasPrefix(start, []byte("{")):
		return parseJSON(data, name)
	case hasWord(start, "digraph"), hasWord(start, "strict"), hasWord(start, "graph"), bytes.HasPrefix(start, []byte("/")), bytes.HasPrefix(start, []byte("#")):
		return parseDOT(data, name)
	case bytes.HasPrefix(start, []byte("(")), bytes.HasPrefix(start, []byte("'")), bytes.HasPrefix(start, []byte("[")), bytes.HasSuffix(bytes.TrimRight(data, " \t\r\n"), []byte(";")):
		return parseNewick(data, name)
	}
	return nil, &SyntaxError{File: name, Line: 1, Message: fmt.Sprintf(
		"starts with %q, want a tree as JSON ({), DOT (digraph) or Newick ((); a taxonomy CSV is read together with the class names", start[:min(len(start), 20)])}
}

// hasWord tells whether data starts with the word and then something else.
func hasWord(data []byte, word string) bool {
	if len(data) < len(word) || !bytes.EqualFold(data[:len(word)], []byte(word)) {
		return false
	}
	return len(data) == len(word) || !isIDByte(data[len(word)])
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
	classes, lengths := 0, 0
	for v, up := range p.parent {
		if up >= 0 {
			inner[up] = true
		}
		if p.class[v] >= 0 {
			classes++
		}
		if p.length[v] >= 0 {
			lengths++
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
			taken[label] = true
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
	if lengths == 0 {
		p.length = nil
	}
	for v, x := range p.length {
		switch {
		case x >= 0:
		case p.parent[v] < 0:
			p.length[v] = 0 // other programs have no edge above the root
		default:
			return fail(fmt.Errorf("node %q has no length but others have; give all or none", p.name[v]))
		}
	}
	t, err := assemble(p)
	if err != nil {
		return fail(err)
	}
	return t, nil
}

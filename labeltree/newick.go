package labeltree

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"strconv"
	"strings"
)

// WriteNewick writes the tree in Newick form on one line, which programs for
// phylogenetic trees draw:
//
//	('bear'[&class=2],('truck'[&class=0],'bus'[&class=1])'pseudo2')'pseudo1';
//
// Names are always quoted, a quote in one doubled. The length of a weighted
// tree's node follows a colon. The comment [&class=n] tells which class sits on
// a node; other programs skip it. Read gives back the same tree.
func (t *Tree) WriteNewick(w io.Writer) error {
	out := bufio.NewWriter(w)
	label := func(v int) {
		out.WriteString("'" + strings.ReplaceAll(t.name[v], "'", "''") + "'")
		if t.length != nil {
			out.WriteString(":" + formatLength(t.length[v]))
		}
		if c := t.class[v]; c >= 0 {
			out.WriteString("[&class=" + strconv.Itoa(c) + "]")
		}
	}
	// Nodes come in preorder, but Newick writes a node behind its children: an inner one is
	// kept open until the next node is none below it.
	var open []int
	for v := range t.Len() + 1 {
		for len(open) > 0 && v == t.end[open[len(open)-1]] {
			out.WriteString(")")
			label(open[len(open)-1])
			open = open[:len(open)-1]
		}
		if v == t.Len() {
			break
		}
		if v > 0 && v != t.parent[v]+1 {
			out.WriteString(",")
		}
		if t.IsLeaf(v) {
			label(v)
			continue
		}
		out.WriteString("(")
		open = append(open, v)
	}
	out.WriteString(";\n")
	return out.Flush()
}

// newick reads with a stack of its own, so that no depth of nesting hurts.
type newick struct {
	scanner
	parts
	open []int // inner nodes whose closing parenthesis is still to come
}

// scanNewick reads the nodes of one tree, parents before children:
//
//	tree = node ";"    node = [ "(" node { "," node } ")" ] [ name ] [ ":" length ]
//
// with spaces and comments anywhere between these.
func scanNewick(data []byte, name string) (parts, error) {
	s := &newick{scanner: scanner{data: data, name: name}}
	for {
		// Here a node begins.
		if err := s.space(-1); err != nil {
			return parts{}, err
		}
		parent := -1
		if len(s.open) > 0 {
			parent = s.open[len(s.open)-1]
		}
		v := s.add(parent, -1, "", s.scanner.line())
		if s.peek() == '(' {
			s.at++
			s.open = append(s.open, v)
			continue
		}
		start := s.at
		if err := s.describe(v); err != nil {
			return parts{}, err
		}
		if s.parts.name[v] == "" {
			return parts{}, s.failAt(start, "a leaf without a name; want a name, or ( for an inner node")
		}
		for s.peek() == ')' && len(s.open) > 0 {
			s.at++
			v := s.open[len(s.open)-1]
			s.open = s.open[:len(s.open)-1]
			if err := s.describe(v); err != nil {
				return parts{}, err
			}
		}
		if s.peek() == ',' && len(s.open) > 0 {
			s.at++
			continue
		}
		break
	}
	if len(s.open) > 0 {
		return parts{}, s.fail("found %s, want , or ) with %d ( still open", s.found(), len(s.open))
	}
	if s.peek() != ';' {
		return parts{}, s.fail("found %s, want ; at the end of the tree", s.found())
	}
	s.at++
	if err := s.space(-1); err != nil {
		return parts{}, err
	}
	if s.at < len(data) {
		return parts{}, s.fail("found %s after the end of the tree, want one tree a file", s.found())
	}
	return s.parts, nil
}

// describe reads what may follow a node: name, length and comments.
func (s *newick) describe(v int) error {
	if err := s.space(v); err != nil {
		return err
	}
	label, err := s.label()
	if err != nil {
		return err
	}
	s.parts.name[v] = label
	if err := s.space(v); err != nil {
		return err
	}
	if s.peek() != ':' {
		return nil
	}
	s.at++
	if err := s.space(v); err != nil {
		return err
	}
	start := s.at
	number := s.word()
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || !(x >= 0) || x > math.MaxFloat64 {
		return s.failAt(start, "length %q, want a finite number, 0 or more", number)
	}
	s.length[v] = x
	return s.space(v)
}

// space skips spaces and comments; a class in a comment goes to node v, if that
// is not -1.
func (s *newick) space(v int) error {
	for s.at < len(s.data) {
		switch c := s.data[s.at]; {
		case isSpace(c):
			s.at++
		case c == '[':
			size := bytes.IndexByte(s.data[s.at:], ']')
			if size < 0 {
				return s.fail("a comment without its ]")
			}
			text := string(s.data[s.at+1 : s.at+size])
			if number, ours := strings.CutPrefix(text, "&class="); ours && v >= 0 {
				class, err := strconv.Atoi(number)
				if err != nil || class < 0 {
					return s.fail("class %q, want a number from 0", number)
				}
				s.class[v] = class
			}
			s.at += size + 1
		default:
			return nil
		}
	}
	return nil
}

// label reads a name, quoted or not; "" if there is none.
func (s *newick) label() (string, error) {
	quote := s.peek()
	if quote != '\'' && quote != '"' {
		return s.word(), nil
	}
	var label strings.Builder
	for at := s.at + 1; at < len(s.data); at++ {
		c := s.data[at]
		if c == quote {
			if at+1 == len(s.data) || s.data[at+1] != quote {
				s.at = at + 1
				return label.String(), nil
			}
			at++
		}
		label.WriteByte(c)
	}
	return "", s.fail("a name without its closing quote")
}

// word reads up to the next character that means something in Newick.
func (s *newick) word() string {
	start := s.at
	for s.at < len(s.data) && !isSpace(s.data[s.at]) && !strings.ContainsRune("()[]:;,'\"", rune(s.data[s.at])) {
		s.at++
	}
	return string(s.data[start:s.at])
}

package labeltree

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// maxLength is the largest length there can be.
const maxLength = math.MaxFloat64

var (
	escapeDOT   = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`)
	unescapeDOT = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", `\r`, "\r")
)

// WriteDOT writes the tree as a Graphviz digraph, to be drawn by `dot -Tsvg`,
// pseudoclasses in dashed ellipses:
//
//	digraph "treeloss-tree" {
//	  rankdir=LR;
//	  node [shape=box];
//	  n0 [label="pseudo1", shape=ellipse, style=dashed];
//	  n1 [label="truck", class="0"];
//	  n0 -> n1;
//	}
//
// class is the number of the class that sits on a node; length stands on the
// nodes of a weighted tree. Graphviz does not mind either. ReadDOT gives back
// the same tree.
func (t *Tree) WriteDOT(w io.Writer) error {
	out := bufio.NewWriter(w)
	out.WriteString("digraph \"" + jsonFormat + "\" {\n  rankdir=LR;\n  node [shape=box];\n")
	for v, name := range t.name {
		fmt.Fprintf(out, "  n%d [label=\"%s\"", v, escapeDOT.Replace(name))
		if c := t.class[v]; c >= 0 {
			fmt.Fprintf(out, ", class=\"%d\"", c)
		} else {
			out.WriteString(", shape=ellipse, style=dashed")
		}
		if t.length != nil {
			out.WriteString(", length=\"" + formatLength(t.length[v]) + "\"")
		}
		out.WriteString("];\n")
		if up := t.parent[v]; up >= 0 {
			fmt.Fprintf(out, "  n%d -> n%d;\n", up, v)
		}
	}
	out.WriteString("}\n")
	return out.Flush()
}

// ReadDOT reads a tree from a Graphviz digraph of plain statements: nodes,
// edges and attributes, of which label, class and length count, as WriteDOT
// writes them; subgraphs, ports and HTML labels are refused. A node without a
// label has its identifier as name. Where no node has a class, the leaves are
// the classes, in preorder. name is the file's name, for errors, which are
// *SyntaxError.
func ReadDOT(r io.Reader, name string) (*Tree, error) {
	data, err := readAll(r, name)
	if err != nil {
		return nil, err
	}
	return parseDOT(data, name)
}

// dot reads statement after statement; nodes are numbered as they come up.
type dot struct {
	scanner
	parts
	node map[string]int
}

func parseDOT(data []byte, name string) (*Tree, error) {
	p, err := scanDOT(data, name)
	if err != nil {
		return nil, err
	}
	return finish(p, name)
}

func scanDOT(data []byte, name string) (parts, error) {
	s := &dot{scanner: scanner{data: data, name: name}, node: make(map[string]int)}
	if err := s.header(); err != nil {
		return parts{}, err
	}
	for {
		if err := s.space(); err != nil {
			return parts{}, err
		}
		switch s.peek() {
		case ';':
			s.at++
			continue
		case '}':
			s.at++
			if err := s.space(); err != nil {
				return parts{}, err
			}
			if s.at < len(data) {
				return parts{}, s.fail("found %s after the closing }, want one graph a file", s.found())
			}
			return s.parts, nil
		}
		if err := s.statement(); err != nil {
			return parts{}, err
		}
	}
}

// header reads `strict digraph name {`.
func (s *dot) header() error {
	if err := s.space(); err != nil {
		return err
	}
	start := s.at
	word, _, err := s.id()
	if err == nil && strings.EqualFold(word, "strict") {
		start = s.at
		word, _, err = s.id()
	}
	if err != nil {
		return err
	}
	if !strings.EqualFold(word, "digraph") {
		return s.failAt(start, "found %q, want digraph: the edges of a tree point from parent to child", word)
	}
	if err := s.space(); err != nil {
		return err
	}
	if s.peek() != '{' {
		if _, _, err := s.id(); err != nil {
			return err
		}
		if err := s.space(); err != nil {
			return err
		}
	}
	if s.peek() != '{' {
		return s.fail("found %s, want {", s.found())
	}
	s.at++
	return nil
}

// statement reads a node, an edge or chain of edges, or an attribute.
func (s *dot) statement() error {
	word, quoted, err := s.id()
	if err != nil {
		return err
	}
	if err := s.space(); err != nil {
		return err
	}
	if s.peek() == '=' { // an attribute of the graph
		s.at++
		_, _, err := s.id()
		return err
	}
	if !quoted {
		switch strings.ToLower(word) {
		case "node", "edge", "graph":
			_, err := s.attributes()
			return err
		case "subgraph":
			return s.fail("a subgraph; want nodes and edges only")
		}
	}
	v := s.declare(word)
	edges := false
	for bytes.HasPrefix(s.data[s.at:], []byte("->")) {
		edges = true
		s.at += 2
		if err := s.space(); err != nil {
			return err
		}
		start := s.at
		word, _, err := s.id()
		if err != nil {
			return err
		}
		child := s.declare(word)
		if up := s.parent[child]; up >= 0 {
			return s.failAt(start, "node %q has two parents, %q and %q; keep one", s.parts.name[child], s.parts.name[up], s.parts.name[v])
		}
		s.parent[child], s.parts.line[child] = v, s.scanner.line()
		v = child
		if err := s.space(); err != nil {
			return err
		}
	}
	attributes, err := s.attributes()
	if err != nil || edges {
		return err
	}
	for _, a := range attributes {
		switch a.key {
		case "label":
			s.parts.name[v] = unescapeDOT.Replace(a.value)
		case "class":
			class, err := strconv.Atoi(a.value)
			if err != nil || class < 0 {
				return s.failAt(a.at, "class %q, want a number from 0", a.value)
			}
			s.class[v] = class
		case "length":
			x, err := strconv.ParseFloat(a.value, 64)
			if err != nil || !(x >= 0) || x > maxLength {
				return s.failAt(a.at, "length %q, want a finite number, 0 or more", a.value)
			}
			s.length[v] = x
		}
	}
	return nil
}

func (s *dot) declare(id string) int {
	v, known := s.node[id]
	if !known {
		v = s.add(-1, -1, unescapeDOT.Replace(id))
		s.length, s.parts.line = append(s.length, -1), append(s.parts.line, s.scanner.line())
		s.node[id] = v
	}
	return v
}

type attribute struct {
	key, value string
	at         int
}

// attributes reads any number of lists [key=value, key=value; ...].
func (s *dot) attributes() ([]attribute, error) {
	var list []attribute
	for {
		if err := s.space(); err != nil {
			return nil, err
		}
		if s.peek() != '[' {
			return list, nil
		}
		s.at++
		for {
			if err := s.space(); err != nil {
				return nil, err
			}
			if c := s.peek(); c == ',' || c == ';' {
				s.at++
				continue
			}
			if s.peek() == ']' {
				s.at++
				break
			}
			a := attribute{at: s.at}
			var err error
			if a.key, _, err = s.id(); err != nil {
				return nil, err
			}
			if err := s.space(); err != nil {
				return nil, err
			}
			if s.peek() != '=' {
				return nil, s.fail("found %s after attribute %q, want =", s.found(), a.key)
			}
			s.at++
			if a.value, _, err = s.id(); err != nil {
				return nil, err
			}
			list = append(list, a)
		}
	}
}

// id reads an identifier, a number or a quoted string; of a string it gives
// what stands between the quotes, escapes and all.
func (s *dot) id() (text string, quoted bool, err error) {
	if err := s.space(); err != nil {
		return "", false, err
	}
	if s.peek() == '"' {
		for at := s.at + 1; at < len(s.data); at++ {
			switch s.data[at] {
			case '\\':
				at++
			case '"':
				text := string(s.data[s.at+1 : at])
				s.at = at + 1
				return text, true, nil
			}
		}
		return "", false, s.fail("a string without its closing quote")
	}
	start := s.at
	if s.peek() == '-' && s.at+1 < len(s.data) && s.data[s.at+1] != '>' { // a negative number
		s.at++
	}
	begin := s.at
	for s.at < len(s.data) && isIDByte(s.data[s.at]) {
		s.at++
	}
	if s.at == begin {
		return "", false, s.fail("found %s, want a name, a number or a quoted string", s.found())
	}
	return string(s.data[start:s.at]), false, nil
}

// isIDByte tells what may stand in a name without quotes: letters, digits, the
// underscore, any byte beyond ASCII, and the point of a number.
func isIDByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c >= 0x80
}

// space skips spaces and the three kinds of comment.
func (s *dot) space() error {
	for s.at < len(s.data) {
		rest := s.data[s.at:]
		switch {
		case isSpace(rest[0]):
			s.at++
		case rest[0] == '#', bytes.HasPrefix(rest, []byte("//")):
			end := bytes.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			s.at += end
		case bytes.HasPrefix(rest, []byte("/*")):
			end := bytes.Index(rest, []byte("*/"))
			if end < 0 {
				return s.fail("a comment without its */")
			}
			s.at += end + 2
		default:
			return nil
		}
	}
	return nil
}

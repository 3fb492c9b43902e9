package labeltree

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// escapeDOT is for texts within double quotes.
var escapeDOT = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`)

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
// nodes of a weighted tree. Graphviz does not mind either.
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

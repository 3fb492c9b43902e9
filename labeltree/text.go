package labeltree

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// TextOptions sets up WriteText. The zero value draws the whole tree.
type TextOptions struct {
	MaxDepth    int  // levels below the root to draw; 0 means all
	MaxChildren int  // children of a node to draw; 0 means all
	Lengths     bool // write the length behind each name, to 4 significant digits
}

// WriteText draws the tree with one node on a line, pseudoclasses in
// parentheses:
//
//	(pseudo1)
//	├── (pseudo2)
//	│   ├── truck
//	│   └── bus
//	└── toaster
//
// What the options leave out is counted: "… 240 more". A name is quoted, as in
// Go, if it has unprintable characters or outer spaces, or if that of a class has
// parentheses around it.
func (t *Tree) WriteText(w io.Writer, opts TextOptions) error {
	out := bufio.NewWriter(w)
	var prefix []byte // the lines that run down beside a node
	var draw func(v, depth int)
	draw = func(v, depth int) {
		out.WriteString(t.line(v, opts))
		children := t.Children(v)
		if opts.MaxDepth > 0 && depth == opts.MaxDepth && len(children) > 0 {
			classes := len(t.ClassesBelow(v))
			if t.class[v] >= 0 {
				classes-- // its own is drawn
			}
			out.WriteString(" … " + plural(classes, "class", "classes") + "\n")
			return
		}
		out.WriteString("\n")
		for n, c := range children {
			branch, beside := "├── ", "│   "
			folded := opts.MaxChildren > 0 && n == opts.MaxChildren
			if folded || n == len(children)-1 {
				branch, beside = "└── ", "    "
			}
			out.Write(prefix)
			out.WriteString(branch)
			if folded {
				out.WriteString(t.folded(children[n:]) + "\n")
				return
			}
			above := len(prefix)
			prefix = append(prefix, beside...)
			draw(c, depth+1)
			prefix = prefix[:above]
		}
	}
	draw(0, 0)
	return out.Flush()
}

// line returns the name of node v as drawn.
func (t *Tree) line(v int, opts TextOptions) string {
	name, class := t.name[v], t.class[v] >= 0
	unprintable := func(r rune) bool { return !strconv.IsPrint(r) }
	if strings.ContainsFunc(name, unprintable) || strings.TrimSpace(name) != name || class && strings.HasPrefix(name, "(") && strings.HasSuffix(name, ")") {
		name = strconv.Quote(name)
	}
	if !class {
		name = "(" + name + ")"
	}
	if opts.Lengths {
		name += fmt.Sprintf(" %.4g", t.Length(v))
	}
	return name
}

// folded says what is left out with these siblings.
func (t *Tree) folded(siblings []int) string {
	classes := 0
	for _, v := range siblings {
		classes += len(t.ClassesBelow(v))
	}
	text := fmt.Sprintf("… %d more", len(siblings))
	if classes != len(siblings) {
		text += " (" + plural(classes, "class", "classes") + ")"
	}
	return text
}

// plural writes a number with the word for one or for several.
func plural(n int, one, several string) string {
	return strconv.Itoa(n) + " " + pick(n == 1, one, several)
}

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

	// Along is the label of a class: only the way to it is drawn, with Beside of the
	// neighbours before and behind each of its nodes; "": the whole tree.
	Along  string
	Beside int
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
	along := make(map[int]bool) // the nodes on the way to a class
	if opts.Along != "" {
		c, err := t.classOf(opts.Along)
		if err != nil {
			return err
		}
		for _, v := range t.Path(c) {
			along[v] = true
		}
	}
	out := bufio.NewWriter(w)
	var prefix []byte // the lines that run down beside a node
	var draw func(v, depth int)
	draw = func(v, depth int) {
		out.WriteString(t.line(v, opts))
		children := t.Children(v)
		if (opts.MaxDepth > 0 && depth == opts.MaxDepth || opts.Along != "" && !along[v]) && len(children) > 0 {
			classes := len(t.ClassesBelow(v))
			if t.class[v] >= 0 {
				classes-- // its own is drawn
			}
			out.WriteString(" … " + plural(classes, "class", "classes") + "\n")
			return
		}
		out.WriteString("\n")
		from, end := opts.window(children, along)
		above := len(prefix)
		branch := func(last bool) {
			out.Write(prefix)
			if last {
				out.WriteString("└── ")
				prefix = append(prefix, "    "...)
			} else {
				out.WriteString("├── ")
				prefix = append(prefix, "│   "...)
			}
		}
		if from > 0 {
			branch(from == len(children))
			out.WriteString(t.folded(children[:from]) + "\n")
			prefix = prefix[:above]
		}
		for n, c := range children[from:end] {
			branch(from+n == len(children)-1)
			draw(c, depth+1)
			prefix = prefix[:above]
		}
		if end < len(children) && from < len(children) {
			branch(true)
			out.WriteString(t.folded(children[end:]) + "\n")
			prefix = prefix[:above]
		}
	}
	draw(0, 0)
	return out.Flush()
}

// window returns which children of a node are drawn, from and up to a place: those near the
// one on the way to a class, else the first ones. Where the way ends none of them are.
func (o TextOptions) window(children []int, along map[int]bool) (from, end int) {
	if o.Along == "" {
		if o.MaxChildren > 0 {
			return 0, min(o.MaxChildren, len(children))
		}
		return 0, len(children)
	}
	for n, c := range children {
		if along[c] {
			return max(0, n-o.Beside), min(len(children), n+1+o.Beside)
		}
	}
	return len(children), len(children)
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

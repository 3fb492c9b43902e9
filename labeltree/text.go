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
	type visit struct {
		v, depth   int
		first, own string // what comes before this line, and before those below it
		hidden     string // a line that stands for nodes left out
	}
	out := bufio.NewWriter(w)
	stack := []visit{{}}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		out.WriteString(at.first)
		if at.hidden != "" {
			out.WriteString(at.hidden + "\n")
			continue
		}
		out.WriteString(t.line(at.v, opts))
		children := t.Children(at.v)
		if opts.MaxDepth > 0 && at.depth == opts.MaxDepth && len(children) > 0 {
			classes := len(t.ClassesBelow(at.v))
			if t.class[at.v] >= 0 {
				classes-- // its own is drawn
			}
			out.WriteString(" … " + plural(classes, "class", "classes") + "\n")
			continue
		}
		out.WriteString("\n")
		var below []visit
		for n, c := range children {
			if opts.MaxChildren > 0 && n == opts.MaxChildren {
				below = append(below, visit{hidden: t.folded(children[n:])})
				break
			}
			below = append(below, visit{v: c, depth: at.depth + 1})
		}
		for n := len(below) - 1; n >= 0; n-- {
			below[n].first, below[n].own = at.own+"├── ", at.own+"│   "
			if n == len(below)-1 {
				below[n].first, below[n].own = at.own+"└── ", at.own+"    "
			}
			stack = append(stack, below[n])
		}
	}
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

func plural(n int, one, several string) string {
	return strconv.Itoa(n) + " " + pick(n == 1, one, several)
}

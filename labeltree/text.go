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
	Lengths     bool // write the length behind each name
	Digits      int  // significant digits of a length; 0 means 4, -1 as many as read back as the same number
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
// Go, if it has line breaks or other unprintable characters, or if it would be
// taken for something else: see ReadText, which gives the tree back from a
// drawing of the whole.
func (t *Tree) WriteText(w io.Writer, opts TextOptions) error {
	type visit struct {
		v, depth   int
		first, own string // what comes before this line, and before those below it
		hidden     string // a line that stands for nodes left out
	}
	quoteRoot := t.Len() == 1 || !opts.Lengths && t.looksMeasured(opts)
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
		out.WriteString(t.line(at.v, opts, quoteRoot && at.v == 0))
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
func (t *Tree) line(v int, opts TextOptions, quote bool) string {
	name := t.name[v]
	if quote || needsQuotes(name, t.class[v] >= 0) {
		name = strconv.Quote(name)
	}
	if t.class[v] < 0 {
		name = "(" + name + ")"
	}
	if opts.Lengths {
		digits := opts.Digits
		if digits == 0 {
			digits = 4
		}
		name += " " + strconv.FormatFloat(t.Length(v), 'g', max(digits, -1), 64)
	}
	return name
}

// needsQuotes tells names that a drawing could not be read with.
func needsQuotes(name string, class bool) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) || r == '…' }) ||
		strings.HasPrefix(name, `"`) || strings.TrimSpace(name) != name ||
		strings.HasPrefix(name, "├") || strings.HasPrefix(name, "└") || strings.HasPrefix(name, "│") ||
		class && strings.HasPrefix(name, "(") && strings.HasSuffix(name, ")")
}

// looksMeasured tells a drawing without lengths all of whose lines end in a
// number, as names such as "class 1" do.
func (t *Tree) looksMeasured(opts TextOptions) bool {
	for v := range t.Len() {
		if _, _, measured := cutLength(t.line(v, opts, false)); !measured {
			return false
		}
	}
	return true
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

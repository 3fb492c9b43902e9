package labeltree

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Measures of the drawing, in pixels.
const (
	svgRow     = 18 // height of a leaf
	svgMargin  = 16 // around everything
	svgGap     = 36 // between the names of one level and the dots of the next
	svgLongest = 60 // characters of a name that are drawn
)

// WriteSVG draws the tree as a picture that stands for itself: no scripts, no
// fonts or files from elsewhere, and styles that touch nothing else on a page that
// it is put into. The root is on the left, each leaf has a row of
// its own, so no two names overlap however many there are; classes are dark,
// pseudoclasses light and in italics. Holding the pointer over a node shows its
// whole name, its length and the number of classes below. It takes O(nodes)
// time and room: 150 classes make some 25 kB, 2,800 pixels high.
func (t *Tree) WriteSVG(w io.Writer) error {
	x, y, width, height := t.layOut()
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" class="treeloss-tree" width="%d" height="%d" viewBox="0 0 %d %d" role="img">
<title>Tree of %s</title>
<style>
.treeloss-tree text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1a1a2e; }
.treeloss-tree .p text { font-style: italic; fill: #70708a; }
.treeloss-tree circle { fill: #2f5d9b; }
.treeloss-tree .p circle { fill: #fff; stroke: #9a9ab0; }
.treeloss-tree path { fill: none; stroke: #c4c4d2; }
</style>
`, width, height, width, height, plural(t.Classes(), "class", "classes"))
	fmt.Fprintf(out, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", width, height)
	for v := 1; v < t.Len(); v++ { // lines first, so that names lie above them
		up := t.parent[v]
		from := x[up] + 10 + textWidth(shorten(t.name[up]))
		middle := (from + x[v]) / 2
		fmt.Fprintf(out, "<path d=\"M%d %dC%d %d %d %d %d %d\"/>\n", from, y[up], middle, y[up], middle, y[v], x[v], y[v])
	}
	below := make([]int, t.Len())
	for v := t.Len() - 1; v >= 0; v-- {
		if t.class[v] >= 0 {
			below[v]++
		}
		if up := t.parent[v]; up >= 0 {
			below[up] += below[v]
		}
	}
	for v, name := range t.name {
		class := ""
		if t.class[v] < 0 {
			class = ` class="p"`
		}
		about := name
		if t.length != nil {
			about += ", length " + formatLength(t.length[v])
		}
		if !t.IsLeaf(v) {
			about += ", " + plural(below[v], "class", "classes")
		}
		fmt.Fprintf(out, "<g%s><title>%s</title><circle cx=\"%d\" cy=\"%d\" r=\"3\"/><text x=\"%d\" y=\"%d\">%s</text></g>\n",
			class, escapeXML(about), x[v], y[v], x[v]+7, y[v]+4, escapeXML(shorten(name)))
	}
	out.WriteString("</svg>\n")
	return out.Flush()
}

// layOut gives each node its place: a leaf the next row, an inner node the
// middle between its outermost children, and each level a column that begins
// behind the longest name of an inner node to the left of it.
func (t *Tree) layOut() (x, y []int, width, height int) {
	n := t.Len()
	x, y = make([]int, n), make([]int, n)
	depth, rows := t.depths(), 0
	for v := range n {
		if t.IsLeaf(v) {
			y[v] = svgMargin + rows*svgRow + svgRow/2
			rows++
		}
	}
	var widest []int // of the names of inner nodes, by level
	for v := n - 1; v >= 0; v-- {
		for len(widest) <= depth[v] {
			widest = append(widest, 0)
		}
		if children := t.Children(v); len(children) > 0 {
			y[v] = (y[children[0]] + y[children[len(children)-1]]) / 2
			widest[depth[v]] = max(widest[depth[v]], textWidth(shorten(t.name[v])))
		}
	}
	column := make([]int, len(widest))
	column[0] = svgMargin
	for d := 1; d < len(column); d++ {
		column[d] = column[d-1] + 10 + widest[d-1] + svgGap
	}
	for v := range n {
		x[v] = column[depth[v]]
		width = max(width, x[v]+10+textWidth(shorten(t.name[v]))+svgMargin)
	}
	return x, y, width, rows*svgRow + 2*svgMargin
}

// textWidth estimates the width of a text, rather too wide than too narrow:
// which font there is only the viewer knows.
func textWidth(text string) int {
	width := 0
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case r >= 0x1100: // East Asian letters, emoji
			width += 14
		case unicode.IsUpper(r) || r == 'm' || r == 'w':
			width += 10
		default:
			width += 8
		}
	}
	return width
}

// shorten cuts a name that is too long to draw, and draws control characters as
// spaces.
func shorten(name string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, name))
	if len(runes) > svgLongest {
		runes = append(runes[:svgLongest-1], '…')
	}
	return string(runes)
}

// escapeXML makes a text one of XML; what that cannot hold becomes a replacement character.
func escapeXML(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder does not fail
	return b.String()
}

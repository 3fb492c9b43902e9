package labeltree

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/treeloss/treeloss/internal/input"
)

// ReadTaxonomy reads a tree over the labels from a taxonomy in any of these
// forms, told apart by what is in the file:
//
//	child,parent    rows husky,dog for each node but the roots, as CSV, or with
//	                tabs if the first line has no comma; a header such as
//	                label,parent may come first
//	paths           animal/dog/husky or animal > dog > husky, one on a line, or
//	                in the column "path" of a CSV or TSV file with a header. A
//	                column "label" (or child, class, name, node) beside it names
//	                the class, which the path may end in or lead to. Where " > "
//	                occurs, "/" is a character like any other. Lines in front
//	                that begin with "# " are passed over
//	nested JSON     {"animal": {"dog": ["husky", "boxer"], "cat": null}}, or
//	                {"name": "animal", "children": [...]}, or both mixed
//	Newick          of other programs; a class may be any node
//	a tree          that this package wrote, as JSON or Newick
//
// The file may be packed with gzip or zstd. Spaces around a name, a byte-order mark
// and CRLF do no harm. name is the file's name, for errors. A label is looked for by
// its name and, in a file of paths, also by its whole path, for labels such as
// "animal/dog/husky". With
// labels nil the classes are the leaves, or those that a tree of ours has, in
// the order of their bytes; any other labels must be distinct and not empty.
//
// The tree has V form. A class may sit on an inner node: its leaf comes first
// among the children, and the inner node is called "dog (group)". Nodes
// without a class below are left out. A node with a single child is joined
// with it, under the upper name: both would share among the same classes. Above
// several roots comes one called "root". A name that is taken gets an
// underscore, or a number once that was not enough. Siblings come in the order in
// which the file first names them. Lengths stay: that of joined nodes is the sum, so
// that classes share as much as they did; the leaf of a class on an inner node gets 0.
//
// A tree that this package wrote over exactly these labels comes back as it
// was, a U-tree too, its classes numbered by the labels.
//
// A *SyntaxError that names the line, the node and a remedy comes of: a row of
// the wrong width, an empty name, text that is not UTF-8, a node with two
// parents or its own ancestor, a class at two places, a row that stands twice,
// a label that does not occur. The file is read whole, O(its size) of memory.
func ReadTaxonomy(r io.Reader, name string, labels []string) (*Tree, error) {
	data, err := readAll(r, name)
	if err != nil {
		return nil, err
	}
	g := newGraph(func(line int, format string, args ...any) error { return input.Refuse(name, line, 0, format, args...) })
	switch form := formOf(data); form {
	case formNewick:
		g.parts, err = scanNewick(data, name)
	case formJSON:
		var own bool
		if g.parts, own, err = scanNested(data, name); err == nil && own {
			g.parts, err = scanJSON(data, name)
		}
	case formDrawing:
		return nil, refuseDrawing(name)
	default:
		if err := g.readRows(data, name, form); err != nil {
			return nil, err
		}
		return g.tree(labels)
	}
	switch {
	case err != nil:
		return nil, err
	case g.fits(labels):
		return g.complete(name)
	}
	g.words = inTree
	return g.tree(labels)
}

// fits tells whether the parts say themselves which nodes are the classes, and
// these are the labels; it numbers them by the labels. labels nil fits all.
func (p *parts) fits(labels []string) bool {
	var marked []string
	for v, c := range p.class {
		if c >= 0 {
			marked = append(marked, p.name[v])
		}
	}
	if labels == nil {
		labels = slices.Sorted(slices.Values(marked))
	}
	number := make(map[string]int, len(labels))
	for c, label := range labels {
		number[label] = c
	}
	if len(marked) == 0 || len(marked) != len(labels) || len(number) != len(labels) {
		return false
	}
	for _, label := range marked {
		if _, known := number[label]; !known {
			return false
		}
	}
	for v, c := range p.class {
		if c >= 0 {
			p.class[v] = number[p.name[v]]
		}
	}
	return true
}

// errNoRows is about an empty file or map.
var errNoRows = errors.New("no rows, want one row child,parent for each class")

// FromParents returns the tree of a taxonomy given as a map from each node to
// its parent; see ReadTaxonomy for what is refused, how the tree looks and what
// labels nil means. Siblings come in the order of their names.
func FromParents(parents map[string]string, labels []string) (*Tree, error) {
	g := newGraph(func(_ int, format string, args ...any) error {
		return fmt.Errorf("labeltree: "+format, args...)
	})
	for _, child := range slices.Sorted(maps.Keys(parents)) {
		if err := g.edge(edge{child: child, parent: parents[child]}); err != nil {
			return nil, err
		}
	}
	if len(g.name) == 0 {
		return nil, g.place(0, "%v", errNoRows)
	}
	return g.tree(labels)
}

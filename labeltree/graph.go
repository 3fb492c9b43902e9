package labeltree

import (
	"cmp"
	"slices"
	"strings"
)

// edge is one row of a taxonomy.
type edge struct {
	child, parent string
	line          int // 0 if it came without a file
}

// graph is a taxonomy: its nodes in the order they came up, the parents and lines of
// those that have one.
type graph struct {
	parts
	place  func(line int, format string, args ...any) error // makes an error that says what to do
	words  words
	below  []int // classes at or below
	rooted []int // the parents with one more node, the last, above all roots
	order  []int // of these, in preorder

	number    map[string]int  // of rows child,parent: nodes by name
	children  map[sibling]int // of paths: nodes by parent and name
	separator string          // of paths
}

// sibling is a name below a node, -1 being above all roots.
type sibling struct {
	parent int
	name   string
}

// words are how a form of taxonomy calls things.
type words struct {
	missing, missingMany string // of classes
	remedy               string // followed by "it" or "each"
}

// The words of rows, of paths, and of trees that are written as such.
var (
	inRows  = words{"has no row", "have no row", "add a row child,parent for"}
	inPaths = words{"is at the end of no path", "are at the end of no path", "add a path for"}
	inTree  = words{"is not in the tree", "are not in the tree", "add a node for"}
)

// newGraph returns an empty graph of the words of rows.
func newGraph(place func(line int, format string, args ...any) error) *graph {
	return &graph{place: place, words: inRows, number: make(map[string]int), children: make(map[sibling]int)}
}

// tree makes the tree over the labels, nil for the leaves. What a file says about
// classes does not matter.
func (g *graph) tree(labels []string) (*Tree, error) {
	if err := cmp.Or(g.fixLengths(), checkParents(g.parent)); err != nil {
		return nil, g.place(0, "%v", err)
	}
	if err := g.sort(); err != nil {
		return nil, err
	}
	if labels == nil {
		for v, leaf := range g.leaves() {
			if leaf {
				labels = append(labels, g.name[v])
			}
		}
		slices.Sort(labels)
		labels = slices.Compact(labels)
	}
	taken, err := takeLabels(labels, len(labels))
	if err != nil {
		return nil, err
	}
	if err := g.findClasses(labels); err != nil {
		return nil, err
	}
	p := g.pruned(labels, taken)
	t, err := p.assemble(taken)
	if err != nil {
		return nil, g.place(0, "%v", err)
	}
	return t, nil
}

// node returns the node of that name, where a name stands for one node.
func (g *graph) node(name string) int {
	v, known := g.number[name]
	if !known {
		name = strings.Clone(name)
		v = g.add(-1, -1, name, 0)
		g.number[name] = v
	}
	return v
}

// child returns the node of that name below another, where a path stands for
// one node.
func (g *graph) child(parent int, name string, line int) int {
	v, known := g.children[sibling{parent, name}]
	if !known {
		v = g.add(parent, -1, name, line)
		g.children[sibling{parent, name}] = v
	}
	return v
}

// edge hangs a node up below its one parent.
func (g *graph) edge(e edge) error {
	if e.child == e.parent {
		return g.place(e.line, "%q is its own parent; remove this row if it is the root, or name its parent", e.child)
	}
	child, parent := g.node(e.child), g.node(e.parent)
	switch old := g.parent[child]; {
	case old == parent:
		return g.place(e.line, "the row %q, %q stands already on line %d; remove one", e.child, e.parent, g.line[child])
	case old >= 0:
		return g.place(e.line, "%q has two parents, %q (line %d) and %q; keep one", e.child, g.name[old], g.line[child], e.parent)
	}
	g.parent[child], g.line[child] = parent, e.line
	return nil
}

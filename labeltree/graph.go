package labeltree

import (
	"slices"
	"strings"
)

// edge is one row of a taxonomy.
type edge struct {
	child, parent string
	line          int // 0 if it came without a file
}

// graph is a taxonomy by number of node, in the order the nodes came up.
type graph struct {
	place  func(line int, format string, args ...any) error // makes an error that says what to do
	words  words
	name   []string // "" for none
	parent []int    // -1 for a root
	line   []int    // of the row that names the parent, 0 for a root or where there is none
	length []float64
	class  []int // -1 for none
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

var (
	inRows  = words{"has no row", "have no row", "add a row child,parent for"}
	inPaths = words{"is at the end of no path", "are at the end of no path", "add a path for"}
	inTree  = words{"is not in the tree", "are not in the tree", "add a node for"}
)

func newGraph(place func(line int, format string, args ...any) error) *graph {
	return &graph{place: place, words: inRows, number: make(map[string]int), children: make(map[sibling]int)}
}

// tree makes the tree over the labels, nil for the leaves.
func (g *graph) tree(labels []string) (*Tree, error) {
	if err := g.sort(); err != nil {
		return nil, err
	}
	if labels == nil {
		labels = g.leaves()
	}
	taken, err := takeLabels(labels, len(labels))
	if err != nil {
		return nil, err
	}
	if err := g.findClasses(labels); err != nil {
		return nil, err
	}
	p := g.parts(labels, taken)
	t, err := p.assemble(taken)
	if err != nil {
		return nil, g.place(0, "%v", err)
	}
	return t, nil
}

// leaves returns the names of the nodes without children, sorted.
func (g *graph) leaves() []string {
	var labels []string
	for v, inner := range g.inner() {
		if !inner {
			labels = append(labels, g.name[v])
		}
	}
	slices.Sort(labels)
	return slices.Compact(labels)
}

// inner tells which nodes have children.
func (g *graph) inner() []bool {
	inner := make([]bool, len(g.name))
	for _, up := range g.parent {
		if up >= 0 {
			inner[up] = true
		}
	}
	return inner
}

// add adds a node.
func (g *graph) add(name string, parent, line int) int {
	g.name = append(g.name, name)
	g.parent = append(g.parent, parent)
	g.line = append(g.line, line)
	return len(g.name) - 1
}

// node returns the node of that name, where a name stands for one node.
func (g *graph) node(name string) int {
	v, known := g.number[name]
	if !known {
		name = strings.Clone(name)
		v = g.add(name, -1, 0)
		g.number[name] = v
	}
	return v
}

// child returns the node of that name below another, where a path stands for
// one node.
func (g *graph) child(parent int, name string, line int) int {
	v, known := g.children[sibling{parent, name}]
	if !known {
		v = g.add(name, parent, line)
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

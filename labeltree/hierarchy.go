package labeltree

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// edge is one row of a taxonomy.
type edge struct {
	child, parent string
	line          int // 0 if it came without a file
}

// hierarchy turns the edges of a taxonomy into a tree over the labels. place
// makes an error from a line, 0 for none, and a message that says what to do.
func hierarchy(edges []edge, labels []string, place func(line int, format string, args ...any) error) (*Tree, error) {
	taken, err := takeLabels(labels, len(labels))
	if err != nil {
		return nil, err
	}
	g := graph{place: place, number: make(map[string]int)}
	if err := g.read(edges); err != nil {
		return nil, err
	}
	if err := g.cycle(); err != nil {
		return nil, err
	}
	if err := g.seat(labels); err != nil {
		return nil, err
	}
	t, err := assemble(g.parts(labels, taken))
	if err != nil {
		return nil, place(0, "%v", err)
	}
	return t, nil
}

// graph is a taxonomy by number of node, in the order the names came up.
type graph struct {
	place  func(line int, format string, args ...any) error
	name   []string
	number map[string]int
	parent []int // -1 for a root
	line   []int // of the row that names the parent, 0 for a root
	class  []int // -1 for none
	below  []int // classes at or below
}

func (g *graph) node(name string) int {
	v, known := g.number[name]
	if !known {
		v = len(g.name)
		g.number[name] = v
		g.name = append(g.name, name)
		g.parent = append(g.parent, -1)
		g.line = append(g.line, 0)
	}
	return v
}

// read puts the edges in, one parent a node.
func (g *graph) read(edges []edge) error {
	for _, e := range edges {
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
	}
	if len(g.name) == 0 {
		return g.place(0, "no rows, want one row child,parent for each class")
	}
	return nil
}

// cycle returns an error that spells out a cycle, if there is one.
func (g *graph) cycle() error {
	_, err := preorder(g.rooted())
	if err == nil {
		return nil
	}
	inside, ok := errors.AsType[cycleError](err)
	if !ok {
		return g.place(0, "%v", err) // preorder has nothing else to complain about
	}
	// Begin at the row that came last: the one that closed the circle.
	round := []int{int(inside)}
	for v := g.parent[inside]; v != int(inside); v = g.parent[v] {
		round = append(round, v)
	}
	last := slices.MaxFunc(round, func(a, b int) int { return cmp.Compare(g.line[a], g.line[b]) })
	var way strings.Builder
	v := last
	for n := range len(round) + 1 {
		switch {
		case n == 0:
			fmt.Fprintf(&way, "%q", g.name[v])
		case n < 10 || n == len(round):
			fmt.Fprintf(&way, " -> %q", g.name[v])
		case n == 10:
			way.WriteString(" -> …")
		}
		v = g.parent[v]
	}
	return g.place(g.line[last], "%q is its own ancestor: %s; remove or mend one of these %d rows", g.name[last], way.String(), len(round))
}

// rooted returns the parents with one more node, the last, above all roots.
func (g *graph) rooted() []int {
	n := len(g.parent)
	parent := append(slices.Clone(g.parent), -1)
	for v := range n {
		if parent[v] < 0 {
			parent[v] = n
		}
	}
	return parent
}

// seat finds the node of each class and counts the classes below each node.
func (g *graph) seat(labels []string) error {
	g.class = slices.Repeat([]int{-1}, len(g.name))
	var missing []string
	for c, label := range labels {
		v, known := g.number[strings.TrimSpace(label)]
		switch {
		case !known:
			missing = append(missing, fmt.Sprintf("%q", label))
		case g.class[v] >= 0:
			return g.place(0, "labels %q and %q differ only in the spaces around them; rename one", labels[g.class[v]], label)
		default:
			g.class[v] = c
		}
	}
	if len(missing) > 0 {
		return g.place(0, "%s %s; add a row child,parent for %s%s", pick(len(missing) == 1, "class", "classes"),
			list(missing, "has no row", "have no row"), pick(len(missing) == 1, "it", "each"), g.strangers())
	}
	order, err := preorder(g.rooted())
	if err != nil {
		return g.place(0, "%v", err)
	}
	g.below = make([]int, len(g.name)+1)
	for _, v := range slices.Backward(order[1:]) {
		if g.class[v] >= 0 {
			g.below[v]++
		}
		if up := g.parent[v]; up >= 0 {
			g.below[up] += g.below[v]
		}
	}
	return nil
}

// strangers hints at leaves of the taxonomy that are no class: a misspelt label
// is among them.
func (g *graph) strangers() string {
	inner := make([]bool, len(g.name))
	for _, up := range g.parent {
		if up >= 0 {
			inner[up] = true
		}
	}
	var found []string
	for v, name := range g.name {
		if !inner[v] && g.class[v] < 0 {
			found = append(found, fmt.Sprintf("%q", name))
		}
	}
	if len(found) == 0 {
		return ""
	}
	return "; " + list(found, "is a leaf there but no class", "are leaves there but no classes")
}

// list joins up to five quoted names and a verb for one or several.
func list(names []string, one, several string) string {
	text := strings.Join(names[:min(len(names), 5)], ", ")
	if more := len(names) - 5; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + " " + pick(len(names) == 1, one, several)
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// parts makes the tree: nodes without a class below go, chains of single
// children become one node, a class on an inner node gets a leaf below it, and
// several roots get a root above.
//
// A node with a single child shares among the same classes as that child: all
// it would do is count them twice. The one node left keeps the name of the
// topmost, which tells it from its siblings.
func (g *graph) parts(labels []string, taken names) parts {
	top := len(g.name) // the root above all roots, as in rooted
	rooted := g.rooted()
	order, err := preorder(rooted)
	if err != nil {
		return parts{} // seat has looked at this already
	}
	kept := make([]int, top+1) // children with a class at or below
	for v, up := range rooted[:top] {
		if g.below[v] > 0 {
			kept[up]++
		}
	}
	var p parts
	under := make([]int, top+1)    // the node of p below which a node's children come
	chain := make([]string, top+1) // the topmost name of a chain that is still open
	under[top] = -1
	if kept[top] > 1 {
		under[top] = p.add(-1, -1, taken.free("root"))
	}
	for _, v := range order[1:] {
		up, class := rooted[v], g.class[v]
		switch {
		case g.below[v] == 0:
		case kept[v] == 0:
			p.add(under[up], class, labels[class])
		case class >= 0:
			name := cmp.Or(chain[up], labels[class]+" (group)")
			under[v] = p.add(under[up], -1, taken.free(name))
			p.add(under[v], class, labels[class])
		case kept[v] == 1:
			under[v], chain[v] = under[up], cmp.Or(chain[up], g.name[v])
		default:
			under[v] = p.add(under[up], -1, taken.free(cmp.Or(chain[up], g.name[v])))
		}
	}
	return p
}

// FromParents returns the tree of a taxonomy given as a map from each node to
// its parent; see ReadTaxonomy for what is refused and how the tree looks.
// Siblings come in the order of their names.
func FromParents(parents map[string]string, labels []string) (*Tree, error) {
	var edges []edge
	for _, child := range slices.Sorted(maps.Keys(parents)) {
		edges = append(edges, edge{child: child, parent: parents[child]})
	}
	return hierarchy(edges, labels, func(_ int, format string, args ...any) error {
		return fmt.Errorf("labeltree: "+format, args...)
	})
}

package labeltree

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/treeloss/treeloss/internal/input"
)

// sort sets rooted and order, or returns an error that spells out a cycle.
func (g *graph) sort() (err error) {
	n := len(g.parent)
	g.rooted = append(slices.Clone(g.parent), -1)
	for v, up := range g.parent {
		if up < 0 {
			g.rooted[v] = n
		}
	}
	g.order, err = preorder(g.rooted, strconv.Itoa)
	e, ok := errors.AsType[cycleError](err)
	if !ok {
		return err // nil: preorder has nothing else to complain about
	}
	// Begin at the row that came last: the one that closed the circle.
	round := []int{e.node}
	for v := g.parent[e.node]; v != e.node; v = g.parent[v] {
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

// findClasses finds the node of each class and counts the classes below each node. A
// label is looked for among the names first, then as a whole path. All labels that are
// missing go into one error, with the leaves that are no class beside them: most often
// one is a misspelling of the other.
func (g *graph) findClasses(labels []string) error {
	g.class = slices.Repeat([]int{-1}, len(g.name))
	wanted := make(map[string]int, len(labels))
	for c, label := range labels {
		label = strings.TrimSpace(label)
		if other, twice := wanted[label]; twice {
			return g.place(0, "labels %q and %q differ only in the spaces around them; rename one", labels[other], labels[c])
		}
		wanted[label] = c
	}
	nodes := slices.Repeat([]int{-1}, len(labels))
	for v, name := range g.name {
		c, known := wanted[strings.TrimSpace(name)]
		switch {
		case !known || name == "":
		case nodes[c] >= 0:
			return g.twoPlaces(labels[c], nodes[c], v)
		default:
			nodes[c] = v
		}
	}
	var missing []string
	for c, label := range labels {
		v := nodes[c]
		if v < 0 {
			v = g.descend(label)
		}
		switch {
		case v < 0:
			missing = append(missing, fmt.Sprintf("%q", label))
		case g.class[v] >= 0:
			return g.place(0, "labels %q and %q mean the same node, %s; rename one", labels[g.class[v]], label, g.way(v))
		default:
			g.class[v] = c
		}
	}
	if len(missing) > 0 {
		return g.place(0, "%s %s; %s %s%s", pick(len(missing) == 1, "class", "classes"),
			list(missing, g.words.missing, g.words.missingMany), g.words.remedy, pick(len(missing) == 1, "it", "each"), g.otherLeaves())
	}
	g.below = make([]int, len(g.name)+1)
	for _, v := range slices.Backward(g.order[1:]) {
		if g.class[v] >= 0 {
			g.below[v]++
		}
		if up := g.parent[v]; up >= 0 {
			g.below[up] += g.below[v]
		}
	}
	return nil
}

// twoPlaces refuses a class that two nodes could be.
func (g *graph) twoPlaces(label string, u, v int) error {
	for _, pair := range [][2]int{{u, v}, {v, u}} {
		for up := g.parent[pair[0]]; up >= 0; up = g.parent[up] {
			if up == pair[1] {
				return g.place(g.line[v], "%q is its own ancestor: %s; rename one of the two", label, g.way(pair[0]))
			}
		}
	}
	first := g.way(u)
	if g.line[u] > 0 {
		first += fmt.Sprintf(" (line %d)", g.line[u])
	}
	return g.place(g.line[v], "%q has two parents, it stands at %s and at %s; keep one, or rename one", label, first, g.way(v))
}

// way returns the path to a node in words, the last ten names of it.
func (g *graph) way(v int) string {
	var names []string
	for ; v >= 0; v = g.parent[v] {
		if len(names) == 10 {
			names = append(names, "…")
			break
		}
		names = append(names, cmp.Or(g.name[v], "?"))
	}
	slices.Reverse(names)
	return strconv.Quote(strings.Join(names, cmp.Or(g.separator, "/")))
}

// otherLeaves hints at leaves of the taxonomy that are no class: a misspelt label
// is among them.
func (g *graph) otherLeaves() string {
	var found []string
	leaf := g.leaves()
	for v, name := range g.name {
		if leaf[v] && g.class[v] < 0 && name != "" {
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
	return input.Some(names, 5, len(names)) + " " + pick(len(names) == 1, one, several)
}

// pick returns a if first is true, else b: a word for one, or for several.
func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// pruned returns the tree of the classes: nodes without a class below go, chains of single
// children become one node, a class on an inner node gets a leaf below it, and
// several roots get a root above.
//
// A node with a single child shares among the same classes as that child: all
// it would do is count them twice. The one node left keeps the name of the
// topmost, which tells it from its siblings.
func (g *graph) pruned(labels []string, taken names) parts {
	top := len(g.name)         // the root above all roots, as in rooted
	kept := make([]int, top+1) // children with a class at or below
	for v, up := range g.rooted[:top] {
		if g.below[v] > 0 {
			kept[up]++
		}
	}
	var p parts
	add := func(parent, class int, name string, length float64) int {
		v := p.add(parent, class, name, 0)
		if g.length != nil {
			p.length[v] = length
		}
		return v
	}
	free := func(name string) string {
		if name == "" {
			return "" // to be named when all others are
		}
		return taken.free(name)
	}
	under := make([]int, top+1)    // the node of p below which a node's children come
	chain := make([]string, top+1) // the topmost name of a chain that is still open
	sum := make([]float64, top+1)  // and the lengths along it
	under[top] = -1
	if kept[top] > 1 {
		under[top] = add(-1, -1, taken.free("root"), 0)
	}
	for _, v := range g.order[1:] {
		up, class := g.rooted[v], g.class[v]
		name, length := cmp.Or(chain[up], g.name[v]), sum[up]
		if g.length != nil {
			length += g.length[v]
		}
		switch {
		case g.below[v] == 0:
		case kept[v] == 0:
			add(under[up], class, labels[class], length)
		case class >= 0:
			name := cmp.Or(chain[up], labels[class]+" (group)")
			under[v] = add(under[up], -1, taken.free(name), length)
			add(under[v], class, labels[class], 0)
		case kept[v] == 1:
			under[v], chain[v], sum[v] = under[up], name, length
		default:
			under[v] = add(under[up], -1, free(name), length)
		}
	}
	return p
}

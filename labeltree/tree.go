package labeltree

import (
	"fmt"
	"slices"
)

// Tree is a rooted tree over k classes. Nodes are numbered in preorder, from 0,
// the root. Methods that take a node or a class panic if it is out of range:
// that is a bug in the caller.
type Tree struct {
	parent []int
	end    []int // one past the last node at or below each
	class  []int // -1 for a pseudoclass
	name   []string
	length []float64 // nil if all are 1
	node   []int     // of each class
	first  []int     // the children of v are child[first[v]:first[v+1]]
	child  []int
}

// Len returns the number of nodes, the paper's k'.
func (t *Tree) Len() int { return len(t.parent) }

// Classes returns the number of classes, k.
func (t *Tree) Classes() int { return len(t.node) }

// Parent returns the parent of node v, -1 for the root.
func (t *Tree) Parent(v int) int { return t.parent[v] }

// Children returns the children of node v in order. The slice is the tree's
// own: do not change it.
func (t *Tree) Children(v int) []int {
	return t.child[t.first[v]:t.first[v+1]:t.first[v+1]]
}

// End returns one past the last node at or below v: these are v to End(v)-1.
func (t *Tree) End(v int) int { return t.end[v] }

// IsLeaf tells whether node v has no children.
func (t *Tree) IsLeaf(v int) bool { return t.end[v] == v+1 }

// Class returns the class that sits on node v, -1 for a pseudoclass.
func (t *Tree) Class(v int) int { return t.class[v] }

// Node returns the node on which a class sits.
func (t *Tree) Node(class int) int { return t.node[class] }

// Name returns the name of node v: the label of the class that sits on it, or
// the name of a pseudoclass. No two nodes have the same name.
func (t *Tree) Name(v int) string { return t.name[v] }

// Labels returns the names of the classes by class, in a slice of its own.
func (t *Tree) Labels() []string {
	labels := make([]string, len(t.node))
	for c, v := range t.node {
		labels[c] = t.name[v]
	}
	return labels
}

// Length returns the length of the edge above node v, and for the root that of
// an edge from nowhere. It is 1 for every node of a tree that is not Weighted.
func (t *Tree) Length(v int) float64 {
	if t.length == nil {
		return 1
	}
	return t.length[v]
}

// Weighted tells whether the tree has lengths of its own.
func (t *Tree) Weighted() bool { return t.length != nil }

// WithLengths returns the same tree with one length for each node, finite and
// not negative; nil makes every length 1.
func (t *Tree) WithLengths(length []float64) (*Tree, error) {
	out := *t
	if length == nil {
		out.length = nil
		return &out, nil
	}
	if len(length) != t.Len() {
		return nil, fmt.Errorf("labeltree: %d lengths for %d nodes", len(length), t.Len())
	}
	out.length = slices.Clone(length)
	for v := range out.length {
		out.length[v] += 0 // -0 would be written otherwise
	}
	if err := out.check(); err != nil {
		return nil, fmt.Errorf("labeltree: %w", err)
	}
	return &out, nil
}

// Path returns the nodes from that of the class to the root: the paper's P_i.
func (t *Tree) Path(class int) []int {
	var path []int
	for v := t.node[class]; v >= 0; v = t.parent[v] {
		path = append(path, v)
	}
	return path
}

// PathNames returns the names along the path of the class with this label. An
// unknown label is an error. It looks through all labels, O(k).
func (t *Tree) PathNames(label string) ([]string, error) {
	c, err := t.classOf(label)
	if err != nil {
		return nil, err
	}
	var path []string
	for _, u := range t.Path(c) {
		path = append(path, t.name[u])
	}
	return path, nil
}

// classOf returns the class with a label. O(k).
func (t *Tree) classOf(label string) (int, error) {
	for c, v := range t.node {
		if t.name[v] == label {
			return c, nil
		}
	}
	return 0, fmt.Errorf("labeltree: no class %q among the %d of the tree", label, t.Classes())
}

// Depth returns the number of edges from node v to the root.
func (t *Tree) Depth(v int) int {
	depth := 0
	for v = t.parent[v]; v >= 0; v = t.parent[v] {
		depth++
	}
	return depth
}

// depths returns the number of edges from each node to the root.
func (t *Tree) depths() []int {
	depth := make([]int, t.Len())
	for v := 1; v < t.Len(); v++ {
		depth[v] = depth[t.parent[v]] + 1
	}
	return depth
}

// Height returns the number of edges on the longest path from the root.
func (t *Tree) Height() int { return slices.Max(t.depths()) }

// LCA returns the lowest common ancestor of two nodes, which is one of them if
// it lies above the other. It takes O(depth of a) time.
func (t *Tree) LCA(a, b int) int {
	for b < a || b >= t.end[a] {
		a = t.parent[a]
	}
	return a
}

// ClassesBelow returns the classes that sit at or below node v, ascending.
func (t *Tree) ClassesBelow(v int) []int {
	var classes []int
	for _, c := range t.class[v:t.end[v]] {
		if c >= 0 {
			classes = append(classes, c)
		}
	}
	slices.Sort(classes)
	return classes
}

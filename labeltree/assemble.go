package labeltree

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// parts is a tree as constructors and readers find it: parent, class and name
// by node, in any order; length nil or by node, in Newick files -1 for
// none; line nil or by node, where in the file a node is hung up.
type parts struct {
	parent []int
	class  []int
	name   []string
	length []float64
	line   []int
}

func (p *parts) add(parent, class int, name string) int {
	p.parent = append(p.parent, parent)
	p.class = append(p.class, class)
	p.name = append(p.name, name)
	return len(p.parent) - 1
}

// Node is what New needs to know of a node.
type Node struct {
	Name   string
	Parent int     // place among the nodes, from 0; -1 for the root
	Class  int     // number of the class that sits here; -1 for none
	Length float64 // of the edge above it
}

// New returns the weighted tree of the nodes, which may come in any order; siblings
// keep theirs. WithLengths(nil) makes its lengths 1. Nodes that make no tree, or no
// numbering of classes, are an error. O(nodes).
func New(nodes []Node) (*Tree, error) {
	var p parts
	for _, n := range nodes {
		p.add(n.Parent, n.Class, n.Name)
		p.length = append(p.length, n.Length)
	}
	return p.tree(nil)
}

// tree is assemble with errors of the package.
func (p *parts) tree(taken names) (*Tree, error) {
	t, err := p.assemble(taken)
	if err != nil {
		return nil, fmt.Errorf("labeltree: %w", err)
	}
	return t, nil
}

// assemble checks the parts and puts them in preorder, the children of a node
// in the order they came. A tree that is in preorder already keeps its
// numbers. Nodes without a class and a name become pseudo1, pseudo2, ... in
// preorder, as in the paper's figure 1, by names that are not taken; with taken nil
// a node without a name is an error. Errors name the node and come without a
// package name, which the caller's place in a file replaces.
func (p *parts) assemble(taken names) (*Tree, error) {
	old, err := preorder(p.parent, p.called)
	if err != nil {
		return nil, err
	}
	pseudo := 0
	for _, v := range old {
		if p.class[v] >= 0 || taken == nil {
			continue
		}
		pseudo++
		if p.name[v] == "" {
			p.name[v] = taken.free(fmt.Sprintf("pseudo%d", pseudo))
		}
	}
	n := len(old)
	t := &Tree{
		parent: make([]int, n),
		class:  make([]int, n),
		name:   make([]string, n),
	}
	if p.length != nil {
		t.length = make([]float64, n)
	}
	place := make([]int, n)
	for v, from := range old {
		place[from] = v
		t.parent[v] = -1
		if up := p.parent[from]; up >= 0 {
			t.parent[v] = place[up]
		}
		t.class[v], t.name[v] = p.class[from], p.name[from]
		if p.length != nil {
			t.length[v] = p.length[from]
		}
	}
	t.index()
	if err := t.place(); err != nil {
		return nil, err
	}
	return t, t.check()
}

// called returns the name of a node in quotes, its number if it has none.
func (p *parts) called(v int) string {
	if p.name[v] == "" {
		return strconv.Itoa(v)
	}
	return strconv.Quote(p.name[v])
}

// cycleError is a node that is among its own ancestors.
type cycleError struct {
	node   int
	called string
}

func (e cycleError) Error() string {
	return fmt.Sprintf("node %s is its own ancestor, want a tree without cycles", e.called)
}

// preorder returns the nodes of a tree given by parents in preorder, siblings
// in the order of their numbers; called is how an error calls a node.
func preorder(parent []int, called func(v int) string) ([]int, error) {
	n, root := len(parent), -1
	if n == 0 {
		return nil, errors.New("no nodes, want at least one")
	}
	first := make([]int, n+2)
	for v, up := range parent {
		switch {
		case up < -1 || up >= n:
			return nil, fmt.Errorf("node %d has the parent %d, want -1 for the root or 0 to %d", v, up, n-1)
		case up == -1 && root >= 0:
			return nil, fmt.Errorf("nodes %s and %s both have no parent, want one root", called(root), called(v))
		case up == -1:
			root = v
		default:
			first[up+2]++
		}
	}
	for v := range n + 1 {
		first[v+1] += first[v]
	}
	child := make([]int, n)
	for v, up := range parent {
		if up >= 0 {
			child[first[up+1]] = v
			first[up+1]++
		}
	}
	// Now the children of v are child[first[v]:first[v+1]].
	order := make([]int, 0, n)
	var stack []int
	if root >= 0 {
		stack = append(stack, root)
	}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		order = append(order, v)
		for c := first[v+1] - 1; c >= first[v]; c-- {
			stack = append(stack, child[c])
		}
	}
	if len(order) < n { // what the root does not reach leads into a cycle
		reached := make([]bool, n)
		for _, v := range order {
			reached[v] = true
		}
		v := slices.Index(reached, false)
		for range n {
			v = parent[v]
		}
		return nil, cycleError{v, called(v)}
	}
	return order, nil
}

// index works out end, first and child from the parents, in preorder.
func (t *Tree) index() {
	n := len(t.parent)
	t.end = make([]int, n)
	t.first = make([]int, n+1)
	t.child = make([]int, max(n-1, 0))
	for v := n - 1; v >= 0; v-- {
		t.end[v] = max(t.end[v], v+1)
		if up := t.parent[v]; up >= 0 {
			t.end[up] = max(t.end[up], t.end[v])
			t.first[up]++
		}
	}
	sum := 0
	for v, count := range t.first {
		t.first[v] = sum
		sum += count
	}
	next := slices.Clone(t.first)
	for v := 1; v < n; v++ {
		t.child[next[t.parent[v]]] = v
		next[t.parent[v]]++
	}
}

// place fills node from class.
func (t *Tree) place() error {
	k := 0
	for _, c := range t.class {
		if c >= 0 {
			k++
		}
	}
	t.node = slices.Repeat([]int{-1}, k)
	for v, c := range t.class {
		switch {
		case c < -1 || c >= k:
			return fmt.Errorf("node %q has class %d, want -1 or, as %d nodes have a class, 0 to %d", t.name[v], c, k, k-1)
		case c >= 0 && t.node[c] >= 0:
			return fmt.Errorf("nodes %q and %q both have class %d, want one each", t.name[t.node[c]], t.name[v], c)
		case c >= 0:
			t.node[c] = v
		}
	}
	return nil
}

// check verifies what assemble does not make true itself.
func (t *Tree) check() error {
	seen := make(map[string]bool, len(t.name))
	for v, name := range t.name {
		switch {
		case name == "":
			return fmt.Errorf("node %d has no name", v)
		case !utf8.ValidString(name):
			return fmt.Errorf("node %q: the name is not UTF-8; convert the file", name)
		case seen[name]:
			return fmt.Errorf("two nodes have the name %q; rename one", name)
		case t.class[v] < 0 && t.IsLeaf(v):
			return fmt.Errorf("node %q is a leaf without a class; remove it or give it one", name)
		}
		seen[name] = true
	}
	if t.length == nil {
		return nil
	}
	if v, err := badLength(t.length); err != nil {
		return fmt.Errorf("node %q: %w", t.name[v], err)
	}
	return nil
}

// badLength returns the first node whose length cannot be one. It turns -0
// into 0, which would be written otherwise.
func badLength(length []float64) (int, error) {
	for v, x := range length {
		if !(x >= 0) || math.IsInf(x, 1) {
			return v, fmt.Errorf("length %v, want a finite number, 0 or more", x)
		}
		length[v] = x + 0
	}
	return 0, nil
}

// Check returns an error if the tree breaks a law of its type: preorder, one
// node for each class, names that differ, leaves with a class, finite lengths.
// Trees from this package pass it; it takes O(nodes) time.
func (t *Tree) Check() error {
	n := len(t.parent)
	if len(t.class) != n || len(t.name) != n || t.length != nil && len(t.length) != n {
		return fmt.Errorf("labeltree: %d parents, %d classes, %d names and %d lengths do not make a tree", n, len(t.class), len(t.name), len(t.length))
	}
	order, err := preorder(t.parent, strconv.Itoa)
	if err != nil {
		return fmt.Errorf("labeltree: %w", err)
	}
	for v, u := range order {
		if v != u {
			return fmt.Errorf("labeltree: node %d stands at place %d, want nodes in preorder", u, v)
		}
	}
	fresh := &Tree{parent: t.parent, class: t.class, name: t.name, length: slices.Clone(t.length)}
	fresh.index()
	if err := fresh.place(); err != nil {
		return fmt.Errorf("labeltree: %w", err)
	}
	if err := fresh.check(); err != nil {
		return fmt.Errorf("labeltree: %w", err)
	}
	if !slices.Equal(fresh.end, t.end) || !slices.Equal(fresh.node, t.node) || !slices.Equal(fresh.first, t.first) || !slices.Equal(fresh.child, t.child) {
		return errors.New("labeltree: the tree's index does not fit its parents and classes")
	}
	return nil
}

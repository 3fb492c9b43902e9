package labeltree

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parts is a tree as constructors and readers find it, by node in any order.
type parts struct {
	parent []int // -1 for a root
	class  []int // -1 for none
	name   []string
	length []float64 // NaN for none; nil if no node has one
	line   []int     // where in the file the node is hung up, 0 for nowhere
}

// add adds a node without a length.
func (p *parts) add(parent, class int, name string, line int) int {
	p.parent = append(p.parent, parent)
	p.class = append(p.class, class)
	p.name = append(p.name, name)
	p.length = append(p.length, math.NaN())
	p.line = append(p.line, line)
	return len(p.parent) - 1
}

// leaves tells which nodes have no children.
func (p *parts) leaves() []bool {
	leaf := slices.Repeat([]bool{true}, len(p.parent))
	for _, up := range p.parent {
		if up >= 0 {
			leaf[up] = false
		}
	}
	return leaf
}

// fixLengths makes nil of lengths that nobody gave, and refuses some without the
// others, but for the root's: other programs have no edge above the root.
func (p *parts) fixLengths() error {
	if !slices.ContainsFunc(p.length, func(x float64) bool { return !math.IsNaN(x) }) {
		p.length = nil
	}
	for v, x := range p.length {
		switch {
		case !math.IsNaN(x):
		case p.parent[v] < 0:
			p.length[v] = 0
		default:
			return fmt.Errorf("node %q has no length but others have; give all or none", p.name[v])
		}
	}
	return nil
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
		if err := badLength(n.Length); err != nil {
			return nil, fmt.Errorf("labeltree: node %q: %w", n.Name, err)
		}
		p.length[p.add(n.Parent, n.Class, n.Name, 0)] = n.Length
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
	if err := p.fixLengths(); err != nil {
		return nil, err
	}
	t, pseudo := &Tree{}, 0
	place := make([]int, len(old))
	for v, from := range old {
		place[from] = v
		up, class, name := p.parent[from], p.class[from], p.name[from]
		if up >= 0 {
			up = place[up]
		}
		if class < 0 && taken != nil {
			if pseudo++; name == "" {
				name = taken.free(fmt.Sprintf("pseudo%d", pseudo))
			}
		}
		t.parent, t.class, t.name = append(t.parent, up), append(t.class, class), append(t.name, name)
		if p.length != nil {
			t.length = append(t.length, p.length[from]+0) // -0 would be written otherwise
		}
	}
	t.index()
	if err := t.place(); err != nil {
		return nil, err
	}
	return t, t.check()
}

// MadeUp tells whether the name of node v was made up by this package: v has no class and
// is called pseudo and a number, with underscores, or _ and a number, where another node had
// that name. It panics if there is no node v.
func (t *Tree) MadeUp(v int) bool {
	digits, ok := strings.CutPrefix(t.name[v], "pseudo")
	return ok && t.class[v] < 0 && strings.Trim(digits, "0123456789_") == ""
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

// Error names the node.
func (e cycleError) Error() string {
	return fmt.Sprintf("node %s is its own ancestor, want a tree without cycles", e.called)
}

// checkParents refuses a parent that is no node.
func checkParents(parent []int) error {
	for v, up := range parent {
		if up < -1 || up >= len(parent) {
			return fmt.Errorf("node %d has the parent %d, want -1 for the root or 0 to %d", v, up, len(parent)-1)
		}
	}
	return nil
}

// preorder returns the nodes of a tree given by parents in preorder, siblings
// in the order of their numbers; called is how an error calls a node.
func preorder(parent []int, called func(v int) string) ([]int, error) {
	if len(parent) == 0 {
		return nil, errors.New("no nodes, want at least one")
	}
	if err := checkParents(parent); err != nil {
		return nil, err
	}
	first, child := childLists(parent)
	stack := make([]int, 0, 1)
	for v, up := range parent {
		if up < 0 {
			stack = append(stack, v)
		}
	}
	if len(stack) > 1 {
		return nil, fmt.Errorf("nodes %s and %s both have no parent, want one root", called(stack[0]), called(stack[1]))
	}
	order := make([]int, 0, len(parent))
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		order = append(order, v)
		stack = stack[:len(stack)-1]
		for _, c := range slices.Backward(child[first[v]:first[v+1]]) {
			stack = append(stack, c)
		}
	}
	if len(order) < len(parent) { // what the root does not reach leads into a cycle
		reached := make([]bool, len(parent))
		for _, v := range order {
			reached[v] = true
		}
		v := slices.Index(reached, false)
		for range parent { // its ancestors end in the cycle, after fewer steps than nodes
			v = parent[v]
		}
		return nil, cycleError{v, called(v)}
	}
	return order, nil
}

// childLists sorts the nodes by their parents: the children of v, ascending, are
// child[first[v]:first[v+1]]. It is a counting sort, O(nodes), and two arrays take less
// memory than a slice a node.
func childLists(parent []int) (first, child []int) {
	n := len(parent)
	first = make([]int, n+2) // one place further on until child is filled
	for _, up := range parent {
		if up >= 0 {
			first[up+2]++
		}
	}
	for v := range n + 1 {
		first[v+1] += first[v]
	}
	child = make([]int, first[n+1])
	for v, up := range parent {
		if up >= 0 {
			child[first[up+1]] = v
			first[up+1]++
		}
	}
	return first[:n+1], child
}

// index works out end, first and child from the parents, in preorder.
func (t *Tree) index() {
	t.first, t.child = childLists(t.parent)
	t.end = make([]int, len(t.parent))
	for v, up := range slices.Backward(t.parent) {
		t.end[v] = max(t.end[v], v+1)
		if up >= 0 {
			t.end[up] = max(t.end[up], t.end[v])
		}
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
	for v, x := range t.length {
		if err := badLength(x); err != nil {
			return fmt.Errorf("node %q: %w", t.name[v], err)
		}
	}
	return nil
}

// badLength says why x cannot be a length, nil if it can.
func badLength(x float64) error {
	if !(x >= 0) || math.IsInf(x, 1) {
		return fmt.Errorf("length %v, want a finite number, 0 or more", x)
	}
	return nil
}

// Check returns an error if the tree breaks a law of its type: preorder, one
// node for each class, names that differ, leaves with a class, finite lengths.
// Trees from this package pass it; it takes O(nodes) time.
func (t *Tree) Check() error {
	if err := t.checkAll(); err != nil {
		return fmt.Errorf("labeltree: %w", err)
	}
	return nil
}

// checkAll is Check without the name of the package: it builds the index anew and compares.
func (t *Tree) checkAll() error {
	n := len(t.parent)
	if len(t.class) != n || len(t.name) != n || t.length != nil && len(t.length) != n {
		return fmt.Errorf("%d parents, %d classes, %d names and %d lengths do not make a tree", n, len(t.class), len(t.name), len(t.length))
	}
	order, err := preorder(t.parent, strconv.Itoa)
	if err != nil {
		return err
	}
	for v, u := range order {
		if v != u {
			return fmt.Errorf("node %d stands at place %d, want nodes in preorder", u, v)
		}
	}
	fresh := &Tree{parent: t.parent, class: t.class, name: t.name, length: t.length}
	fresh.index()
	if err := cmp.Or(fresh.place(), fresh.check()); err != nil {
		return err
	}
	if !reflect.DeepEqual(fresh, t) {
		return errors.New("the tree's index does not fit its parents and classes")
	}
	return nil
}

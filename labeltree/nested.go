package labeltree

import (
	"fmt"
	"slices"

	"github.com/treeloss/treeloss/covertree"
)

// Kind says what a nested tree becomes: a UTree or a VTree.
type Kind int

// The kinds.
const (
	// VTree puts each class on a leaf and a pseudoclass on each inner node, the
	// paper's choice wherever it says "the tree loss".
	VTree Kind = iota
	// UTree puts each class on the topmost node that bears its label.
	UTree
)

// String returns "v-tree" or "u-tree", as the command line calls them.
func (k Kind) String() string {
	switch k {
	case VTree:
		return "v-tree"
	case UTree:
		return "u-tree"
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// Nested is a tree as the left half of the paper's figure 1 draws it: each
// inner node bears the label of one of its children, and each label stands on
// one leaf.
type Nested struct {
	Label    string
	Children []Nested
}

// U returns the U-tree of a cover tree over the labels, label i being point i:
// one node for each class, k in all, its parent the first other class above
// (the paper's Section 3.1).
func U(ct *covertree.Tree, labels []string) (*Tree, error) {
	return fromStructure(coverStructure(ct), labels, UTree)
}

// V returns the V-tree of a cover tree over the labels, label i being point i:
// a leaf for each class and pseudo1, pseudo2, ... in preorder above, at most
// 2k-1 nodes (the paper's Section 3.2).
func V(ct *covertree.Tree, labels []string) (*Tree, error) {
	return fromStructure(coverStructure(ct), labels, VTree)
}

// FromNested returns the U-tree or V-tree of a nested tree. Classes are
// numbered as their labels first occur in preorder. It refuses an inner node
// whose label is not the label of exactly one child, and a label on two leaves.
func FromNested(n Nested, kind Kind) (*Tree, error) {
	s, labels, err := nestedStructure(n)
	if err != nil {
		return nil, err
	}
	return fromStructure(s, labels, kind)
}

// structure is what a cover tree and a nested tree have in common: nodes in
// preorder, each with a class and a parent; an inner node has the class of one
// child, and each class has one leaf.
type structure struct {
	class, parent []int
	inner         []bool
}

// add adds a node behind all others.
func (s *structure) add(class, parent int, inner bool) int {
	s.class = append(s.class, class)
	s.parent = append(s.parent, parent)
	s.inner = append(s.inner, inner)
	return len(s.class) - 1
}

// coverStructure takes over the nodes of a cover tree, which are in preorder.
func coverStructure(ct *covertree.Tree) structure {
	var s structure
	for _, n := range ct.Nodes() {
		s.add(n.Point, n.Parent, len(n.Children) > 0)
	}
	return s
}

// nestedStructure lists n in preorder.
func nestedStructure(n Nested) (s structure, labels []string, err error) {
	class, leaf := make(map[string]int), make(map[string]bool)
	var list func(n *Nested, parent int) error
	list = func(n *Nested, parent int) error {
		c, known := class[n.Label]
		if !known {
			c = len(labels)
			class[n.Label] = c
			labels = append(labels, n.Label)
		}
		here := s.add(c, parent, len(n.Children) > 0)
		if len(n.Children) == 0 {
			if leaf[n.Label] {
				return fmt.Errorf("labeltree: label %q stands on two leaves, want one", n.Label)
			}
			leaf[n.Label] = true
			return nil
		}
		same := 0
		for _, child := range n.Children {
			if child.Label == n.Label {
				same++
			}
		}
		if same != 1 {
			return fmt.Errorf("labeltree: inner node %q has %d children of that label, want one", n.Label, same)
		}
		for i := range n.Children {
			if err := list(&n.Children[i], here); err != nil {
				return err
			}
		}
		return nil
	}
	return s, labels, list(&n, -1)
}

// fromStructure makes the tree over the labels. For a class i and its leaf the paths are
//
//	U:  the classes on the way up, each once   P_i of the paper's Section 3.1
//	V:  the nodes on the way up                P_i of Section 3.2
func fromStructure(s structure, labels []string, kind Kind) (*Tree, error) {
	k := 0
	for _, inner := range s.inner {
		if !inner {
			k++
		}
	}
	taken, err := takeLabels(labels, k)
	if err != nil {
		return nil, err
	}
	var p parts
	switch kind {
	case VTree:
		for v, c := range s.class {
			if s.inner[v] {
				p.add(s.parent[v], -1, "", 0)
			} else {
				p.add(s.parent[v], c, labels[c], 0)
			}
		}
	case UTree:
		// In preorder the topmost node of a class is the first, and what comes
		// below a class's topmost node stays together: dropping all others
		// leaves a preorder.
		node := slices.Repeat([]int{-1}, k)
		for v, c := range s.class {
			if node[c] >= 0 {
				continue
			}
			parent := -1
			if up := s.parent[v]; up >= 0 {
				parent = node[s.class[up]]
			}
			node[c] = p.add(parent, c, labels[c], 0)
		}
	default:
		return nil, fmt.Errorf("labeltree: tree kind %v, want VTree or UTree", kind)
	}
	return p.tree(taken)
}

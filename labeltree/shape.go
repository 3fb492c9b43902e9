package labeltree

import (
	"fmt"
	"slices"
)

// Shape is the size of a tree in a few numbers.
type Shape struct {
	Nodes    int     `json:"nodes"`
	Classes  int     `json:"classes"`
	Inner    int     `json:"inner_nodes"` // that have children
	Height   int     `json:"height"`      // edges of the longest path
	Depth    float64 `json:"mean_depth"`  // edges from the root to a class, on average
	FanOut   FanOut  `json:"fan_out"`     // children of the inner nodes
	Weighted bool    `json:"weighted"`    // edges have lengths
}

// FanOut is how many children the inner nodes of a tree have.
type FanOut struct {
	Min  int     `json:"min"`
	Mean float64 `json:"mean"`
	Max  int     `json:"max"`
}

// Shape measures the tree in O(nodes).
func (t *Tree) Shape() Shape {
	depth := t.depths()
	s := Shape{Nodes: t.Len(), Classes: t.Classes(), Height: slices.Max(depth), Weighted: t.Weighted()}
	for v := range t.Len() {
		n := len(t.Children(v))
		if n == 0 {
			continue
		}
		if s.Inner == 0 || n < s.FanOut.Min {
			s.FanOut.Min = n
		}
		s.Inner++
		s.FanOut.Max = max(s.FanOut.Max, n)
	}
	if s.Inner > 0 {
		s.FanOut.Mean = float64(t.Len()-1) / float64(s.Inner) // all but the root are children
	}
	sum := 0
	for _, v := range t.node {
		sum += depth[v]
	}
	s.Depth = float64(sum) / float64(t.Classes())
	return s
}

// String says the shape in one line.
func (s Shape) String() string {
	kind := ""
	if s.Weighted {
		kind = ", with edge lengths"
	}
	return fmt.Sprintf("%d nodes, %d classes, %d inner nodes with %d to %d children (mean %.1f), height %d, mean depth of a class %.1f%s",
		s.Nodes, s.Classes, s.Inner, s.FanOut.Min, s.FanOut.Max, s.FanOut.Mean, s.Height, s.Depth, kind)
}

// CheckOthers returns an error that names a class of the tree which is not among sorted
// labels.
func (t *Tree) CheckOthers(labels []string) error {
	if extra := without(slices.Sorted(slices.Values(t.Labels())), labels); len(extra) > 0 {
		return fmt.Errorf("class %q of the tree is not among the %d labels (%d are too many); build the tree from the same labels", extra[0], len(labels), len(extra))
	}
	return nil
}

// CheckLabels returns an error that names a class unless those of the tree are the sorted
// labels.
func (t *Tree) CheckLabels(labels []string) error {
	if missing := without(labels, slices.Sorted(slices.Values(t.Labels()))); len(missing) > 0 {
		return fmt.Errorf("class %q is not in the tree (%d of %d are missing); add it, or build the tree from the same labels", missing[0], len(missing), len(labels))
	}
	return t.CheckOthers(labels)
}

// without returns the texts of sorted a that sorted b has not.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(x string) bool {
		_, found := slices.BinarySearch(b, x)
		return found
	})
}

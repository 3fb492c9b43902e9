package extreme

import (
	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
)

// part returns what is known about some classes alone. With none there is one more, the
// last, about which nothing is known.
func part(info classinfo.Info, classes []int32, none bool) classinfo.Info {
	var out classinfo.Info
	for _, c := range classes {
		out.Labels = append(out.Labels, info.Labels[c])
	}
	if none {
		out.Labels = append(out.Labels, "")
	}
	if m := info.Vectors; m != nil {
		out.Vectors = matrix.NewDense(len(out.Labels), m.Columns)
		for n, c := range classes {
			copy(out.Vectors.Row(n), m.Row(int(c)))
		}
	}
	if info.Taxonomy != nil {
		out.Taxonomy = subtree(info.Taxonomy, classes, none)
	}
	return out
}

// subtree returns the tree of some classes, in their order, without nodes of a single
// child. With none there is one more class, the last, right below the root.
func subtree(t *labeltree.Tree, classes []int32, none bool) *labeltree.Tree {
	// The nodes above the classes, and how many of their children are among them.
	children := make(map[int]int)
	for _, c := range classes {
		for v := t.Node(int(c)); v > 0; v = t.Parent(v) {
			up := t.Parent(v)
			children[up]++
			if children[up] > 1 {
				break // further up it was counted
			}
		}
	}
	nodes := []labeltree.Node{{Name: "\x00root", Parent: -1, Class: -1}}
	place := map[int]int{0: 0} // of the nodes of t that are kept
	// keep returns the place of the nearest kept node at or above v.
	var keep func(v int) int
	keep = func(v int) int {
		if at, ok := place[v]; ok {
			return at
		}
		up := keep(t.Parent(v))
		if children[v] < 2 {
			return up
		}
		nodes = append(nodes, labeltree.Node{Name: t.Name(v), Parent: up, Class: -1, Length: 1})
		place[v] = len(nodes) - 1
		return len(nodes) - 1
	}
	for n, c := range classes {
		v := t.Node(int(c))
		nodes = append(nodes, labeltree.Node{Name: t.Name(v), Parent: keep(t.Parent(v)), Class: n, Length: 1})
	}
	if none {
		nodes = append(nodes, labeltree.Node{Name: "\x00none", Parent: 0, Class: len(classes), Length: 1})
	}
	out, err := labeltree.New(nodes)
	if err != nil {
		return nil // no tree has two nodes of one name, so neither has this
	}
	out, _ = out.WithLengths(nil)
	return out
}

package extreme

import (
	"fmt"

	"github.com/treeloss/treeloss/labeltree"
)

// LabelTree returns the tree that predictions walk down, with the classes of a leaf as its
// children. Its inner nodes are called group 1, group 2, ... in the order of their levels,
// with a stroke behind where a class is called so. It takes O(k).
func (m *Model) LabelTree() (*labeltree.Tree, error) {
	taken := make(map[string]bool, len(m.Labels))
	for _, label := range m.Labels {
		taken[label] = true
	}
	nodes := make([]labeltree.Node, len(m.Partition.Nodes), len(m.Partition.Nodes)+len(m.Labels))
	nodes[0] = labeltree.Node{Parent: -1}
	for v, n := range m.Partition.Nodes {
		name := "root"
		if v > 0 {
			name = fmt.Sprintf("group %d", v)
		}
		for taken[name] {
			name += "'"
		}
		taken[name] = true
		nodes[v].Name, nodes[v].Class, nodes[v].Length = name, -1, 1
		for c := range n.Children {
			nodes[n.Child+c].Parent = v
		}
		if n.Leaf() {
			for _, class := range m.Partition.Order[n.First:n.End] {
				nodes = append(nodes, labeltree.Node{Name: m.Labels[class], Parent: v, Class: int(class), Length: 1})
			}
		}
	}
	t, err := labeltree.New(nodes)
	if err != nil {
		return nil, fmt.Errorf("extreme: %w", err)
	}
	return t.WithLengths(nil)
}

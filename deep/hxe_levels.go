package deep

import (
	"math/bits"
	"slices"

	"github.com/treeloss/treeloss/loss"
)

// hxeLevel has the nodes of one depth in rows: the families one after the other,
// then the leaves.
type hxeLevel struct {
	families []family
	leaves   []int // classes
	from     []int // of each node, its row among the children in the level above
}

// family is nodes with about as many children, and the children. Nodes with fewer than the widest
// are filled up with their first child, which real leaves out.
type family struct {
	nodes, width int
	// nodes x width, of each child:
	row       []int // in the level below
	real      []float64
	low, high []float64 // the places of the classes below it are low <= place < high
	weight    []float64 // λ
}

// hxeNode is what the levels are made of.
type hxeNode struct {
	loss.HXENode
	children  []*hxeNode
	low, high float64 // places of the classes below
	depth     int
	row       int // in its level
}

// size is 0 for a leaf, and n for a node with 2^(n-1)+1 to 2^n children.
func (n *hxeNode) size() int { return bits.Len(uint(max(len(n.children)-1, 0))) }

func newHXE(l *loss.HXE, k int) *hxe {
	h := &hxe{classes: make([]int, k), place: make([]float64, k)}
	levels := h.measure(l.Nodes())
	h.levels = make([]hxeLevel, len(levels))
	h.levels[0].from = []int{0} // of the root, that down starts with
	leaves := 0
	for d, level := range levels {
		if d+1 < len(levels) {
			h.levels[d+1].from = make([]int, len(levels[d+1]))
		}
		row := 0 // of the children so far
		for len(level) > 0 && len(level[0].children) > 0 {
			n := slices.IndexFunc(level, func(v *hxeNode) bool { return v.size() != level[0].size() })
			if n < 0 {
				n = len(level)
			}
			f := newFamily(level[:n])
			for i, c := range f.row {
				if f.real[i] != 0 {
					h.levels[d+1].from[c] = row + i
				}
			}
			row += len(f.row)
			h.levels[d].families = append(h.levels[d].families, f)
			level = level[n:]
		}
		for _, v := range level {
			h.levels[d].leaves = append(h.levels[d].leaves, v.Class)
			h.classes[v.Class] = leaves
			leaves++
		}
	}
	return h
}

// measure sets the places of the classes and returns the nodes by depth, in
// each level those with most children first, leaves last.
func (h *hxe) measure(tree []loss.HXENode) [][]*hxeNode {
	var levels [][]*hxeNode
	nodes := make([]hxeNode, len(tree))
	leaves := 0.0
	for i, n := range tree {
		v := &nodes[i]
		*v = hxeNode{HXENode: n, low: leaves}
		if n.Class >= 0 {
			h.place[n.Class] = leaves
			leaves++
		}
		v.high = leaves
		if n.Parent >= 0 {
			above := &nodes[n.Parent]
			v.depth = above.depth + 1
			above.children = append(above.children, v)
		}
		if v.depth == len(levels) {
			levels = append(levels, nil)
		}
		levels[v.depth] = append(levels[v.depth], v)
	}
	for i := len(nodes) - 1; i > 0; i-- { // children before parents
		above := &nodes[tree[i].Parent]
		above.high = max(above.high, nodes[i].high)
	}
	for _, level := range levels {
		slices.SortStableFunc(level, func(a, b *hxeNode) int { return b.size() - a.size() })
		for i, v := range level {
			v.row = i
		}
	}
	return levels
}

// newFamily is for nodes of one size, in rows.
func newFamily(nodes []*hxeNode) family {
	f := family{nodes: len(nodes)}
	for _, v := range nodes {
		f.width = max(f.width, len(v.children))
	}
	for _, v := range nodes {
		for i := range f.width {
			if i >= len(v.children) { // no place is below it
				f.row, f.real = append(f.row, v.children[0].row), append(f.real, 0)
				f.low, f.high, f.weight = append(f.low, 0), append(f.high, 0), append(f.weight, 0)
				continue
			}
			c := v.children[i]
			f.row, f.real = append(f.row, c.row), append(f.real, 1)
			f.low, f.high, f.weight = append(f.low, c.low), append(f.high, c.high), append(f.weight, c.Weight)
		}
	}
	return f
}

package kernel

import "fmt"

// Tree is a tree over classes, laid out for K passes over panels: products
// with K = A Aᵀ, where A has sqrt(length of v) for the classes at or below node
// v. Rows 0..k-1 of a panel are the classes, then come the inner nodes, parents
// before children, and a row of zeros above the root. A class without children
// is a row only; one that has them sits on an inner node with length 0.
//
// A Tree does not change and may be shared by goroutines.
type Tree struct {
	classParent []int32 // row number
	classLength []float32
	nodeParent  []int32 // of each inner node, row number
	nodeLength  []float32
	start       []int32 // of each inner node's part of child; one more at the end
	child       []int32 // row numbers
}

// NewTree lays out a tree: the parent of each node, less than the node and
// -1 for the root, node 0; the length of the edge above each node; the node of
// each class. O(nodes).
func NewTree(parent []int32, length []float64, class []int32) (*Tree, error) {
	n, k := len(parent), len(class)
	if n == 0 || k == 0 || len(length) != n || parent[0] != -1 {
		return nil, fmt.Errorf("kernel: a tree of %d nodes, %d lengths and %d classes, want a root that is node 0", n, len(length), k)
	}
	inner, holds := make([]bool, n), make([]int, n)
	inner[0] = true
	for v, p := range parent[1:] {
		if p < 0 || int(p) > v {
			return nil, fmt.Errorf("kernel: node %d of a tree has the parent %d, want 0 to %d", v+1, p, v)
		}
		inner[p] = true
	}
	for c, v := range class {
		if v < 0 || int(v) >= n {
			return nil, fmt.Errorf("kernel: class %d sits on node %d of %d", c, v, n)
		}
		if holds[v]++; holds[v] > 1 {
			inner[v] = true
		}
	}
	t := &Tree{classParent: make([]int32, k), classLength: make([]float32, k)}
	row := make([]int32, n) // of each node
	for v := range parent {
		if inner[v] || holds[v] == 0 {
			row[v] = int32(k + len(t.nodeParent))
			t.nodeParent = append(t.nodeParent, 0)
			t.nodeLength = append(t.nodeLength, float32(length[v]))
		}
	}
	above := int32(k + len(t.nodeParent)) // the row of zeros
	for c, v := range class {
		t.classParent[c] = row[v]
		if row[v] == 0 { // a node of its own
			row[v] = int32(c)
			t.classLength[c] = float32(length[v])
			t.classParent[c] = row[parent[v]]
		}
	}
	for v, r := range row {
		if i := int(r) - k; i >= 0 {
			t.nodeParent[i] = above
			if v > 0 {
				t.nodeParent[i] = row[parent[v]]
			}
		}
	}
	t.start = make([]int32, len(t.nodeParent)+1)
	all := append(append([]int32{}, t.classParent...), t.nodeParent...)
	for _, p := range all {
		if p != above {
			t.start[p-int32(k)+1]++
		}
	}
	for i := range t.nodeParent {
		t.start[i+1] += t.start[i]
	}
	next := append([]int32{}, t.start...)
	t.child = make([]int32, t.start[len(t.nodeParent)])
	for r, p := range all {
		if p != above {
			t.child[next[p-int32(k)]] = int32(r)
			next[p-int32(k)]++
		}
	}
	return t, nil
}

// Classes returns k.
func (t *Tree) Classes() int { return len(t.classParent) }

// Rows returns how many rows a panel needs.
func (t *Tree) Rows() int { return len(t.classParent) + len(t.nodeParent) + 1 }

// MultiplyRows replaces each of the rows of z (rows x k) by K times it, a panel
// of examples at a time. scratch is memory from an earlier call, or nil; what
// is returned is to be handed to the next. O(rows * nodes).
func (t *Tree) MultiplyRows(z []float32, rows int, scratch []float32) []float32 {
	return t.multiplyRows(best, z, rows, scratch)
}

// multiplyRows is MultiplyRows on a kind: rows become columns of a panel, so that each
// vector instruction works on as many examples.
func (t *Tree) multiplyRows(kd kind, z []float32, rows int, scratch []float32) []float32 {
	nr, k := kd.panelCols(), t.Classes()
	panel := grow(scratch, t.Rows()*nr)
	for lo := 0; lo < rows; lo += nr {
		n := min(nr, rows-lo)
		transposeRows(kd, panel, nr, z[lo*k:], k, n, k)
		kernelRows32(kd, t, panel)
		transposeRows(kd, z[lo*k:], k, panel, nr, k, n)
	}
	return panel
}

// multiplyOne replaces z, of length Rows with the classes first, by K times it.
func (t *Tree) multiplyOne(z []float32) {
	k := len(t.classParent)
	z[t.Rows()-1] = 0
	for i := len(t.nodeParent) - 1; i >= 0; i-- {
		var sum float32
		for _, c := range t.child[t.start[i]:t.start[i+1]] {
			sum += z[c]
		}
		z[k+i] = sum
	}
	for i, p := range t.nodeParent {
		z[k+i] = t.nodeLength[i]*z[k+i] + z[p]
	}
	for c, p := range t.classParent {
		z[c] = t.classLength[c]*z[c] + z[p]
	}
}

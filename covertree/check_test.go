package covertree

import (
	"errors"
	"fmt"

	"github.com/treeloss/treeloss/metric"
)

// errLaw is wrapped by what check returns for a tree that breaks a law.
var errLaw = errors.New("cover tree law broken")

// check verifies the form of the tree and all its laws (see the package
// comment) by comparing every pair of points: k^2 distances. New's trees pass
// it over any true metric; an error that wraps errLaw on such a tree means
// that the space breaks the triangle inequality, or a mistake in this package.
func (t *Tree) check() error {
	if err := t.checkNodes(); err != nil {
		return err
	}
	for _, p := range t.order[1:] {
		if err := t.checkParent(p); err != nil {
			return err
		}
	}
	for n, p := range t.order {
		for _, q := range t.order[:n] {
			level := min(t.points[p].top, t.points[q].top)
			if level == Bottom {
				continue
			}
			x, err := t.over(p, q)
			if err != nil {
				return err
			}
			if !(x > power(t.base, level)) {
				return broken("separation: points %d and %d of level %d are %v apart, want more than %v", p, q, level, x*t.scale, t.Radius(level))
			}
		}
	}
	return nil
}

func broken(format string, args ...any) error {
	return fmt.Errorf("covertree: "+format+": %w", append(args, errLaw)...)
}

// over returns the distance of two points over R, 0 if all points are equal.
func (t *Tree) over(p, q int) (float64, error) {
	d := t.space.Distance(p, q)
	if err := metric.CheckPair(p, q, d); err != nil {
		return 0, fmt.Errorf("covertree: %w", err)
	}
	if t.scale == 0 {
		return d, nil
	}
	return d / t.scale, nil
}

// checkParent verifies nesting and covering for one point, and that its parent
// is the nearest point it could have had.
func (t *Tree) checkParent(p int) error {
	at := &t.points[p]
	parent := int(at.parent)
	if parent < 0 || parent >= len(t.points) || t.points[parent].rank >= at.rank {
		return broken("point %d has the parent %d, want a point inserted before it", p, parent)
	}
	x, err := t.over(p, parent)
	if err != nil {
		return err
	}
	if at.top == Bottom {
		if x > negligible || t.points[parent].top == Bottom {
			return broken("point %d is at the bottom below %d, %v away, want an equal point above the bottom", p, parent, x*t.scale)
		}
		return nil
	}
	level := at.top + 1
	if t.points[parent].top < level {
		return broken("nesting: parent %d of point %d is topmost at level %d, want %d or higher", parent, p, t.points[parent].top, level)
	}
	if x > power(t.base, level) {
		return broken("covering: point %d is %v from its parent %d of level %d, want at most %v", p, x*t.scale, parent, level, t.Radius(level))
	}
	for _, q := range t.order[:at.rank] {
		other := &t.points[q]
		if other.top < level {
			continue
		}
		y, err := t.over(p, q)
		if err != nil {
			return err
		}
		if y < x || y == x && other.rank < t.points[parent].rank {
			return broken("nearest parent: point %d hangs below %d at %v, want %d at %v", p, parent, x*t.scale, q, y*t.scale)
		}
	}
	return nil
}

// checkNodes verifies that the nodes are a compressed tree in preorder that
// says the same as the points.
func (t *Tree) checkNodes() error {
	k := len(t.points)
	if len(t.nodes) < k || len(t.nodes) > 2*k-1 {
		return broken("%d nodes for %d points, want %d to %d", len(t.nodes), k, k, 2*k-1)
	}
	leaf := make([]bool, k)
	for v, n := range t.nodes {
		switch {
		case n.Point < 0 || n.Point >= k:
			return broken("node %d has point %d, want 0 to %d", v, n.Point, k-1)
		case (v == 0) != (n.Parent == -1) || n.Parent >= v:
			return broken("node %d has the parent %d, want a node before it", v, n.Parent)
		case len(n.Children) == 1:
			return broken("node %d has a single child, want it compressed", v)
		case len(n.Children) == 0 && (leaf[n.Point] || n.Level != Bottom):
			return broken("point %d: leaf %d at level %d, want one leaf, at the bottom", n.Point, v, n.Level)
		case len(n.Children) == 0:
			leaf[n.Point] = true
		}
		for i, c := range n.Children {
			if c <= v || c >= len(t.nodes) || t.nodes[c].Parent != v || i == 0 && c != v+1 || i > 0 && c <= n.Children[i-1] {
				return broken("node %d lists the child %d, want children in preorder that name it their parent", v, c)
			}
			child := t.nodes[c]
			same := child.Point == n.Point
			switch {
			case same != (i == 0):
				return broken("node %d of point %d: child %d has point %d, want the same point first and only first", v, n.Point, i, child.Point)
			case !same && int(t.points[child.Point].parent) != n.Point:
				return broken("node %d puts point %d below %d, want %d", v, child.Point, n.Point, t.points[child.Point].parent)
			case child.Level >= n.Level && n.Level != Bottom:
				return broken("node %d of level %d has a child of level %d, want a lower one", v, n.Level, child.Level)
			case !same && n.Level == Bottom && t.points[child.Point].top != Bottom, !same && n.Level != Bottom && t.points[child.Point].top != n.Level-1:
				return broken("node %d of level %d has a child topmost at level %d, want one lower", v, n.Level, t.points[child.Point].top)
			}
		}
	}
	for p, has := range leaf {
		if !has {
			return broken("point %d has no leaf", p)
		}
	}
	return nil
}

// height returns the number of edges on the longest path from the root node
// to a leaf: 0 for one point, 1 for a star.
func (t *Tree) height() int {
	depth, height := make([]int, len(t.nodes)), 0
	for v := 1; v < len(t.nodes); v++ {
		depth[v] = depth[t.nodes[v].Parent] + 1
		height = max(height, depth[v])
	}
	return height
}

// fanOut describes how many children the inner nodes have.
type fanOut struct {
	Inner int     // inner nodes: the pseudoclasses of a V-tree
	Mean  float64 // 0 without inner nodes
	Max   int
}

// fanOut returns the numbers of children of the inner nodes, each of which
// counts the point's own further node.
func (t *Tree) fanOut() fanOut {
	var f fanOut
	for _, n := range t.nodes {
		if c := len(n.Children); c > 0 {
			f.Inner, f.Max = f.Inner+1, max(f.Max, c)
		}
	}
	if f.Inner > 0 { // each node but the root is a child
		f.Mean = float64(len(t.nodes)-1) / float64(f.Inner)
	}
	return f
}

package labeltree

import (
	"errors"
	"fmt"

	"github.com/treeloss/treeloss/metric"
)

// maxLinkage is the most classes that Linkage takes: at 40,000 it needs 3.2 GB.
const maxLinkage = 40_000

// maxHeight keeps the square of a merge height finite.
const maxHeight = 1e150

// ErrTooMany is returned, wrapped, for more classes than Linkage can hold.
var ErrTooMany = errors.New("too many classes for a linkage")

// Linkage joins the classes by average linkage (Sokal and Michener 1958): the
// two groups with the smallest mean distance between their classes, height h of
// the join, again and again. The tree is of V form with 2k-1 nodes, each inner
// node with two children, the one with the lower class first.
//
// The length of node v is h_parent^2 - h_v^2, with h = 0 at a leaf; the root's
// is 0. So for A of package sharing, (A Aᵀ)_ij = H^2 - h_ij^2, where h_ij is the
// height at which i and j are joined and H the root's.
// The unit is the square of the metric's. Equal classes and ties give lengths
// of 0: two classes at distance 0 then have the same row in A, and a model
// that is to tell them apart needs something added to A Aᵀ.
//
// It takes O(k^2) time and 4 k^2 bytes, by the nearest-neighbour chain (Benzécri
// 1982), and refuses more than 40,000 classes (ErrTooMany). Ties are broken by
// the order of the classes. A distance that is NaN, infinite or negative is a
// *metric.PairError.
//
// With more than 8192 classes the joins are chosen by distances rounded to
// float32, in 2 k^2 bytes (800 MB at 20,000), so two joins whose heights differ
// by less than some 1e-6 may be swapped. The heights of the joins are then
// worked out once more from the space's own distances, so each of them is the
// mean over its pairs as with fewer classes; every distance is asked for twice.
func Linkage(space metric.Space, labels []string) (*Tree, error) {
	k := space.Len()
	taken, err := takeLabels(labels, k)
	if err != nil {
		return nil, err
	}
	if k > maxLinkage {
		return nil, fmt.Errorf("labeltree: %w: %d, want at most %d; a V-tree of a cover tree has no limit", ErrTooMany, k, maxLinkage)
	}
	check := func(i, j int, x float64) error {
		if err := metric.CheckPair(i, j, x); err != nil {
			return fmt.Errorf("labeltree: %w", err)
		}
		if x > maxHeight {
			return fmt.Errorf("labeltree: distance of %q and %q is %v, whose square is too large; divide all distances by one number", labels[i], labels[j], x)
		}
		return nil
	}
	merges, err := average(space, check)
	if err != nil {
		return nil, err
	}
	p := dendrogram(merges, labels)
	return p.tree(taken)
}

// dendrogram lists the tree of the merges in preorder.
func dendrogram(merges []merge, labels []string) parts {
	type visit struct {
		group, parent int
		above         float64 // height of the parent
	}
	k := len(labels)
	var p parts
	height := 0.0
	if k > 1 {
		height = merges[k-2].height // the last merge is the root
	}
	stack := []visit{{group: 2*k - 2, parent: -1, above: height}}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if v.group < k {
			p.length[p.add(v.parent, v.group, labels[v.group], 0)] = v.above * v.above
			continue
		}
		m := merges[v.group-k]
		here := p.add(v.parent, -1, "", 0)
		// Not a difference of squares, which would lose the digits of a small
		// step between two large heights.
		p.length[here] = (v.above - m.height) * (v.above + m.height)
		stack = append(stack, visit{m.right, here, m.height}, visit{m.left, here, m.height})
	}
	return p
}

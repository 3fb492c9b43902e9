package labeltree

import (
	"errors"
	"fmt"
	"math"

	"github.com/treeloss/treeloss/metric"
)

// maxLinkage is the most classes that Linkage takes: at 40,000 it needs 6.4 GB.
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
func Linkage(space metric.Space, labels []string) (*Tree, error) {
	k := space.Len()
	taken, err := takeLabels(labels, k)
	if err != nil {
		return nil, err
	}
	if k > maxLinkage {
		return nil, fmt.Errorf("labeltree: %w: %d, want at most %d; a V-tree of a cover tree has no limit", ErrTooMany, k, maxLinkage)
	}
	d := make([]float64, 0, k*(k-1)/2)
	for i := range k {
		for j := i + 1; j < k; j++ {
			x := space.Distance(i, j)
			if err := metric.CheckPair(i, j, x); err != nil {
				return nil, fmt.Errorf("labeltree: %w", err)
			}
			if x > maxHeight {
				return nil, fmt.Errorf("labeltree: distance of %q and %q is %v, whose square is too large; divide all distances by one number", labels[i], labels[j], x)
			}
			d = append(d, x)
		}
	}
	p := dendrogram(join(k, d), labels)
	if err := namePseudoclasses(&p, taken); err != nil {
		return nil, fmt.Errorf("labeltree: %w", err)
	}
	t, err := assemble(p)
	if err != nil {
		return nil, fmt.Errorf("labeltree: %w", err)
	}
	return t, nil
}

// merge joins two groups. Groups 0 to k-1 are the classes, group k+n is made
// by merge n; the left one has the lower lowest class.
type merge struct {
	left, right int
	height      float64
}

// join runs the nearest-neighbour chain over the distances d, which it
// overwrites, and returns the k-1 merges, a group after those it is made of.
//
// The chain starts anywhere and steps from a group to its nearest other group
// until two are nearest to each other; these are joined. With average linkage a
// join never brings another group nearer than the nearer of the two was, so
// what is left of the chain stays a chain, and the joins are those of the plain
// method in another order.
func join(k int, d []float64) []merge {
	merges := make([]merge, 0, k-1)
	// A group lives in the slot of its lowest class.
	size := make([]float64, k) // classes in the group, 0 when it is gone
	group := make([]int, k)
	height := make([]float64, k) // of the group
	for c := range k {
		size[c], group[c] = 1, c
	}
	var chain []int
	start := 0
	for len(merges) < k-1 {
		if len(chain) == 0 {
			for size[start] == 0 {
				start++
			}
			chain = append(chain, start)
		}
		tip := chain[len(chain)-1]
		nearest, least := -1, math.Inf(1)
		if len(chain) > 1 { // on a tie go back, or the chain could run in a circle
			nearest = chain[len(chain)-2]
			least = d[metric.Condensed(k, tip, nearest)]
		}
		for j, n := range size {
			if n == 0 || j == tip {
				continue
			}
			if x := d[metric.Condensed(k, tip, j)]; x < least {
				nearest, least = j, x
			}
		}
		if len(chain) < 2 || nearest != chain[len(chain)-2] {
			chain = append(chain, nearest)
			continue
		}
		chain = chain[:len(chain)-2]
		low, high := min(tip, nearest), max(tip, nearest)
		total := size[low] + size[high]
		for j, n := range size {
			if n == 0 || j == low || j == high {
				continue
			}
			at := metric.Condensed(k, low, j)
			a, b := d[at], d[metric.Condensed(k, high, j)]
			if a != b { // else the mean is a, to the last bit: ties stay ties
				d[at] = (a*size[low] + b*size[high]) / total
			}
		}
		// Heights rise in exact arithmetic; a mean can be rounded to just below.
		h := max(least, height[low], height[high])
		merges = append(merges, merge{left: group[low], right: group[high], height: h})
		size[low], size[high] = total, 0
		group[low], height[low] = k+len(merges)-1, h
	}
	return merges
}

// dendrogram lists the tree of the merges in preorder.
func dendrogram(merges []merge, labels []string) parts {
	type visit struct {
		group, parent int
		above         float64 // height of the parent
	}
	k := len(labels)
	p := parts{length: make([]float64, 0, 2*k-1)}
	height := 0.0
	if k > 1 {
		height = merges[k-2].height // the last merge is the root
	}
	stack := []visit{{group: 2*k - 2, parent: -1, above: height}}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if v.group < k {
			p.add(v.parent, v.group, labels[v.group])
			p.length = append(p.length, v.above*v.above)
			continue
		}
		m := merges[v.group-k]
		here := p.add(v.parent, -1, "")
		// Not a difference of squares, which would lose the digits of a small
		// step between two large heights.
		p.length = append(p.length, (v.above-m.height)*(v.above+m.height))
		stack = append(stack, visit{m.right, here, m.height}, visit{m.left, here, m.height})
	}
	return p
}

package labeltree

import (
	"math"

	"github.com/treeloss/treeloss/metric"
)

// merge joins two groups. Groups 0 to k-1 are the classes, group k+n is made
// by merge n; the left one has the lower lowest class.
type merge struct {
	left, right int
	height      float64
}

// groups are the groups that are left to join, each in the slot of its lowest
// class, and the mean distances between them.
type groups[T float32 | float64] struct {
	d      []T       // of two slots, in the order of metric.Condensed; +Inf if one is empty
	size   []float64 // classes in the group of each slot, 0 if it is empty
	group  []int
	height []float64 // at which the group was joined
	chain  []int     // slots
	start  int       // slots before are empty
}

// join runs the nearest-neighbour chain over the distances d, which it
// overwrites, and returns the k-1 merges, a group after those it is made of.
//
// The chain starts anywhere and steps from a group to its nearest other group
// until two are nearest to each other; these are joined. Average linkage is
// reducible (Bruynooghe 1978): a join never brings another group nearer than the
// nearer of the two was, so what is left of the chain stays a chain, and the joins
// are those of the plain method in another order. Each step looks at one row of
// distances, O(k), and there are some 3k steps: O(k²) in all.
func join[T float32 | float64](k int, d []T) []merge {
	merges := make([]merge, 0, k-1)
	g := &groups[T]{d: d, size: make([]float64, k), group: make([]int, k), height: make([]float64, k)}
	for c := range k {
		g.size[c], g.group[c] = 1, c
	}
	for len(merges) < k-1 {
		if left := k - len(merges); 4*left < 3*len(g.size) {
			g.compact(left)
		}
		if len(g.chain) == 0 {
			for g.size[g.start] == 0 {
				g.start++
			}
			g.chain = append(g.chain, g.start)
		}
		tip, before := g.chain[len(g.chain)-1], -1
		if len(g.chain) > 1 {
			before = g.chain[len(g.chain)-2]
		}
		nearest, least := g.nearest(tip, before)
		if before < 0 || nearest != before {
			g.chain = append(g.chain, nearest)
			continue
		}
		g.chain = g.chain[:len(g.chain)-2]
		low, high := min(tip, nearest), max(tip, nearest)
		// Heights rise in exact arithmetic; a mean can be rounded to just below.
		h := max(float64(least), g.height[low], g.height[high])
		merges = append(merges, merge{left: g.group[low], right: g.group[high], height: h})
		g.unite(low, high)
		g.size[low], g.size[high] = g.size[low]+g.size[high], 0
		g.group[low], g.height[low] = k+len(merges)-1, h
	}
	return merges
}

// nearest returns the slot nearest to the slot tip: on a tie the one before it
// in the chain, or that could run in a circle, else the lowest.
func (g *groups[T]) nearest(tip, before int) (slot int, least T) {
	m := len(g.size)
	slot, least = -1, T(math.Inf(1))
	if before >= 0 {
		slot, least = before, g.d[metric.Condensed(m, tip, before)]
	}
	for j, at := 0, tip-1; j < tip; j++ {
		if x := g.d[at]; x < least {
			slot, least = j, x
		}
		at += m - j - 2 // from the pair (j, tip) to the pair (j+1, tip)
	}
	if tip+1 < m {
		at := metric.Condensed(m, tip, tip+1)
		for n, x := range g.d[at : at+m-tip-1] {
			if x < least {
				slot, least = tip+1+n, x
			}
		}
	}
	return slot, least
}

// unite sets the distances of slot low to those of the joined group, and those
// of slot high to infinity, by the update of Lance and Williams (1967) for average
// linkage, n being sizes:
//
//	d(low ∪ high, j) = (n_low d(low, j) + n_high d(high, j)) / (n_low + n_high)
//
// It walks through the condensed triangle by steps between places, as nearest does:
// Condensed, called for each pair, would cost more than the mean.
func (g *groups[T]) unite(low, high int) {
	m := len(g.size)
	d, infinite := g.d, T(math.Inf(1))
	sizeLow, sizeHigh := g.size[low], g.size[high]
	total := sizeLow + sizeHigh
	mean := func(a, b T) T {
		if a == b { // the mean is a, to the last bit: ties stay ties
			return a
		}
		return T((float64(a)*sizeLow + float64(b)*sizeHigh) / total)
	}
	atLow, atHigh := low-1, high-1
	for j := range low {
		d[atLow], d[atHigh] = mean(d[atLow], d[atHigh]), infinite
		atLow, atHigh = atLow+m-j-2, atHigh+m-j-2
	}
	atLow = metric.Condensed(m, low, low+1)
	atHigh += m - low - 2 // passes over the pair (low, high)
	for j := low + 1; j < high; j++ {
		d[atLow], d[atHigh] = mean(d[atLow], d[atHigh]), infinite
		atLow, atHigh = atLow+1, atHigh+m-j-2
	}
	d[atLow] = infinite // the pair itself
	if high+1 < m {
		at := metric.Condensed(m, high, high+1)
		rowHigh := d[at : at+m-high-1]
		rowLow := d[atLow+1:][:len(rowHigh)]
		for n, b := range rowHigh {
			rowLow[n], rowHigh[n] = mean(rowLow[n], b), infinite
		}
	}
}

// compact leaves out the empty slots, so that no pass over the slots is much
// longer than the number of groups.
func (g *groups[T]) compact(left int) {
	m := len(g.size)
	slots, number := make([]int, 0, left), make([]int, m)
	for slot, size := range g.size {
		if size > 0 {
			number[slot] = len(slots)
			slots = append(slots, slot)
		}
	}
	to := 0 // never past what is still to be read
	for n, i := range slots {
		base := i*(2*m-i-1)/2 - i - 1 // base + j is Condensed(m, i, j)
		for _, j := range slots[n+1:] {
			g.d[to] = g.d[base+j]
			to++
		}
	}
	g.d = g.d[:to]
	for n, i := range slots {
		g.size[n], g.group[n], g.height[n] = g.size[i], g.group[i], g.height[i]
	}
	g.size, g.group, g.height = g.size[:left], g.group[:left], g.height[:left]
	for n, slot := range g.chain {
		g.chain[n] = number[slot]
	}
	g.start = 0
}

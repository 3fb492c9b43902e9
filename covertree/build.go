package covertree

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/treeloss/treeloss/metric"
)

// streamShuffle is the stream of random numbers that orders the points, so
// that any other use of the same seed draws other numbers.
const streamShuffle = 1

// maxPoints is what the 32-bit point numbers of the tree allow.
const maxPoints = math.MaxInt32

// ErrBase is returned, wrapped, for a base that is not above 1, or is too
// close to 1 or too large to tell levels apart.
var ErrBase = errors.New("base out of range")

// Options sets up New. The zero value is the usual cover tree.
type Options struct {
	// Base is the ratio of the radii of two neighbouring levels; 0 means 2. A
	// smaller base gives a taller, narrower tree. From 1.0001 to 1e6.
	Base float64
	// Seed shuffles the points before they are inserted, which decides the
	// root and breaks ties; 0 is a seed like any other.
	Seed uint64
}

// New builds the cover tree of all points of space, the same tree for the same
// seed. It takes O(k) memory. With distances of bounded growth (a metric of low
// dimension) it takes O(k log k) distances, counted by Distances; where most
// points are as far from each other as from anything else, the tree is a star
// and no method does better than about k^2/2.
//
// It refuses a space without points, a base outside 1.0001 to 1e6 (ErrBase) and, with a
// *metric.PairError that names the two points, a distance that is NaN, infinite
// or negative. It does not ask for all distances, so it cannot see every bad
// one: metric.Check does. If the triangle inequality fails, the tree is still
// a tree that keeps nesting and covering, but perhaps not separation.
func New(space metric.Space, opts Options) (*Tree, error) {
	base := opts.Base
	if base == 0 {
		base = 2
	}
	if !(base >= smallestBase && base <= largestBase) {
		return nil, fmt.Errorf("covertree: base is %v, want more than 1: from %v to %v; 2 is usual: %w", base, smallestBase, largestBase, ErrBase)
	}
	k := space.Len()
	if k < 1 || k > maxPoints {
		return nil, fmt.Errorf("covertree: %d points, want 1 to %d", k, maxPoints)
	}
	b := builder{
		Tree: &Tree{
			space:  space,
			base:   base,
			order:  rand.New(rand.NewPCG(opts.Seed, streamShuffle)).Perm(k),
			points: make([]point, k),
		},
		away:  make([]float64, k),
		chain: base * (base / (base - 1)),
	}
	if err := b.insertAll(); err != nil {
		return nil, fmt.Errorf("covertree: %w", err)
	}
	b.nodes = b.explicit()
	return b.Tree, nil
}

// builder is a Tree under construction and the scratch space of one insertion.
type builder struct {
	*Tree
	// away[q] is the distance over R of q to the point being inserted, for the
	// points q that this insertion has met.
	away []float64
	// chain times the radius of child c's topmost level bounds how far a point
	// can be from c's parent and still be covered by c or a point below c.
	chain float64
	queue []candidate // points whose children are still to be looked at
	met   []int32     // points that cover the new point at some level
}

// distance asks the space for a distance, in its own unit, and checks it.
func (b *builder) distance(i, j int) (float64, error) {
	d := b.space.Distance(i, j)
	b.distances++
	if err := metric.CheckPair(i, j, d); err != nil {
		return 0, err
	}
	return d, nil
}

func (b *builder) insertAll() error {
	b.root = b.order[0]
	b.points[b.root] = point{parent: -1}
	fromRoot := make([]float64, len(b.points))
	for _, p := range b.order[1:] {
		d, err := b.distance(b.root, p)
		if err != nil {
			return err
		}
		fromRoot[p], b.scale = d, max(b.scale, d)
	}
	for rank, p := range b.order[1:] {
		x := 0.0
		if b.scale > 0 {
			x = fromRoot[p] / b.scale
		}
		if err := b.insert(p, x); err != nil {
			return err
		}
		b.points[p].rank = int32(rank + 1)
	}
	return nil
}

// insert puts point p, at distance fromRoot from the root, into the tree.
//
// A point q covers p at level l if q is at level l (l <= q's topmost level) and
// d(p, q) <= base^l. Let l* be the lowest level at which any point covers p.
// Then p goes in with l*-1 as its topmost level, below the nearest point of
// level l*: no point of level l*-1 or lower is within that level's radius of
// p, so separation holds everywhere, not only among the children of one parent.
//
// The search walks down from the root, nearest point first, keeping the lowest
// covering level seen. A point q with a child c topmost at level t can be left
// alone, and its children below t with it, if nothing below can matter:
//
//   - Each step down from a level l is at most base^l long. A point x topmost
//     at level s below c is within base^(t+1) + base^t + ... + base^(s+1) of
//     q, and covers p only within base^s, so only if d(p, q) is at most
//     base^(t+1) + base^t + ... < base^(t+1) base/(base-1), for base 2 twice
//     the radius of c's parent level.
//   - No point below q is farther from it than reach(q), and to matter it must
//     be within base^min(t, l*) of p.
//   - By the triangle inequality d(p, c) >= |d(p, q) - d(q, c)|, which often
//     settles the same question for c before its distance is asked for.
func (b *builder) insert(p int, fromRoot float64) error {
	if fromRoot <= negligible {
		b.addTwin(p, b.root, fromRoot)
		return nil
	}
	b.met, b.queue = b.met[:0], b.queue[:0]
	low := 0      // l*, so far
	within := 1.0 // base^l*
	below := power(b.base, -1)
	meet := func(q int32, x, radius float64) {
		b.away[q] = x
		if x > radius || x > within {
			return // q does not cover p, or at a higher level only
		}
		b.met = append(b.met, q)
		if x <= below {
			low = levelOf(b.base, x)
			within, below = power(b.base, low), power(b.base, low-1)
		}
	}
	meet(int32(b.root), fromRoot, 1)
	b.push(candidate{fromRoot, int32(b.root)})
	for len(b.queue) > 0 {
		next := b.pop()
		q, x := &b.points[next.point], next.away
		if outside(x, q.reach, within) {
			continue
		}
		for _, c := range q.children {
			if c.radius < 0 || x > c.radius*b.chain*(1+slack) {
				break // so it is for all further children
			}
			if outside(math.Abs(x-c.toParent)-slack*(x+c.toParent), c.reach, min(c.radius, within)) {
				continue
			}
			d, err := b.distance(p, int(c.point))
			if err != nil {
				return err
			}
			d /= b.scale
			if d <= negligible {
				b.addTwin(p, int(c.point), d)
				return nil
			}
			meet(c.point, d, c.radius)
			if c.reach > 0 && !outside(d, c.reach, min(c.radius, within)) {
				b.push(candidate{d, c.point})
			}
		}
	}
	b.add(p, b.nearest(low), low-1)
	return nil
}

// slack widens each triangle-inequality bound by a part of the distances in
// it, for metrics that keep it up to rounding only (a matrix read from text).
const slack = 1e-6

// outside says whether a ball of the given reach, whose centre is x away,
// ends farther away than what still matters.
func outside(x, reach, matter float64) bool {
	return x > reach+matter+slack*(x+reach)
}

// nearest returns the nearest point of the given level that covers the new
// point; of several, the one inserted first.
func (b *builder) nearest(level int) int {
	best := -1
	for _, q := range b.met {
		if b.points[q].top < level {
			continue
		}
		if best < 0 || b.away[q] < b.away[best] || b.away[q] == b.away[best] && b.points[q].rank < b.points[best].rank {
			best = int(q)
		}
	}
	return best
}

// add makes p a child of parent, topmost at the given level. The search met
// all ancestors of the parent on its way, so their distances are at hand.
func (b *builder) add(p, parent, level int) {
	b.points[p] = point{top: level, parent: int32(parent)}
	at := &b.points[parent]
	place := sort.Search(len(at.children), func(n int) bool { return b.points[at.children[n].point].top < level })
	at.children = slices.Insert(at.children, place, child{
		point: int32(p), toParent: b.away[parent], radius: power(b.base, level),
	})
	for a := parent; a >= 0; a = int(b.points[a].parent) {
		if b.away[a] > b.points[a].reach {
			b.stretch(a, b.away[a])
		}
	}
}

// stretch sets the reach of point a, here and where its parent lists it. It
// passes over the parent's children, which the search has just done too.
func (b *builder) stretch(a int, reach float64) {
	b.points[a].reach = reach
	if parent := b.points[a].parent; parent >= 0 {
		siblings := b.points[parent].children
		n := slices.IndexFunc(siblings, func(c child) bool { return int(c.point) == a })
		siblings[n].reach = reach
	}
}

// addTwin makes p a child of its equal q, below all levels.
func (b *builder) addTwin(p, q int, x float64) {
	b.points[p] = point{top: Bottom, parent: int32(q)}
	b.points[q].children = append(b.points[q].children, child{point: int32(p), toParent: x, radius: -1})
}

// candidate is a point on the way down, and its distance to the new point.
type candidate struct {
	away  float64
	point int32
}

// push and pop keep the queue a binary heap, the nearest candidate first: that
// one most likely leads to a low level, which prunes all others.
func (b *builder) push(c candidate) {
	b.queue = append(b.queue, c)
	for n := len(b.queue) - 1; n > 0; {
		up := (n - 1) / 2
		if b.queue[up].away <= c.away {
			break
		}
		b.queue[n], b.queue[up] = b.queue[up], c
		n = up
	}
}

func (b *builder) pop() candidate {
	first, last := b.queue[0], len(b.queue)-1
	b.queue[0] = b.queue[last]
	b.queue = b.queue[:last]
	for n := 0; ; {
		least := n
		for c := 2*n + 1; c <= 2*n+2 && c < last; c++ {
			if b.queue[c].away < b.queue[least].away {
				least = c
			}
		}
		if least == n {
			return first
		}
		b.queue[n], b.queue[least] = b.queue[least], b.queue[n]
		n = least
	}
}

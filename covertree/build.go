package covertree

import (
	"cmp"
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
// seed. It takes O(k) memory, and a copy of the rows of a metric.Euclidean or
// metric.Cosine. With distances of bounded expansion it takes O(k log k) of them,
// counted by Distances; sqrt k for each point of flat clusters in many
// dimensions, and about k^2/2 where points are as far from each other as from
// anything else. The package comment says more.
//
// It refuses a space without points, a base outside 1.0001 to 1e6 (ErrBase) and, with a
// *metric.PairError that names the two points, a distance that is NaN, infinite
// or negative. It does not ask for all distances, so it cannot see every bad
// one: metric.Check does. If the triangle inequality fails, the tree is still
// a tree that keeps nesting and covering, but perhaps not separation.
func New(space metric.Space, opts Options) (*Tree, error) {
	base := cmp.Or(opts.Base, 2)
	if !(base >= smallestBase && base <= largestBase) {
		return nil, fmt.Errorf("covertree: base is %v, want more than 1: from %v to %v; 2 is usual: %w", base, smallestBase, largestBase, ErrBase)
	}
	k := space.Len()
	if k < 1 || k > maxPoints {
		return nil, fmt.Errorf("covertree: %d points, want 1 to %d", k, maxPoints)
	}
	order := rand.New(rand.NewPCG(opts.Seed, streamShuffle)).Perm(k)
	b := newBuilder(space, base, order)
	if err := b.insertAll(); err != nil {
		return nil, fmt.Errorf("covertree: %w", err)
	}
	return b.finish(space), nil
}

// builder is a tree under construction, in which points go by their rank, the
// place in the order of insertion, and the scratch space of one insertion.
type builder struct {
	levels
	space     metric.Space // of the ranks: rows in the order of insertion
	order     []int        // point of each rank
	points    []point      // by rank; the field rank is not used
	scale     float64
	distances int
	// chain times the radius of child c's topmost level bounds how far a point
	// can be from c's parent and still be covered by c or a point below c.
	chain float64

	seen     []reached
	queue    queue     // of those, whose children are still to be looked at
	ask      []int32   // children whose distance is asked for together
	place    []int32   // where they stand among their parent's children
	measured []float64 // their distances
}

// reached is a point whose distance to the new point is known.
type reached struct {
	distance float64 // over R
	point    int32
	parent   int32 // the place of its parent among those, -1 for the root
	place    int32 // among the parent's children
}

// batch is how many distances are asked for together: enough for the processor
// to fetch one row while it works on another, few enough that what they tell
// still saves others.
const batch = 32

// newBuilder returns a builder of the tree over the points in that order. chain is
// base²/(base-1): times the radius of a child's level t it is base^(t+1) base/(base-1), the
// bound that the comment of insert derives.
func newBuilder(space metric.Space, base float64, order []int) *builder {
	ranks := make([]int32, len(order))
	for n, p := range order {
		ranks[n] = int32(p)
	}
	return &builder{
		levels:   newLevels(base),
		space:    metric.Select(space, ranks),
		order:    order,
		points:   make([]point, len(order)),
		chain:    base * (base / (base - 1)),
		ask:      make([]int32, 0, batch),
		place:    make([]int32, 0, batch),
		measured: make([]float64, batch),
	}
}

// measure asks for the distances of p to the points b.ask and checks them. They
// are left in b.measured, in the space's own unit.
func (b *builder) measure(p int32) error {
	b.distances += len(b.ask)
	metric.Distances(b.space, int(p), b.ask, b.measured)
	for n, q := range b.ask {
		if d := b.measured[n]; !(d >= 0 && d <= math.MaxFloat64) {
			return metric.CheckPair(b.order[p], b.order[q], d)
		}
	}
	return nil
}

// insertAll makes the first point of the order the root and inserts the others after it.
// Their distances from the root come first, all of them, since the largest is the unit R
// of all radii.
func (b *builder) insertAll() error {
	b.points[0] = point{parent: -1}
	fromRoot := make([]float64, len(b.points))
	for p := 1; p < len(b.points); {
		b.ask = b.ask[:0]
		for q := p; q < len(b.points) && len(b.ask) < batch; q++ {
			b.ask = append(b.ask, int32(q))
		}
		if err := b.measure(0); err != nil {
			return err
		}
		for _, d := range b.measured[:len(b.ask)] {
			fromRoot[p], b.scale = d, max(b.scale, d)
			p++
		}
	}
	for p := 1; p < len(b.points); p++ {
		x := 0.0
		if b.scale > 0 {
			x = fromRoot[p] / b.scale
		}
		if err := b.insert(int32(p), x); err != nil {
			return err
		}
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
// In other words: of all points q that cover p at their topmost level the
// nearest becomes the parent, and l* is the lowest level whose radius reaches
// that far. So this is a search for a nearest neighbour, among points that
// reach p. It walks down from the root, nearest point first, keeping the least
// distance at which a point covers p. A point q with a child c topmost at level
// t can be left alone, and its children below t with it, if nothing below can
// matter:
//
//   - Each step down from a level l is at most base^l long. A point x topmost
//     at level s below c is within base^(t+1) + base^t + ... + base^(s+1) of
//     q, and covers p only within base^s, so only if d(p, q) is at most
//     base^(t+1) + base^t + ... < base^(t+1) base/(base-1), for base 2 twice
//     the radius of c's parent level.
//   - No point below q is farther from it than reach(q), and to matter it must
//     be within base^t of p, and no farther than the best so far.
//   - By the triangle inequality d(p, c) >= |d(p, q) - d(q, c)|, which often
//     settles the same question for c before its distance is asked for.
func (b *builder) insert(p int32, fromRoot float64) error {
	if fromRoot <= negligible {
		b.addEqual(p, 0, fromRoot)
		return nil
	}
	best, parent := fromRoot, int32(0)
	b.seen = append(b.seen[:0], reached{distance: fromRoot, parent: -1})
	b.queue = b.queue[:0]
	b.queue.push(candidate{fromRoot, 0})
	for len(b.queue) > 0 {
		next := b.queue.pop()
		q, x := &b.points[b.seen[next.seen].point], next.distance
		if outside(x, q.reach, best) {
			continue
		}
		for from := 0; from < len(q.children); {
			from = b.choose(q.children, from, x, best)
			if err := b.measure(p); err != nil {
				return err
			}
			for n, place := range b.place {
				c := &q.children[place]
				d := b.measured[n] / b.scale
				if d <= negligible {
					b.addEqual(p, c.point, d)
					return nil
				}
				covers := d <= c.radius && (d < best || d == best && c.point < b.seen[parent].point)
				deeper := c.reach > 0 && !outside(d, c.reach, min(c.radius, best))
				if !covers && !deeper {
					continue
				}
				here := int32(len(b.seen))
				b.seen = append(b.seen, reached{distance: d, point: c.point, parent: next.seen, place: place})
				if covers {
					best, parent = d, here
				}
				if deeper {
					b.queue.push(candidate{d, here})
				}
			}
		}
	}
	b.add(p, parent, b.levelOf(best)-1)
	return nil
}

// choose puts into b.ask the next children, from the given place on, of a point
// x away from the new one, that may matter. It returns the place after them.
func (b *builder) choose(children []child, from int, x, best float64) int {
	b.ask, b.place = b.ask[:0], b.place[:0]
	for ; from < len(children) && len(b.ask) < batch; from++ {
		c := &children[from]
		if c.radius < 0 || x > c.radius*b.chain*(1+slack) {
			return len(children) // so it is for all further children
		}
		if outside(math.Abs(x-c.toParent)-slack*(x+c.toParent), c.reach, min(c.radius, best)) {
			continue
		}
		b.ask, b.place = append(b.ask, c.point), append(b.place, int32(from))
	}
	return from
}

// slack widens each triangle-inequality bound by a part of the distances in
// it, for metrics that keep it up to rounding only (a matrix read from text).
const slack = 1e-6

// outside says whether a ball of the given reach, whose centre is x away,
// ends farther away than what still matters.
func outside(x, reach, matter float64) bool {
	return x > reach+matter+slack*(x+reach)
}

// add makes p a child of a point reached, topmost at the given level. The
// search has seen all ancestors of the parent on its way.
func (b *builder) add(p, parent int32, level int) {
	s, radius := b.seen[parent], b.power(level)
	b.points[p] = point{top: level, parent: s.point}
	at := &b.points[s.point]
	place := sort.Search(len(at.children), func(n int) bool { return at.children[n].radius < radius })
	at.children = slices.Insert(at.children, place, child{point: p, toParent: s.distance, radius: radius})
	for parent >= 0 {
		s := b.seen[parent]
		parent = s.parent
		if q := &b.points[s.point]; s.distance > q.reach {
			q.reach = s.distance
			if parent >= 0 {
				b.points[q.parent].children[s.place].reach = s.distance
			}
		}
	}
}

// addEqual makes p a child of its equal q, below all levels.
func (b *builder) addEqual(p, q int32, x float64) {
	b.points[p] = point{top: Bottom, parent: q}
	b.points[q].children = append(b.points[q].children, child{point: p, toParent: x, radius: -1})
}

// finish turns ranks into points and lists the nodes.
func (b *builder) finish(space metric.Space) *Tree {
	t := &Tree{
		space: space, base: b.base, scale: b.scale, distances: b.distances,
		root: b.order[0], order: b.order, points: make([]point, len(b.order)),
	}
	arena := make([]child, 0, len(b.order)-1)
	for rank, p := range b.order {
		from := b.points[rank]
		to := &t.points[p]
		*to = point{top: from.top, parent: -1, rank: int32(rank), reach: from.reach}
		if from.parent >= 0 {
			to.parent = int32(b.order[from.parent])
		}
		start := len(arena)
		for _, c := range from.children {
			c.point = int32(b.order[c.point])
			arena = append(arena, c)
		}
		to.children = arena[start:len(arena):len(arena)]
	}
	t.nodes = t.explicit()
	return t
}

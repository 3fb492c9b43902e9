package theory

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/treeloss/treeloss/metric"
)

// Dimension estimates the doubling dimension of a finite metric space: the
// least c such that every ball is covered by 2^c balls of half its radius
// (Gupta, Krauthgamer and Lee 2003, after Assouad 1983). A line has 1, a plane
// log2 7 = 2.8, and k points that are all at one distance log2 k, the most that
// k points can have.
//
// The balls are those around a sample of points, with the radii R, R/√2, R/2, ...
// for the largest distance R; half balls are centred at points of the ball. The
// number of half balls is that of the better of two greedy covers, which may be
// 1 + ln m times the least number for a ball of m points. So an estimate is
// too high by some tenths; it is too low where the worst ball is not in the
// sample, or where there are too few points to fill one: k points cannot show
// more than log2 k.
type Dimension struct {
	// Low is a lower bound of the dimension: points of a ball that are farther apart
	// than its radius each need a half ball of their own.
	Low    float64 `json:"low"`
	Max    float64 `json:"max"`  // over all balls: the definition
	Mean   float64 `json:"mean"` // over balls of two points or more, first for each centre
	SE     float64 `json:"mean_se"`
	Balls  int     `json:"balls"`
	Limit  float64 `json:"limit"`  // log2 of the points used
	Points int     `json:"points"` // used; fewer than all are a sample
}

const (
	maxCentres = 64
	maxScales  = 40 // radii; they fall by √2, so by 1e6 in all
)

// Flat tells whether the mean is nearly the most that so many points can have, as
// where all are at about one distance.
func (d Dimension) Flat() bool { return d.Mean > 0.9*d.Limit }

// centreStream is the stream of random numbers that draws the balls.
const centreStream = 4

// Doubling estimates the doubling dimension of some points of a space, nil: all;
// it is 0 for one point and for points that are all the same. It takes all
// distances between the points, and memory for them.
func Doubling(space metric.Space, points []int, seed uint64) Dimension {
	if points == nil {
		points = first(space.Len())
	}
	c := newCovers(space, points)
	out := Dimension{Points: len(points), Limit: math.Log2(float64(max(len(points), 1)))}
	if c.most == 0 {
		return out
	}
	centres := first(len(points))
	if len(centres) > maxCentres {
		centres = rand.New(rand.NewPCG(seed, centreStream)).Perm(len(points))[:maxCentres]
		slices.Sort(centres)
	}
	sum, balls := make([]float64, len(centres)), make([]int, len(centres))
	radius := c.most
	for range maxScales {
		if radius < c.least/2 {
			break
		}
		c.scale(radius)
		for n, p := range centres {
			b, ok := c.ball(p)
			if !ok {
				continue
			}
			out.Balls++
			out.Low, out.Max = max(out.Low, b.low), max(out.Max, b.high)
			sum[n] += b.high
			balls[n]++
		}
		radius /= math.Sqrt2
	}
	var total, squares, n float64
	for i := range sum {
		if balls[i] > 0 {
			mean := sum[i] / float64(balls[i])
			total, squares, n = total+mean, squares+mean*mean, n+1
		}
	}
	if n > 0 {
		out.Mean = min(total/n, out.Max) // rounding
	}
	if n > 1 {
		out.SE = math.Sqrt(max(0, squares-n*out.Mean*out.Mean) / (n * (n - 1)))
	}
	return out
}

// first returns 0..n-1.
func first(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// covers counts half balls that cover balls, points as bits of sets.
type covers struct {
	n           int
	distance    []float64 // n x n
	most, least float64   // largest distance, smallest that is not 0

	radius     float64
	near, wide []set // of each point, what is within half the radius, and within it
	known      map[string]bounds
}

// bounds are log2 of the half balls that a ball takes at least, and of those of
// a cover.
type bounds struct{ low, high float64 }

// set is a set of points, a bit each: to intersect two of them takes an instruction for 64
// points.
type set []uint64

func (s set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s set) has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }

// common counts the points in both sets.
func (s set) common(t set) (n int) {
	for i, w := range s {
		n += bits.OnesCount64(w & t[i])
	}
	return n
}

// without takes the points of t out of s.
func (s set) without(t set) {
	for i := range s {
		s[i] &^= t[i]
	}
}

// newCovers asks for the distances of all pairs of points, once each.
func newCovers(space metric.Space, points []int) *covers {
	n := len(points)
	c := &covers{n: n, distance: make([]float64, n*n), least: math.Inf(1)}
	for i, p := range points {
		for j := range i {
			d := space.Distance(points[j], p)
			c.distance[i*n+j], c.distance[j*n+i] = d, d
			c.most = max(c.most, d)
			if d > 0 {
				c.least = min(c.least, d)
			}
		}
	}
	return c
}

// slack lets distances that differ by rounding count as equal.
const slack = 1 + 1e-7

// within returns the points of the closed ball of a radius around p.
func (c *covers) within(p int, radius float64) set {
	s := make(set, (c.n+63)/64)
	for i, d := range c.distance[p*c.n : (p+1)*c.n] {
		if d <= radius*slack {
			s.add(i)
		}
	}
	return s
}

// scale sets the radius of the balls to come.
func (c *covers) scale(radius float64) {
	c.radius = radius
	c.known = make(map[string]bounds) // large balls are often the same
	c.near, c.wide = make([]set, c.n), make([]set, c.n)
	for p := range c.near {
		c.near[p], c.wide[p] = c.within(p, radius/2), c.within(p, radius)
	}
}

// ball returns the bounds of the ball around p, and whether it holds two points
// that differ.
func (c *covers) ball(p int) (bounds, bool) {
	ball := c.wide[p]
	var members []int
	var apart bool
	for i := range c.n {
		if ball.has(i) {
			members = append(members, i)
			apart = apart || c.distance[p*c.n+i] > 0
		}
	}
	if !apart {
		return bounds{}, false
	}
	key := make([]byte, 0, 2*len(members))
	for _, i := range members {
		key = append(key, byte(i), byte(i>>8))
	}
	b, ok := c.known[string(key)]
	if !ok {
		cover := min(c.cover(ball, members, -1), c.cover(ball, members, p))
		b = bounds{math.Log2(float64(c.apart(ball, members))), math.Log2(float64(cover))}
		c.known[string(key)] = b
	}
	return b, true
}

// apart counts the points that a greedy choice finds in a ball that are all
// farther apart than its radius.
func (c *covers) apart(ball set, members []int) (count int) {
	left := slices.Clone(ball)
	for _, i := range members {
		if left.has(i) {
			count++
			left.without(c.wide[i])
		}
	}
	return count
}

// cover counts the half balls of a greedy cover: each takes in the most points
// not yet covered. From a point on (from >= 0) each must also take in the
// uncovered one that is farthest from it, which leaves no crumbs at the rim.
func (c *covers) cover(ball set, members []int, from int) int {
	left := append(set(nil), ball...)
	for count := 0; ; count++ {
		must, farthest := -1, -1.0
		for _, i := range members {
			if left.has(i) && (from < 0 || c.distance[from*c.n+i] > farthest) {
				must = i
				if from < 0 {
					break
				}
				farthest = c.distance[from*c.n+i]
			}
		}
		if must < 0 {
			return count
		}
		best, most := must, 0
		for _, i := range members {
			if from >= 0 && !c.near[must].has(i) {
				continue
			}
			if n := c.near[i].common(left); n > most {
				best, most = i, n
			}
		}
		left.without(c.near[best])
	}
}

package theory

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/metric"
)

// cube returns k points at random in the unit cube of a dimension.
func cube(t testing.TB, k, dim int, seed uint64) metric.Space {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 5))
	m := matrix.NewDense(k, dim)
	for i := range m.Data {
		m.Data[i] = random.Float32()
	}
	s, err := metric.Euclidean(m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The doubling dimension is 1 on a line and log2 7 = 2.81 in a plane; in space
// a ball takes 21 half balls (log2 21 = 4.39). With 300 points the plane and
// space are not filled, and greedy covers take a few balls more.
func TestDoublingOfPoints(t *testing.T) {
	last := 0.0
	for _, tc := range []struct {
		dim                    int
		least, most, leastMean float64
	}{{1, 1, 1.6, 0.7}, {2, 2.3, 3.4, 1.2}, {3, 3.2, 4.9, 1.8}} {
		t.Run(fmt.Sprint(tc.dim), func(t *testing.T) {
			for seed := range uint64(3) {
				d := Doubling(cube(t, 300, tc.dim, seed), nil, seed)
				if d.Max < tc.least || d.Max > tc.most {
					t.Errorf("seed %d: max %.2f, want %.1f to %.1f", seed, d.Max, tc.least, tc.most)
				}
				if d.Mean < tc.leastMean || d.Mean > d.Max {
					t.Errorf("seed %d: mean %.2f, want %.1f to max %.2f", seed, d.Mean, tc.leastMean, d.Max)
				}
				if d.SE <= 0 || d.SE > 0.3 {
					t.Errorf("seed %d: standard error %.2f", seed, d.SE)
				}
				if seed == 0 {
					if d.Max <= last {
						t.Errorf("max %.2f, no more than in one dimension less: %.2f", d.Max, last)
					}
					last = d.Max
				}
			}
		})
	}
}

func TestDoublingOfSpecialSpaces(t *testing.T) {
	for _, tc := range []struct {
		name     string
		k        int
		distance func(i, j int) float64
		max      float64
	}{
		{"star: only the points themselves cover", 64, func(i, j int) float64 { return 1 }, 6},
		{"star, sampled", 2000, func(i, j int) float64 { return 1 }, 9},
		{"star, no power of two", 100, func(i, j int) float64 { return 0.3 }, math.Log2(100)},
		{"one point", 1, func(i, j int) float64 { return 1 }, 0},
		{"all the same", 5, func(i, j int) float64 { return 0 }, 0},
		{"two points", 2, func(i, j int) float64 { return 1 }, 1},
		{"two far pairs, as a binary tree", 4, func(i, j int) float64 {
			if i/2 == j/2 {
				return 1
			}
			return 4
		}, 1},
		{"ten stars of ten far apart", 100, func(i, j int) float64 {
			if i/10 == j/10 {
				return 1
			}
			return 1000
		}, math.Log2(10)},
		{"the line 0, 1, 2, ...: ball of radius 2^i, two half balls and rounding", 65, func(i, j int) float64 { return math.Abs(float64(i - j)) }, math.Log2(3)},
		{"distances over twelve orders", 3, func(i, j int) float64 { return []float64{0, 1e-6, 1e6, 1e6}[i+j] }, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			space := metric.Func(tc.k, func(i, j int) float64 {
				if i == j {
					return 0
				}
				return tc.distance(i, j)
			})
			points := first(min(tc.k, 512))
			d := Doubling(space, points, 1)
			if math.Abs(d.Max-tc.max) > 1e-12 {
				t.Errorf("max %v, want %v", d.Max, tc.max)
			}
			if d.Max > d.Limit || d.Mean > d.Max || d.Low > d.Max {
				t.Errorf("mean %v, max %v, limit %v: want them to ascend", d.Mean, d.Max, d.Limit)
			}
			if d.Points != len(points) {
				t.Errorf("%d points, want %d", d.Points, len(points))
			}
		})
	}
}

func TestBoundsOfALine(t *testing.T) {
	line := metric.Func(64, func(i, j int) float64 { return math.Abs(float64(i - j)) })
	if d := Doubling(line, nil, 1); d.Low > d.Max || d.Low < 1 || d.Max > 2 {
		t.Errorf("a line: from %v to %v, want about 1 to 2", d.Low, d.Max)
	}
}

// A cover must cover, and both greedy ones are at least as large as the best,
// which small sets let us find by trying all.
func TestCoverAgainstAllSubsets(t *testing.T) {
	for seed := range uint64(20) {
		space := cube(t, 9, 2, seed)
		c := newCovers(space, first(9))
		c.scale(c.most)
		ball := c.within(0, c.most)
		members := []int{}
		for i := range 9 {
			if ball.has(i) {
				members = append(members, i)
			}
		}
		best := len(members)
		for subset := range 1 << len(members) {
			covered, n := make(set, 1), 0
			for m, i := range members {
				if subset>>m&1 != 0 {
					n++
					covered[0] |= c.near[i][0]
				}
			}
			if n < best && ball[0]&^covered[0] == 0 {
				best = n
			}
		}
		got := min(c.cover(ball, members, -1), c.cover(ball, members, 0))
		if got < best || got > best+1 {
			t.Errorf("seed %d: greedy %d, best %d", seed, got, best)
		}
		if low := c.apart(ball, members); low < 1 || low > best {
			t.Errorf("seed %d: a lower bound of %d, best %d", seed, low, best)
		}
	}
}

func FuzzDoubling(f *testing.F) {
	f.Add(uint64(1), uint8(5), uint8(2))
	f.Add(uint64(2), uint8(70), uint8(1))
	f.Add(uint64(3), uint8(1), uint8(4))
	f.Fuzz(func(t *testing.T, seed uint64, k, dim uint8) {
		space := cube(t, 1+int(k)%80, 1+int(dim)%5, seed)
		d := Doubling(space, nil, seed)
		if math.IsNaN(d.Mean) || d.Mean < 0 || d.Mean > d.Max+1e-9 || d.Max > d.Limit+1e-9 || d.Low > d.Max || !(d.SE >= 0) {
			t.Errorf("%+v", d)
		}
		scaled := metric.Func(space.Len(), func(i, j int) float64 { return 1024 * space.Distance(i, j) })
		if s := Doubling(scaled, nil, seed); s != d {
			t.Errorf("scaled %+v, want %+v", s, d)
		}
	})
}

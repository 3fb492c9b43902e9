package covertree

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/metric"
)

// line is the space of numbers on a line.
func line(at ...float64) metric.Space {
	return metric.Func(len(at), func(i, j int) float64 { return math.Abs(at[i] - at[j]) })
}

func euclid(m matrix.Matrix) metric.Space {
	s, err := metric.Euclidean(m)
	if err != nil {
		panic(err)
	}
	return s
}

// cloud draws k points in d dimensions: even, in tight clusters, or as a
// 4-ary hierarchy whose steps shrink by 3.
func cloud(kind string, seed uint64, k, d int) *matrix.Dense {
	random := rand.New(rand.NewPCG(seed, 1))
	m := matrix.NewDense(k, d)
	centre := matrix.NewDense(int(math.Sqrt(float64(k)))+1, d)
	for n := range centre.Data {
		centre.Data[n] = float32(random.NormFloat64())
	}
	for i := range k {
		row := m.Row(i)
		switch kind {
		case "even":
			for c := range row {
				row[c] = random.Float32()
			}
		case "clusters":
			copy(row, centre.Row(random.IntN(centre.Rows())))
			for c := range row {
				row[c] += float32(random.NormFloat64()) * 0.01
			}
		case "hierarchy":
			step := 1.0
			for n := i; ; n /= 4 {
				child := rand.New(rand.NewPCG(uint64(n), seed))
				for c := range row {
					row[c] += float32(child.NormFloat64() * step)
				}
				step *= 3
				if n == 0 {
					break
				}
			}
		}
	}
	return m
}

func star(k int) metric.Space {
	return metric.Func(k, func(i, j int) float64 {
		if i == j {
			return 0
		}
		return 7
	})
}

func spread(ratio float64, k int) metric.Space {
	at := make([]float64, k)
	x := 1.0
	for i := range at {
		at[i] = x
		x *= ratio
	}
	return line(at...)
}

func spaces() map[string]metric.Space {
	twins := cloud("clusters", 3, 90, 2)
	for i := 30; i < 90; i++ {
		copy(twins.Row(i), twins.Row(i%30))
	}
	integers := rand.New(rand.NewPCG(5, 5))
	grid := matrix.NewDense(120, 2)
	for n := range grid.Data {
		grid.Data[n] = float32(integers.IntN(9))
	}
	return map[string]metric.Space{
		"one point":                            line(3),
		"two points":                           line(3, 5),
		"two equal points":                     line(3, 3),
		"all equal":                            line(make([]float64, 40)...),
		"all at one distance":                  star(40),
		"distances from 1 to 1e12":             spread(2, 41),
		"two distances, 1e12 apart":            line(0, 1, 1e12, 1e12+1),
		"distances over the whole float range": spread(1e7, 44),
		"denormal distances":                   line(0, 5e-324, 1e-310, 1e-300),
		"distances from 1 to 1e250":            line(0, 1e250, 1, 1, 2, 3),
		"huge distances":                       line(0, 8e307, 8.5e307),
		"even, 2-d":                            euclid(cloud("even", 1, 150, 2)),
		"even, 10-d":                           euclid(cloud("even", 1, 150, 10)),
		"clusters":                             euclid(cloud("clusters", 1, 150, 5)),
		"hierarchy":                            euclid(cloud("hierarchy", 1, 150, 5)),
		"each point three times":               euclid(twins),
		"whole numbers, many ties":             euclid(grid),
		"whole numbers on a line":              line(0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64),
	}
}

func TestLawsHold(t *testing.T) {
	for name, space := range spaces() {
		t.Run(name, func(t *testing.T) {
			for _, base := range []float64{1.0001, 1.01, 1.1, 1.3, 2, 3, 10, 1e6} {
				for seed := range uint64(4) {
					tree, err := New(space, Options{Base: base, Seed: seed})
					if err != nil {
						t.Fatal(err)
					}
					if err := tree.check(); err != nil {
						t.Errorf("base %v seed %d: %v", base, seed, err)
					}
					if k := space.Len(); tree.Len() != k || tree.Distances() > k*(k-1)/2 {
						t.Errorf("base %v: %d points, %d distances, want %d and at most every pair", base, tree.Len(), tree.Distances(), k)
					}
				}
			}
		})
	}
}

// TestNodesMatchDefinition rebuilds small trees from the definition alone, by
// looking at all points at every step, and compares them with New's.
func TestNodesMatchDefinition(t *testing.T) {
	for name, space := range spaces() {
		for _, base := range []float64{1.3, 2} {
			tree, err := New(space, Options{Base: base, Seed: 9})
			if err != nil {
				t.Fatal(err)
			}
			for n, p := range tree.order[1:] {
				wantLevel, wantParent := math.MaxInt, -1
				for _, q := range tree.order[:n+1] { // lowest level at which some point covers p
					x := space.Distance(p, q) / tree.scale
					if tree.scale == 0 || x <= negligible {
						wantLevel = Bottom
						break
					}
					if x <= 1 {
						if l := definedLevel(base, x); l <= tree.points[q].top {
							wantLevel = min(wantLevel, l)
						}
					}
				}
				for _, q := range tree.order[:n+1] { // nearest point of that level
					if wantLevel == Bottom && tree.points[q].top == Bottom || tree.points[q].top < wantLevel {
						continue
					}
					if wantParent < 0 || space.Distance(p, q) < space.Distance(p, wantParent) {
						wantParent = q
					}
				}
				if wantLevel != Bottom {
					wantLevel--
				}
				if tree.points[p].top != wantLevel || int(tree.points[p].parent) != wantParent {
					t.Errorf("%s base %v: point %d at level %d below %d, want %d below %d", name, base, p, tree.points[p].top, int(tree.points[p].parent), wantLevel, wantParent)
				}
			}
		}
	}
}

// definedLevel is the least l with base^l >= x.
func definedLevel(base, x float64) int {
	l := int(math.Log(x)/math.Log(base)) - 3
	for power(base, l) < x {
		l++
	}
	return l
}

func TestShapes(t *testing.T) {
	for _, tc := range []struct {
		name                         string
		space                        metric.Space
		base                         float64
		nodes, inner, height, widest int
	}{
		{"one point is a leaf", line(4), 2, 1, 0, 0, 0},
		{"two points", line(4, 5), 2, 3, 1, 1, 2},
		{"equal points hang under the first", line(1, 1, 1, 1, 1), 2, 6, 1, 1, 5},
		{"points at one distance make a star", star(9), 2, 10, 1, 1, 9},
		{"the same for a small base", star(9), 1.0001, 10, 1, 1, 9},
		{"two far pairs", line(0, 1, 1e12, 1e12+1), 2, 7, 3, 2, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for seed := range uint64(10) {
				tree, err := New(tc.space, Options{Base: tc.base, Seed: seed})
				if err != nil {
					t.Fatal(err)
				}
				f := tree.fanOut()
				if len(tree.Nodes()) != tc.nodes || f.Inner != tc.inner || tree.height() != tc.height || f.Max != tc.widest {
					t.Errorf("seed %d: %d nodes, %d inner, height %d, widest %d; want %d %d %d %d", seed,
						len(tree.Nodes()), f.Inner, tree.height(), f.Max, tc.nodes, tc.inner, tc.height, tc.widest)
				}
			}
		})
	}
}

func TestScaleChangesNothing(t *testing.T) {
	one := euclid(cloud("hierarchy", 8, 200, 4))
	for _, factor := range []float64{1e-200, 1.0 / 3, 1024, 1e200} {
		scaled := metric.Func(one.Len(), func(i, j int) float64 { return factor * one.Distance(i, j) })
		a, err := New(one, Options{Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		b, err := New(scaled, Options{Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(a.Nodes(), b.Nodes()) {
			t.Errorf("factor %v gives another tree", factor)
		}
		if got := b.Radius(-3) / factor / a.Radius(-3); math.Abs(got-1) > 1e-12 {
			t.Errorf("factor %v: radius off by %v", factor, got)
		}
	}
}

func TestSeedDecides(t *testing.T) {
	space := euclid(cloud("even", 2, 100, 3))
	var first *Tree
	different := false
	for _, seed := range []uint64{1, 1, 2} {
		tree, err := New(space, Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = tree
		}
		same := reflect.DeepEqual(first.Nodes(), tree.Nodes())
		if seed == 1 && !same {
			t.Error("the same seed gave two trees")
		}
		different = different || !same
	}
	if !different {
		t.Error("another seed gave the same tree")
	}
	if first.base != 2 || first.points[first.root].top != 0 || first.points[first.root].parent != -1 || first.Radius(Bottom) != 0 {
		t.Errorf("base %v, root at level %d below %d", first.base, first.points[first.root].top, first.points[first.root].parent)
	}
}

// TestShapeIsTheSameEverywhere holds trees to a digest of their nodes: no
// processor, build tag or number of threads may give another one. (Two distances
// that differ in their last digit alone might; none do here.)
func TestShapeIsTheSameEverywhere(t *testing.T) {
	for _, tc := range []struct {
		kind   string
		k, d   int
		base   float64
		cosine bool
		want   uint64
	}{
		{"hierarchy", 4000, 50, 2, false, 0x4288b675cc61430a},
		{"hierarchy", 4000, 20, 1.3, true, 0x65c0d50c599091a3},
		{"clusters", 4000, 50, 1.3, false, 0xb2353df55108b461},
		{"even", 3000, 5, 2, false, 0x4e512cde3be72ab0},
		{"even", 1000, 50, 1.3, true, 0x579a3c0c61565cd4},
	} {
		m := cloud(tc.kind, 1, tc.k, tc.d)
		build := metric.Euclidean
		if tc.cosine {
			build = metric.Cosine
		}
		space, err := build(m)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := New(space, Options{Base: tc.base, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		digest := fnv.New64a()
		for _, n := range tree.Nodes() {
			fmt.Fprintln(digest, n.Point, n.Level, n.Parent)
		}
		if got := digest.Sum64(); got != tc.want {
			t.Errorf("%s k=%d d=%d base %v: digest %#x, want %#x", tc.kind, tc.k, tc.d, tc.base, got, tc.want)
		}
	}
}

func TestSmallerBaseIsTallerAndNarrower(t *testing.T) {
	space := euclid(cloud("hierarchy", 1, 2000, 10))
	var heights, widths []float64
	for _, base := range []float64{1.1, 2, 10} {
		tree, err := New(space, Options{Base: base})
		if err != nil {
			t.Fatal(err)
		}
		heights, widths = append(heights, float64(tree.height())), append(widths, tree.fanOut().Mean)
	}
	if !(heights[0] > heights[1] && heights[1] > heights[2] && widths[0] < widths[1] && widths[1] < widths[2]) {
		t.Errorf("heights %v, mean fan-outs %v", heights, widths)
	}
}

func TestFanOutAddsUp(t *testing.T) {
	tree, err := New(euclid(cloud("clusters", 1, 300, 3)), Options{Base: 1.3})
	if err != nil {
		t.Fatal(err)
	}
	f, inner, children := tree.fanOut(), 0, 0
	widest := 0
	for _, n := range tree.Nodes() {
		if c := len(n.Children); c > 0 {
			inner, children, widest = inner+1, children+c, max(widest, c)
		}
	}
	if inner != f.Inner || children != len(tree.Nodes())-1 || inner+tree.Len() != len(tree.Nodes()) || widest != f.Max ||
		math.Abs(f.Mean-float64(children)/float64(inner)) > 1e-12 {
		t.Errorf("%+v for %d nodes of %d points", f, len(tree.Nodes()), tree.Len())
	}
}

func TestRefusals(t *testing.T) {
	good := line(1, 2)
	for _, base := range []float64{1, 0.5, -2, math.NaN(), math.Inf(1), 1.00001, 1e7} {
		if _, err := New(good, Options{Base: base}); !errors.Is(err, ErrBase) || !strings.Contains(err.Error(), "1.0001 to") {
			t.Errorf("base %v: %v", base, err)
		}
	}
	if _, err := New(line(), Options{}); err == nil || !strings.Contains(err.Error(), "0 points") {
		t.Errorf("no points: %v", err)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), -1} {
		for seed := range uint64(6) { // the bad pair is met at the root or further down
			space := metric.Func(20, func(i, j int) float64 {
				if i+j == 7 && min(i, j) == 3 {
					return bad
				}
				return line(0, 1, 2, 3.1, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19).Distance(i, j)
			})
			_, err := New(space, Options{Seed: seed})
			var pair *metric.PairError
			if !errors.As(err, &pair) || pair.I+pair.J != 7 || min(pair.I, pair.J) != 3 {
				t.Errorf("%v, seed %d: %v", bad, seed, err)
			}
		}
	}
}

// TestNotAMetric: without the triangle inequality there is still a tree, and
// Check is what finds fault with it.
func TestNotAMetric(t *testing.T) {
	found := false
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		rows := make([][]float64, 60)
		for i := range rows {
			rows[i] = make([]float64, 60)
			for j := range i {
				rows[i][j] = math.Exp(8 * random.NormFloat64())
				rows[j][i] = rows[i][j]
			}
		}
		space := metric.Func(60, func(i, j int) float64 { return rows[i][j] })
		tree, err := New(space, Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if err := tree.checkNodes(); err != nil {
			t.Error(err)
		}
		found = found || errors.Is(tree.check(), errLaw)
	}
	if !found {
		t.Error("check passed every tree of numbers drawn at random")
	}
}

// TestCheckSees breaks a good tree in one place after another.
func TestCheckSees(t *testing.T) {
	space := line(0, 1, 2, 3, 4, 8, 8, 16, 17, 40)
	for _, tc := range []struct {
		name, want string
		spoil      func(*Tree)
	}{
		{"a level too high", "", func(t *Tree) { t.points[t.order[5]].top++ }},
		{"another parent", "", func(t *Tree) { t.points[t.order[5]].parent = int32(t.order[9]) }},
		{"a parent out of range", "want 99", func(t *Tree) { t.points[t.order[5]].parent = 99 }},
		{"a parent that is farther", "nearest parent", func(t *Tree) { t.space = line(0, 1, 2, 3, 4, 8, 8, 16, 1.5, 40) }},
		{"other distances", "", func(t *Tree) { t.space = line(0, 0, 0, 0, 0, 0, 0, 0, 0, 0) }},
		{"NaN", "NaN", func(t *Tree) { t.space = line(math.NaN(), 1, 2, 3, 4, 8, 8, 16, 17, 40) }},
		{"twins apart", "bottom", func(t *Tree) { t.space = line(0, 1, 2, 3, 4, 8, 8.1, 16, 17, 40) }},
		{"a node too few", "nodes", func(t *Tree) { t.nodes = t.nodes[:5] }},
		{"a node's point out of range", "point", func(t *Tree) { t.nodes[3].Point = -1 }},
		{"a node's parent after it", "parent", func(t *Tree) { t.nodes[3].Parent = 4 }},
		{"a node that is its own child", "child", func(t *Tree) { t.nodes[0].Children[0] = 0 }},
		{"a chain", "compressed", func(t *Tree) { t.nodes[0].Children = t.nodes[0].Children[:1] }},
		{"a node's level", "level", func(t *Tree) { t.nodes[0].Level = -100 }},
		{"two leaves of one point", "", func(t *Tree) { t.nodes[len(t.nodes)-1].Point = t.nodes[0].Point }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tree, err := New(space, Options{Seed: 4})
			if err != nil {
				t.Fatal(err)
			}
			if err := tree.check(); err != nil {
				t.Fatal(err)
			}
			tc.spoil(tree)
			if err := tree.check(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want a complaint about %q", err, tc.want)
			}
		})
	}
}

// TestFewDistances holds the cost to what it is for: far fewer than all pairs.
func TestFewDistances(t *testing.T) {
	for _, tc := range []struct {
		kind    string
		d, most int // distances a point at k = 5000, of 2500 for all pairs
	}{{"even", 2, 60}, {"hierarchy", 10, 120}, {"clusters", 5, 200}} {
		for _, base := range []float64{1.3, 2} {
			tree, err := New(euclid(cloud(tc.kind, 1, 5000, tc.d)), Options{Base: base})
			if err != nil {
				t.Fatal(err)
			}
			if got := tree.Distances() / tree.Len(); got > tc.most {
				t.Errorf("%s base %v: %d distances a point, want at most %d", tc.kind, base, got, tc.most)
			}
		}
	}
}

func FuzzNew(f *testing.F) {
	f.Add(uint64(1), uint8(20), 2.0, uint8(2), false)
	f.Add(uint64(2), uint8(1), 1.01, uint8(1), true)
	f.Add(uint64(3), uint8(100), 1.3, uint8(1), true)
	f.Add(uint64(4), uint8(60), 10.0, uint8(7), false)
	f.Add(uint64(5), uint8(60), math.Inf(1), uint8(7), true)
	f.Add(uint64(6), uint8(30), 1e300, uint8(3), true)
	f.Fuzz(func(t *testing.T, seed uint64, k uint8, base float64, d uint8, rough bool) {
		random := rand.New(rand.NewPCG(seed, uint64(d)))
		m := matrix.NewDense(int(k)%120, int(d)%8+1)
		for n := range m.Data {
			if rough { // few distinct numbers, over many magnitudes: ties and equal rows
				m.Data[n] = float32(random.IntN(3)) * float32(math.Pow(10, float64(random.IntN(60)-30)))
			} else {
				m.Data[n] = float32(random.NormFloat64())
			}
		}
		tree, err := New(euclid(m), Options{Base: base, Seed: seed})
		if err != nil {
			if m.Rows() > 0 && base >= smallestBase && base <= largestBase {
				t.Fatal(err)
			}
			return
		}
		if err := tree.check(); err != nil {
			t.Error(err)
		}
	})
}

func ExampleNew() {
	at := []float64{0, 1, 8, 9} // two pairs on a line
	space := metric.Func(len(at), func(i, j int) float64 { return math.Abs(at[i] - at[j]) })
	tree, err := New(space, Options{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range tree.Nodes() {
		if len(n.Children) > 0 {
			fmt.Printf("point %d, radius %.4g:", n.Point, tree.Radius(n.Level))
			for _, c := range n.Children {
				fmt.Print(" ", tree.Nodes()[c].Point)
			}
			fmt.Println()
		}
	}
	// Output:
	// point 1, radius 8: 1 2
	// point 1, radius 1: 1 0
	// point 2, radius 1: 2 3
}

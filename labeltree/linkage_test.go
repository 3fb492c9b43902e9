package labeltree

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/metric"
)

// plainLinkage joins the two nearest groups, found by looking at all, until one
// is left; it returns the height at which each pair of classes is joined.
func plainLinkage(space metric.Space) [][]float64 {
	k := space.Len()
	joined := make([][]float64, k)
	var groups [][]int
	for c := range k {
		joined[c] = make([]float64, k)
		groups = append(groups, []int{c})
	}
	for len(groups) > 1 {
		a, b, least := 0, 0, math.Inf(1)
		for i := range groups {
			for j := i + 1; j < len(groups); j++ {
				sum := 0.0
				for _, p := range groups[i] {
					for _, q := range groups[j] {
						sum += space.Distance(p, q)
					}
				}
				if mean := sum / float64(len(groups[i])*len(groups[j])); mean < least {
					a, b, least = i, j, mean
				}
			}
		}
		for _, p := range groups[a] {
			for _, q := range groups[b] {
				joined[p][q], joined[q][p] = least, least
			}
		}
		groups[a] = append(groups[a], groups[b]...)
		groups = slices.Delete(groups, b, b+1)
	}
	return joined
}

func TestLinkageAgreesWithPlainMethod(t *testing.T) {
	for _, k := range []int{1, 2, 3, 4, 7, 30, 80} {
		for seed := range uint64(4) {
			space := randomSpace(seed, k, false)
			tree, err := Linkage(space, numbered(k))
			if err != nil {
				t.Fatal(err)
			}
			if err := tree.Check(); err != nil {
				t.Fatal(err)
			}
			if tree.Len() != 2*k-1 || !tree.Weighted() || tree.Length(0) != 0 {
				t.Fatalf("k=%d: %d nodes, root length %v", k, tree.Len(), tree.Length(0))
			}
			joined := plainLinkage(space)
			top := 0.0
			for i := range k {
				top = max(top, slices.Max(joined[i]))
			}
			for i := range k {
				for j := range k {
					// K_ij, the sum of the lengths on what both paths share,
					// is H^2 - h_ij^2.
					kernel := 0.0
					for v := tree.LCA(tree.Node(i), tree.Node(j)); v >= 0; v = tree.Parent(v) {
						kernel += tree.Length(v)
					}
					if want := top*top - joined[i][j]*joined[i][j]; math.Abs(kernel-want) > 1e-12*(1+top*top) {
						t.Errorf("k=%d seed %d: K[%d,%d] = %v, want %v", k, seed, i, j, kernel, want)
					}
				}
			}
		}
	}
}

// TestLinkageTies: with ties the plain method may join in another order, but
// the laws hold: heights rise to the root, two children, the lower class first.
func TestLinkageTies(t *testing.T) {
	same := func(d float64) metric.Space {
		return metric.Func(9, func(i, j int) float64 {
			if i == j {
				return 0
			}
			return d
		})
	}
	for name, space := range map[string]metric.Space{
		"all equal": same(0), "all at one distance": same(0.1), "grid": randomSpace(3, 60, true), "largest": same(1e150),
	} {
		tree, err := Linkage(space, numbered(space.Len()))
		if err != nil {
			t.Fatal(err)
		}
		again, err := Linkage(space, numbered(space.Len()))
		if err != nil {
			t.Fatal(err)
		}
		sameTree(t, again, tree)
		if err := tree.Check(); err != nil { // lengths below 0 fail here: heights that fall
			t.Errorf("%s: %v", name, err)
		}
		for v := range tree.Len() {
			if c := tree.Children(v); len(c) > 0 {
				if len(c) != 2 || tree.ClassesBelow(c[0])[0] > tree.ClassesBelow(c[1])[0] {
					t.Errorf("%s: node %d has children %v", name, v, c)
				}
			}
		}
		if name == "all at one distance" {
			for c := range 9 {
				sum := 0.0
				for _, v := range tree.Path(c) {
					sum += tree.Length(v)
				}
				if h := 0.1; sum != h*h {
					t.Errorf("class %d is at %v below the root, want %v: a tie was not kept", c, sum, h*h)
				}
			}
		}
	}
}

func TestLinkageRefuses(t *testing.T) {
	bad := func(x float64) metric.Space {
		return metric.Func(4, func(i, j int) float64 {
			if i+j == 5 {
				return x
			}
			return 1
		})
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), -1} {
		_, err := Linkage(bad(x), numbered(4))
		var pair *metric.PairError
		if !errors.As(err, &pair) || pair.I != 2 || pair.J != 3 {
			t.Errorf("%v: %v", x, err)
		}
	}
	if _, err := Linkage(bad(1e200), numbered(4)); err == nil || !strings.Contains(err.Error(), `"class 2" and "class 3"`) {
		t.Errorf("huge distance: %v", err)
	}
	if _, err := Linkage(metric.Func(50_000, nil), numbered(50_000)); !errors.Is(err, ErrTooMany) {
		t.Errorf("50,000 classes: %v", err)
	}
}

func TestDistances(t *testing.T) {
	for seed := range uint64(40) {
		tree := randomTree(t, seed)
		edges := Distance(tree)
		if err := metric.Check(edges); err != nil {
			t.Error(err)
		}
		if err := metric.CheckTriangle(edges, 10_000, seed); err != nil {
			t.Error(err)
		}
		for i := range tree.Classes() {
			for j := range tree.Classes() {
				a, b := tree.Path(i), tree.Path(j)
				for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
					a, b = a[:len(a)-1], b[:len(b)-1]
				}
				if got := edges.Distance(i, j); got != float64(len(a)+len(b)) {
					t.Errorf("%d and %d are %v edges apart, want %d", i, j, got, len(a)+len(b))
				}
			}
		}
	}
}

// TestLinkageReplays follows the merges in the order of their heights and looks
// at all pairs of groups before each: none may be nearer. It holds for ties too,
// where the plain method has a choice, and for both precisions.
func TestLinkageReplays(t *testing.T) {
	ones := func(i, j int) float64 { // 0, 1 or 2: the nearest are nearly always a tie
		if i == j {
			return 0
		}
		return float64((i*i + j*j + i*j) % 3)
	}
	for name, space := range map[string]metric.Space{
		"random": randomSpace(5, 60, false), "grid": randomSpace(3, 60, true), "0, 1 or 2": metric.Func(50, ones),
		"on a line":             metric.Func(40, func(i, j int) float64 { return math.Abs(float64(i - j)) }),
		"from 1 on by doubling": metric.Func(60, func(i, j int) float64 { return math.Abs(math.Ldexp(1, i) - math.Ldexp(1, j)) }),
		"far apart":             metric.Func(30, func(i, j int) float64 { return 1e140 * math.Abs(float64(i*i-j*j)) }),
		"near 1e-90":            metric.Func(30, func(i, j int) float64 { return 1e-90 * math.Abs(float64(i*i-j*j)) }),
		"rows":                  randomRows(t, 70),
		"two":                   metric.Func(2, ones), "one": metric.Func(1, ones),
	} {
		check := func(int, int, float64) error { return nil }
		exact, err := average(space, check)
		if err != nil {
			t.Fatal(err)
		}
		replay(t, name, space, exact, 1e-13)
		rounded, err := averageRounded(space, check)
		if err != nil {
			t.Fatal(err)
		}
		replay(t, name+", rounded", space, rounded, 3e-6)
	}
}

// randomRows is a space that is asked for many distances at a time, some of
// them 0.
func randomRows(t *testing.T, k int) metric.Space {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(k), 1))
	m := matrix.NewDense(k, 9)
	for n := range m.Data {
		m.Data[n] = float32(random.IntN(3))
	}
	copy(m.Row(k-1), m.Row(0))
	s, err := metric.Euclidean(m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestLinkageThreads: the number of threads changes no bit of the merges.
func TestLinkageThreads(t *testing.T) {
	space := randomRows(t, 200)
	run := func(check func(i, j int, x float64) error) (all [][]merge, err error) {
		for _, f := range []func(metric.Space, func(int, int, float64) error) ([]merge, error){average, averageRounded} {
			merges, failed := f(space, check)
			all, err = append(all, merges), errors.Join(err, failed)
		}
		return all, err
	}
	fine := func(int, int, float64) error { return nil }
	want, err := run(fine)
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, threads := range []int{1, 3, 8} {
		runtime.GOMAXPROCS(threads)
		if got, err := run(fine); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%d threads give other merges (%v)", threads, err)
		}
	}
}

// replay checks merges against the definition: a height is a mean, and the pair
// joined is the nearest, within the given part of the height.
func replay(t *testing.T, name string, space metric.Space, merges []merge, within float64) {
	t.Helper()
	k := space.Len()
	if len(merges) != k-1 {
		t.Fatalf("%s: %d merges of %d classes", name, len(merges), k)
	}
	below := make([][]int, 0, 2*k-1) // classes of each group
	for c := range k {
		below = append(below, []int{c})
	}
	for _, m := range merges {
		if below[m.left][0] > below[m.right][0] {
			t.Errorf("%s: group of class %d to the left of that of %d", name, below[m.left][0], below[m.right][0])
		}
		below = append(below, append(slices.Clone(below[m.left]), below[m.right]...))
	}
	mean := func(a, b int) float64 {
		sum := 0.0
		for _, p := range below[a] {
			for _, q := range below[b] {
				sum += space.Distance(p, q)
			}
		}
		return sum / float64(len(below[a])*len(below[b]))
	}
	order, alive := make([]int, k-1), make(map[int]bool)
	for n := range order {
		order[n] = n
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(merges[a].height, merges[b].height) })
	for c := range k {
		alive[c] = true
	}
	for _, n := range order {
		m := merges[n]
		if !alive[m.left] || !alive[m.right] {
			t.Fatalf("%s: merge %d at %v comes before its parts", name, n, m.height)
		}
		height := mean(m.left, m.right)
		if math.Abs(m.height-height) > max(within, 1e-12)*height { // what rounding swapped stays as high as its parts
			t.Errorf("%s: merge %d at height %v, want the mean %v", name, n, m.height, height)
		}
		for a := range alive {
			for b := range alive {
				if a < b && mean(a, b) < height*(1-within) {
					t.Errorf("%s: merge %d joins groups %v apart, but %d and %d are at %v", name, n, height, a, b, mean(a, b))
				}
			}
		}
		delete(alive, m.left)
		delete(alive, m.right)
		alive[k+n] = true
	}
}

// TestRoundedLinkage compares the form for many classes with the exact one.
func TestRoundedLinkage(t *testing.T) {
	none := func(int, int, float64) error { return nil }
	for seed := range uint64(5) {
		space := randomSpace(seed, 300, false)
		exact, _ := average(space, none)
		rounded, _ := averageRounded(space, none)
		for n, m := range exact {
			r := rounded[n]
			if r.left != m.left || r.right != m.right || math.Abs(r.height-m.height) > 1e-12*m.height {
				t.Fatalf("seed %d: merge %d is %v, want %v", seed, n, r, m)
			}
		}
	}
	bad := errors.New("bad")
	for _, at := range []int{0, 20, 290} { // in the row of class 0, in the first block, in the last
		_, err := averageRounded(metric.Func(300, func(i, j int) float64 {
			if min(i, j) == at {
				return -1
			}
			return 1
		}), func(i, j int, x float64) error {
			if x < 0 && i == at && j == at+1 {
				return bad
			}
			return nil
		})
		if !errors.Is(err, bad) {
			t.Errorf("a bad distance in row %d: %v", at, err)
		}
	}
}

func BenchmarkLinkage(b *testing.B) {
	for _, k := range []int{100, 1000, 5000, 10_000, 20_000} {
		b.Run(fmt.Sprintf("k=%d/d=50", k), func(b *testing.B) {
			random := rand.New(rand.NewPCG(uint64(k), 1))
			rows := matrix.NewDense(k, 50)
			for n := range rows.Data {
				rows.Data[n] = float32(random.NormFloat64())
			}
			space, err := metric.Euclidean(rows)
			if err != nil {
				b.Fatal(err)
			}
			labels := numbered(k)
			for b.Loop() {
				if _, err := Linkage(space, labels); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

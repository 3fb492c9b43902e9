package score

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// Among many classes, most of them passed over unseen, the first are those of a sort; of
// equal ones the first by number.
func TestFirstOfMany(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 5))
	for _, k := range []int{1, 16, firstBlock, firstBlock + 1, 5*firstBlock + 77} {
		for _, different := range []int{3, 1 << 30} {
			p := make([]float32, k)
			want := make([]int, k)
			for j := range p {
				p[j], want[j] = float32(random.IntN(different)), j
			}
			slices.SortStableFunc(want, func(a, b int) int { return cmp.Compare(p[b], p[a]) })
			for _, n := range []int{1, 5, 2000} {
				if got := First(make([]int, 0, n), p, nil); !slices.Equal(got, want[:min(n, k)]) {
					t.Errorf("%d of %d classes with %d values: another order than sorting", n, k, different)
				}
			}
		}
	}
}

// A wrong number is found wherever it stands.
func TestCheckProbabilitiesOfMany(t *testing.T) {
	for _, k := range []int{3, 100, 5000} {
		p := make([]float32, k)
		for j := range p {
			p[j] = 1 / float32(k)
		}
		if err := CheckProbabilities(p, k); err != nil {
			t.Error(err)
		}
		nan := float32(0)
		nan /= nan
		for _, wrong := range []float32{-1e-9, 1.1, nan} {
			for _, at := range []int{0, k / 2, k - 1} {
				bad := slices.Clone(p)
				bad[at] = wrong
				if CheckProbabilities(bad, k) == nil {
					t.Errorf("%v of class %d of %d, and no error", wrong, at, k)
				}
			}
		}
	}
}

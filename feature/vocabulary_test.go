package feature

import (
	"fmt"
	"testing"
)

// A vocabulary finds its n-grams and no others, whatever their number.
func TestVocabulary(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 1000} {
		var grams []string
		for i := range n {
			grams = append(grams, fmt.Sprintf("c%04d", 3*i))
		}
		v := newVocabulary(grams)
		for i := range 3*n + 3 {
			want := int32(-1)
			if i%3 == 0 && i < 3*n {
				want = int32(i / 3)
			}
			if got := v.find(fmt.Appendf(nil, "c%04d", i)); got != want {
				t.Errorf("%d n-grams: c%04d is number %d, want %d", n, i, got, want)
			}
		}
	}
}

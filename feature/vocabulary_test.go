package feature

import (
	"fmt"
	"slices"
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

// A vocabulary that grows numbers n-grams as they come, each once, as one made of them all.
func TestVocabularyGrows(t *testing.T) {
	v := newVocabulary(nil)
	for i := range 3000 {
		gram := i * i % 1009
		number := v.findOrAdd(fmt.Appendf(nil, "w%d", gram))
		if want := fmt.Sprintf("w%d", gram); v.grams[number] != want {
			t.Fatalf("%s has the number %d, that of %s", want, number, v.grams[number])
		}
	}
	if want := 505; len(v.grams) != want { // squares modulo a prime
		t.Errorf("%d n-grams, want %d", len(v.grams), want)
	}
	if whole := newVocabulary(v.grams); len(whole.slot) != len(v.slot) || whole.number != v.number {
		t.Errorf("%d slots with numbers up to %d, of the whole %d and %d", len(v.slot), v.number, len(whole.slot), whole.number)
	}
}

// Entries of a row are sorted by feature, few and many, up to the largest feature.
func TestRowsAreSorted(t *testing.T) {
	for _, dim := range []int{1, 200, 256, 257, 70_000, 1 << 24} {
		for _, n := range []int{0, 1, 32, 33, 500} {
			var r textRow
			for i := range min(n, dim) {
				r.add(int32((i*7919+dim-1)%dim), uint32(n-i))
			}
			want := slices.Sorted(slices.Values(r.entries))
			r.sort(dim)
			if !slices.Equal(r.entries, want) {
				t.Errorf("%d entries of %d features are not sorted", n, dim)
			}
		}
	}
}

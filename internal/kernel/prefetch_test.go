package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSpread asks for every line once at least and in order, or for none.
func TestSpread(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	for range 500 {
		rows, lines, steps := 1+rng.IntN(28), 1+rng.IntN(3), 1+rng.IntN(120)
		start := rng.IntN(3) * CacheLine
		stride := CacheLine * (lines + rng.IntN(5))
		want := lineOffsets(nil, start, rows, stride, lines)
		if len(want) != rows*lines || want[len(want)-1] != 4*(start+(rows-1)*stride+(lines-1)*CacheLine) {
			t.Fatalf("%d rows of %d lines: %v", rows, lines, want)
		}
		got := spread(make([]int, 0, steps), steps, want)
		if len(want) > steps {
			if len(got) > 0 {
				t.Fatalf("%d lines in %d steps: %v", len(want), steps, got)
			}
			continue
		}
		if len(got) != steps || !slices.IsSorted(got) || !slices.Equal(slices.Compact(slices.Clone(got)), want) {
			t.Fatalf("%d lines in %d steps: %v", len(want), steps, got)
		}
	}
}

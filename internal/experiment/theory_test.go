package experiment

import (
	"context"
	"testing"
)

// The exponents of the issue: ‖V*‖ in 0.38 to 0.47, ‖W*‖ in 0.49 to 0.51.
func TestExponents(t *testing.T) {
	r, err := Run(context.Background(), []Name{Norms}, Options{Runs: 12, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if v := r.Norms.Exponent(NormV); !(v.Mean > 0.38 && v.Mean < 0.47) {
		t.Errorf("‖V*‖ grows as k to the power %v", v)
	}
	if w := r.Norms.Exponent(NormW); !(w.Mean > 0.49 && w.Mean < 0.51) {
		t.Errorf("‖W*‖ grows as k to the power %v", w)
	}
	for _, p := range r.Norms.Sweep.Points {
		get := func(name string) float64 {
			row, ok := r.Norms.Find(name, p.X)
			if !ok {
				t.Fatalf("no %s at k = %v", name, p.X)
			}
			return row.Value.Mean
		}
		if get(NormV) > get(NormU) || get(NormV) > get(NormW) {
			t.Errorf("k = %v: ‖V*‖ = %v, ‖U*‖ = %v, ‖W*‖ = %v", p.X, get(NormV), get(NormU), get(NormW))
		}
		if get(NormU) > get(BoundU) || get(NormW) > get(BoundW) {
			t.Errorf("k = %v: a norm is above its bound", p.X)
		}
		if get(DoublingLow) > get(DoublingHigh) {
			t.Errorf("k = %v: doubling dimension from %v to %v", p.X, get(DoublingLow), get(DoublingHigh))
		}
	}
}

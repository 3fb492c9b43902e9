package tune

import (
	"context"
	"testing"
)

// A climb ends at the first prior that gains nothing, keeps the duals of the best alone, and
// the last fit starts there: its examples are the rows, then the names.
func TestClimb(t *testing.T) {
	ctx := context.Background()
	d, rows, _ := topicData(t, 40, 1, same)
	h := hold(d, rows, Options{Seed: 1})
	h.parts, h.class = h.parts[:1], h.class[:len(h.parts[0].test)]
	m := Method{Names: true}
	priors := []float64{0.01, 3, 0.001, 30} // the third gains nothing
	attempts, err := h.climb(ctx, m, priors, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(attempts) != 3 {
		t.Fatalf("%d of %d priors tried, want 3", len(attempts), len(priors))
	}
	best := bestOf(attempts)
	for _, a := range attempts {
		if (a.duals != nil) != (a == best) {
			t.Errorf("prior %v: duals kept %v, the best is %v", a.prior, a.duals != nil, best.prior)
		}
	}
	r, err := finalAttempt(ctx, d, rows, h, best, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	cold, err := Settings{m, best.prior}.Fit(ctx, d, rows, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if diff := r.Record.Objective/cold.Record.Objective - 1; diff > 2e-3 || diff < -2e-3 {
		t.Errorf("objective %g from held-out duals, %g from 0", r.Record.Objective, cold.Record.Objective)
	}
}

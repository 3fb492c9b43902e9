package softmax

import (
	"context"
	"testing"

	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/sharing"
)

// A fit that starts from the duals of another, with another prior and on fewer examples,
// ends at the minimum that it would have found from 0, in fewer passes.
func TestDualsStartAFit(t *testing.T) {
	ctx := context.Background()
	const n, d, k = 600, 900, 12
	all := texts(3, n, d, k)
	var first, at []int // the first fit has no example whose number ends in 3
	for i := range n {
		if i%10 == 3 {
			at = append(at, -1)
			continue
		}
		at = append(at, len(first))
		first = append(first, i)
	}
	part := Examples{X: all.X.Select(first)}
	for _, i := range first {
		part.Class = append(part.Class, all.Class[i])
	}
	tree := sharing.NewTree(starTree(t, classNames(k)))
	for name, o := range map[string]Options{
		"cross entropy":    {Loss: loss.CrossEntropy{}, Sharing: sharing.None{K: k}, Trainer: Converge{Tolerance: 1e-4}},
		"behind a sharing": {Loss: loss.CrossEntropy{}, Sharing: tree, Trainer: Converge{Tolerance: 1e-4}},
		"squared hinge":    {Trainer: SquaredHinge{Tolerance: 1e-4}},
	} {
		from, o := &Duals{}, o
		o.Threads = 2
		fit := func(ex Examples, prior float64, duals *Duals) Record {
			t.Helper()
			o.Prior, o.Duals = prior, duals
			_, r, err := Fit(ctx, ex, k, o)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		cold := fit(all, 30, nil)
		fit(part, 10, from)
		warm := fit(all, 30, from.For(at))
		if diff := warm.Objective/cold.Objective - 1; diff > 2e-3 || diff < -2e-3 {
			t.Errorf("%s: objective %g from duals, %g from 0", name, warm.Objective, cold.Objective)
		}
		if warm.Steps > cold.Steps {
			t.Errorf("%s: %d passes from duals, %d from 0", name, warm.Steps, cold.Steps)
		}
		// Duals of other examples are no start, but no error either.
		if other := fit(part, 30, from.For(at)); !other.Converged {
			t.Errorf("%s: duals of %d examples spoil a fit of %d", name, len(at), len(first))
		}
	}
}

// classNames returns k names.
func classNames(k int) []string {
	var out []string
	for c := range k {
		out = append(out, string(rune('a'+c)))
	}
	return out
}

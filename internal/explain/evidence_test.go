package explain

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/treeloss/treeloss/dataset"
)

// The pieces of a text are the text, and their contributions add up to the difference of the
// scores without its bias.
func TestEvidenceAddsUp(t *testing.T) {
	e, err := New(modelOf(t, dataset.Text, false), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"I lost my card", "  the fee\tis late, my CARD! ", "", "xyzzy", "ca\xffrd did \u00e9 arrive"} {
		x := dataset.Example{Text: text, Weight: 1}
		for _, pair := range [][2]int{{0, 1}, {4, 2}, {3, -1}, {2, 2}} {
			list, _, err := e.Evidence(x, pair[0], pair[1])
			if err != nil {
				t.Fatal(err)
			}
			between, err := e.Between(x, pair[0], pair[1])
			if err != nil {
				t.Fatal(err)
			}
			whole, sum := "", 0.0
			for _, p := range list {
				whole, sum = whole+p.Text, sum+p.Contribution
			}
			if whole != text {
				t.Errorf("the pieces of %q are %q", text, whole)
			}
			if want := between.Difference - between.Bias; math.Abs(sum-want) > 1e-9 {
				t.Errorf("%q, %v: words add up to %v, want %v", text, pair, sum, want)
			}
		}
	}
	if _, _, err := e.Evidence(dataset.Example{}, 5, 0); err == nil {
		t.Error("class 5 of 5 has evidence")
	}
	if _, err := e.Between(dataset.Example{}, 0, 7); err == nil {
		t.Error("class 7 of 5 is compared with")
	}
	for _, m := range []struct {
		kind         dataset.Kind
		hierarchical bool
	}{{dataset.Text, true}, {dataset.Numbers, false}} {
		e, err := New(modelOf(t, m.kind, m.hierarchical), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if list, _, err := e.Evidence(records(m.kind)[0], 0, 1); err != nil || list != nil {
			t.Errorf("%v, hierarchical %v: %v %v, want nothing", m.kind, m.hierarchical, list, err)
		}
	}
}

// Strongest agrees with a sort of all differences, and Nearest with NearestByWeights.
func TestStrongestAndNearest(t *testing.T) {
	m := modelOf(t, dataset.Text, false)
	e, err := New(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	k, n := m.Layer.Classes, 6
	pairs := [][2]int{{0, -1}, {1, 3}, {4, 0}}
	got, err := e.Strongest(context.Background(), pairs, n)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range pairs {
		var all []Weight
		for f := range m.Layer.Features {
			row := m.Layer.Weight[f*k : (f+1)*k]
			w := float64(row[p[0]])
			if p[1] >= 0 {
				w -= float64(row[p[1]])
			} else {
				for _, x := range row {
					w -= float64(x) / float64(k)
				}
			}
			all = append(all, Weight{m.Features.Name(f), w})
		}
		slices.SortFunc(all, func(a, b Weight) int { return cmp.Compare(b.Weight, a.Weight) })
		for j := range n {
			a, b := got[i].For[j], all[j]
			c, d := got[i].Against[j], all[len(all)-1-j]
			if a.Feature != b.Feature || math.Abs(a.Weight-b.Weight) > 1e-6 || c.Feature != d.Feature || math.Abs(c.Weight-d.Weight) > 1e-6 {
				t.Errorf("%v, place %d: %v and %v, want %v and %v", p, j, a, c, b, d)
			}
		}
	}
	near, err := e.Nearest(context.Background(), []int{2, 0, 4})
	if err != nil {
		t.Fatal(err)
	}
	for i, class := range []int{2, 0, 4} {
		want, err := e.nearestByWeights(context.Background(), class)
		if err != nil {
			t.Fatal(err)
		}
		for j := range want {
			if near[i][j].Label != want[j].Label || math.Abs(near[i][j].Cosine-want[j].Cosine) > 1e-5 {
				t.Errorf("class %d: nearest %v, want %v", class, near[i], want)
			}
		}
	}
	if _, err := e.Strongest(context.Background(), [][2]int{{5, 0}}, 1); err == nil {
		t.Error("class 5 of 5 has strongest features")
	}
	hierarchical, err := New(modelOf(t, dataset.Text, true), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := hierarchical.Strongest(context.Background(), pairs, n); got != nil || err != nil {
		t.Errorf("a hierarchical softmax has strongest features %v, %v", got, err)
	}
}

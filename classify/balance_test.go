package classify_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/softmax"
)

// probabilities returns those of the classes for one text.
func probabilities(t *testing.T, c classify.Classifier, text string) (out []float32) {
	t.Helper()
	runners, err := c.Runners(1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runners[0](t.Context(), []dataset.Example{{Text: text}}, func(_ int, p []float32) error {
		out = append(out, p...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// pets are trained on three examples of each class.
func TestRebalance(t *testing.T) {
	c, err := pets()
	if err != nil {
		t.Fatal(err)
	}
	labels, before := c.About().Labels, probabilities(t, c, "it purrs on the sofa")
	for _, tc := range []struct {
		name    string
		weights map[string]float64
		factor  map[string]float64 // beside the other classes
	}{
		{"as in training", map[string]float64{"cat": 3, "dog": 3, "bird": 3}, nil},
		{"even", map[string]float64{classify.OtherClasses: 0.2}, nil},
		{"more dogs", map[string]float64{"cat": 1, "dog": 50, "bird": 1}, map[string]float64{"dog": 50}},
		{"fewer cats", map[string]float64{"cat": 0.01, classify.OtherClasses: 1}, map[string]float64{"cat": 0.01}},
	} {
		b, err := classify.Rebalance(c, tc.weights)
		if err != nil {
			t.Fatal(err)
		}
		want, sum := make([]float64, len(labels)), 0.0
		for i, label := range labels {
			want[i] = float64(before[i])
			if f, ok := tc.factor[label]; ok {
				want[i] *= f
			}
			sum += want[i]
		}
		for i, p := range probabilities(t, b, "it purrs on the sofa") {
			if math.Abs(float64(p)-want[i]/sum) > 1e-6 {
				t.Errorf("%s, %s: %v, want %v", tc.name, labels[i], p, want[i]/sum)
			}
		}
		if _, err := classify.Target(b.About(), decide.Rule{}, 0.9); err == nil || !strings.Contains(err.Error(), "exclude") {
			t.Errorf("%s: an accuracy promised: %v", tc.name, err)
		}
		// One after the other, not one on the other.
		back, err := classify.Rebalance(b, map[string]float64{classify.OtherClasses: 1})
		if err != nil {
			t.Fatal(err)
		}
		if p := probabilities(t, back, "it purrs on the sofa"); math.Abs(float64(p[0]-before[0])) > 1e-6 {
			t.Errorf("%s, and back: %v, want %v", tc.name, p, before)
		}
	}
	if after := probabilities(t, c, "it purrs on the sofa"); after[0] != before[0] {
		t.Errorf("the classifier itself is changed: %v, before %v", after, before)
	}
}

// A classifier of no kind that has frequencies.
type network struct{ classify.Classifier }

func (network) About() classify.About { return classify.About{Kind: classify.PictureNetwork} }

func TestRebalanceRefuses(t *testing.T) {
	c, err := pets()
	if err != nil {
		t.Fatal(err)
	}
	changed := func(change func(m *softmax.Model)) classify.Classifier {
		m := *classify.LinearModelOf(c)
		change(&m)
		return classify.Linear(&m)
	}
	even := map[string]float64{classify.OtherClasses: 1}
	for _, tc := range []struct {
		c       classify.Classifier
		weights map[string]float64
		want    string
	}{
		{c, map[string]float64{"cat": 1}, `no weight for "bird", "dog"`},
		{c, map[string]float64{}, `or * one for all others`},
		{c, map[string]float64{"cat": 1, "dog": 1, "bird": 1, "cow": 1}, `no class "cow"`},
		{c, map[string]float64{"cat": 0, "dog": 1, "bird": 1}, `the weight of "cat" is 0, want a number above 0`},
		{c, map[string]float64{"cat": -2, "dog": 1, "bird": 1}, `the weight of "cat" is -2`},
		{c, map[string]float64{classify.OtherClasses: math.Inf(1)}, `the weight of "bird" is +Inf`},
		{c, map[string]float64{"cat": math.NaN(), classify.OtherClasses: 1}, `the weight of "cat" is NaN`},
		{changed(func(m *softmax.Model) { m.ClassTotals = nil }), even, "train it again"},
		{changed(func(m *softmax.Model) { m.ClassTotals = []float32{3, 0, 3} }), even, `no example of the class "cat"`},
		{changed(func(m *softmax.Model) { m.Multilabel = &softmax.Multilabel{} }), even, "several labels"},
		{network{c}, even, "a network on pictures"},
	} {
		_, err := classify.Rebalance(tc.c, tc.weights)
		if !errors.Is(err, classify.ErrBalance) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v: %v, want %q", tc.weights, err, tc.want)
		}
	}
}

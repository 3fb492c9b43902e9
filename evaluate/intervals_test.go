package evaluate_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/treeloss/treeloss/evaluate"
)

// The standard errors are those of a bootstrap: examples drawn again and again.
func TestIntervalsAgainstBootstrap(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	in := random(rng, 400)
	result := func(in rows) *evaluate.Result {
		e, err := evaluate.New(classifier(t), evaluate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Count(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		r, err := e.Result()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	want := result(in).Intervals
	sum, squares := map[string]float64{}, map[string]float64{}
	const draws = 300
	for range draws {
		again := rows{block: 50}
		for range in.p {
			i := rng.IntN(len(in.p))
			again.p, again.label = append(again.p, in.p[i]), append(again.label, in.label[i])
		}
		for key, i := range result(again).Intervals {
			sum[key] += i.Mean
			squares[key] += i.Mean * i.Mean
		}
	}
	for _, key := range []string{"accuracy", "top5_accuracy", "macro_f1", "similarity_accuracy", "log_loss", "mistake_severity", "hierarchical_distance_1"} {
		mean := sum[key] / draws
		se := math.Sqrt(squares[key]/draws - mean*mean)
		if i, ok := want[key]; !ok || math.Abs(i.SE-se) > 0.2*se+1e-9 || !(i.Low <= i.Mean && i.Mean <= i.High) {
			t.Errorf("%s: %+v, the bootstrap's standard error is %v", key, i, se)
		}
	}
	// The calibration error of a draw is larger than that of its source, so that only its spread is looked at loosely.
	if i := want["calibration_error"]; i.SE < 0.005 || i.SE > 0.05 {
		t.Errorf("calibration error: %+v", i)
	}
}

// In JSON intervals stand by the keys of the measures, and thresholds give less and less.
func TestIntervalsInJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	in := random(rng, 100)
	r := measure(t, evaluate.Options{Confidences: []float64{0.5, 0.9}}, in, rows{block: 1, label: []string{""}, p: in.p[:1]})
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Accuracy  float64
		Intervals map[string]struct{ Mean, Low, High float64 }
		Coverage  []struct{ Threshold, Answered float64 }
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	if i := out.Intervals["accuracy"]; i.Mean != out.Accuracy || i.Low >= i.Mean || i.High <= i.Mean {
		t.Errorf("accuracy %v, interval %+v", out.Accuracy, i)
	}
	for n := range out.Coverage[1:] {
		if out.Coverage[n+1].Answered > out.Coverage[n].Answered || out.Coverage[0].Answered != 1 {
			t.Errorf("coverage %+v", out.Coverage)
		}
	}
}

// Hedged answers of further confidences are what that confidence alone gives.
func TestConfidences(t *testing.T) {
	in := random(rand.New(rand.NewPCG(3, 9)), 200)
	hedging := func(o evaluate.Options) []evaluate.Hedged {
		e, err := evaluate.New(classifier(t), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Count(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		return e.Hedging()
	}
	both := hedging(evaluate.Options{Confidences: []float64{0.5, 0.9}})
	for i, c := range []float64{0.5, 0.9} {
		alone := hedging(evaluate.Options{Confidences: []float64{c}})
		if both[i].Confidence != c || *both[i].Answers.Accuracy != *alone[0].Answers.Accuracy || both[i].Answers.Unknown != alone[0].Answers.Unknown {
			t.Errorf("confidence %v: %+v, alone %+v", c, both[i], alone[0])
		}
	}
	if *both[0].Answers.ClassShare < *both[1].Answers.ClassShare {
		t.Error("a higher confidence has more answers of a single class")
	}
}

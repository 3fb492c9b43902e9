package score_test

import (
	"fmt"

	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/score"
)

// A bear taken for a boxer is a smaller mistake than a bear taken for a truck.
func Example() {
	names := []string{"bear", "boxer", "truck"}
	similarity, err := score.NewSimilarity(&matrix.Dense{Columns: 2, Data: []float32{4, 3, 3, 4, 0, -1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	counter, err := score.NewCounter(len(names), score.Options{Similarity: similarity})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, example := range []struct {
		truth         int
		probabilities []float32
	}{
		{0, []float32{0.5, 0.25, 0.25}},
		{0, []float32{0.25, 0.5, 0.25}},
		{2, []float32{0, 0, 1}},
		{score.Unknown, []float32{0, 1, 0}},
	} {
		if err := counter.Add(example.truth, example.probabilities); err != nil {
			fmt.Println(err)
			return
		}
	}
	report := counter.Report()
	fmt.Printf("accuracy %.2f, similarity accuracy %.2f, log loss %.3f nats\n",
		report.Accuracy, report.SimilarityAccuracy, report.LogLoss)
	for _, mistake := range counter.Confusions(5) {
		fmt.Printf("%s taken for %s: %d\n", names[mistake.True], names[mistake.Predicted], mistake.Count)
	}
	// Output:
	// accuracy 0.50, similarity accuracy 0.74, log loss 0.693 nats
	// bear taken for boxer: 1
}

func ExamplePairedRows() {
	names := []bool{true, true, true, false, true, true, true, false}
	plain := []bool{true, false, true, false, false, true, false, false}
	d, err := score.PairedRows(names, plain)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%+.1f ± %.1f points, %d rows to %d, p = %.2f\n",
		100*d.Interval.Mean, 100*d.Interval.SE, d.OnlyFirst, d.OnlySecond, d.PValue)
	// Output: +37.5 ± 18.3 points, 3 rows to 0, p = 0.25
}

// Two classifiers with the same accuracy: one takes huskies for boxers, the
// other for trucks.
func ExampleCounter_severity() {
	labels := []string{"husky", "boxer", "truck", "bus"}
	tree, err := labeltree.FromParents(map[string]string{
		"husky": "dog", "boxer": "dog", "truck": "vehicle", "bus": "vehicle",
	}, labels)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, wrong := range []int{1, 2} {
		counter, err := score.NewCounter(len(labels), score.Options{Tree: tree})
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, predicted := range []int{0, 0, 0, wrong} {
			probabilities := make([]float32, len(labels))
			probabilities[predicted] = 1
			if err := counter.Add(0, probabilities); err != nil {
				fmt.Println(err)
				return
			}
		}
		r := counter.Report()
		fmt.Printf("husky taken for %s: accuracy %.2f, mistake severity %.0f, hierarchical F1 %.3f\n",
			labels[wrong], r.Accuracy, r.MistakeSeverity, r.HierarchicalF1)
	}
	// Output:
	// husky taken for boxer: accuracy 0.75, mistake severity 1, hierarchical F1 0.875
	// husky taken for truck: accuracy 0.75, mistake severity 2, hierarchical F1 0.750
}

func ExampleAUROC() {
	intents := []float64{0.9, 0.8, 0.4} // probability of the answer to what the classes cover
	others := []float64{0.3, 0.5}       // and to what they do not
	auroc, err := score.AUROC(intents, others)
	if err != nil {
		fmt.Println(err)
		return
	}
	at, err := score.DetectionAt(intents, others, 0.6)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("AUROC %.2f; at %.1f: %.0f %% of the decisions are right\n", auroc.Mean, at.Threshold, 100*at.Right)
	// Output: AUROC 0.83; at 0.6: 80 % of the decisions are right
}

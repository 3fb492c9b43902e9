package score_test

import (
	"fmt"

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

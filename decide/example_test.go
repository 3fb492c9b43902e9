package decide_test

import (
	"fmt"
	"strings"

	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/labeltree"
)

// Probabilities of husky, sheepdog, boxer, bear, truck and bus.
func ExampleDecider() {
	tree, err := labeltree.FromParents(map[string]string{
		"husky": "dog", "sheepdog": "dog", "boxer": "dog", "dog": "animal", "bear": "animal",
		"truck": "vehicle", "bus": "vehicle", "animal": "thing", "vehicle": "thing",
	}, []string{"husky", "sheepdog", "boxer", "bear", "truck", "bus"})
	if err != nil {
		fmt.Println(err)
		return
	}
	decided := func(rule decide.Rule, p []float32) (*decide.Decider, decide.Answer) {
		d, err := decide.NewDecider(rule, len(p), tree)
		if err != nil {
			fmt.Println(err)
			return nil, decide.Answer{}
		}
		answer, err := d.Decide(p)
		if err != nil {
			fmt.Println(err)
		}
		return d, answer
	}
	// A dog of which it cannot tell the breed is a dog.
	for _, confidence := range []float64{0.4, 0.9, 0.95, 0.99} {
		d, a := decided(decide.Rule{Confidence: confidence}, []float32{0.45, 0.4, 0.07, 0.05, 0.02, 0.01})
		fmt.Printf("confidence %.2f: %s (%.2f)\n", confidence, strings.Join(d.Path(a), " > "), a.Choices[0].Probability)
	}
	// A truck is the likeliest of all, but most likely it is a dog.
	p := []float32{0.25, 0.2, 0.15, 0, 0.4, 0}
	_, likely := decided(decide.Rule{}, p)
	_, least := decided(decide.Rule{Cost: true}, p)
	c := least.Choices[0]
	fmt.Printf("likely %s, of least cost %s: %.2f up the tree on average\n", tree.Labels()[likely.Choices[0].Class], tree.Labels()[c.Class], c.Cost)
	// Output:
	// confidence 0.40: thing > animal > dog > husky (0.45)
	// confidence 0.90: thing > animal > dog (0.92)
	// confidence 0.95: thing > animal (0.97)
	// confidence 0.99: thing (1.00)
	// likely truck, of least cost husky: 1.55 up the tree on average
}

// Scores that are twice as far apart as they should be.
func ExampleFitTemperature() {
	rows := []float32{2, 0, 2, 0, 2, 0, 0, 2} // four held-out rows, two classes
	c, err := decide.FitTemperature(rows, 2, []int{0, 0, 1, 1}, nil, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := make([]float32, 2)
	if err := decide.Softmax(p, rows[:2], c.Temperature); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("temperature %.2f, log loss %.2f before and %.2f after; the first row is now at %.2f\n",
		c.Temperature, c.LogLossBefore, c.LogLossAfter, p[0])
	// Output: temperature 1.82, log loss 0.63 before and 0.56 after; the first row is now at 0.75
}

// Of 200 held-out examples the 120 surest answers are nearly all right: answers from the
// threshold on can be promised to be right in nine of ten cases.
func ExampleRiskCoverage_Promise() {
	var scores []float32
	var classes []int
	for i := range 200 {
		// The sure ones have the odds 20:1 for class 0, the others 1:1.
		odds, class := float32(3), 0
		if i >= 120 {
			odds = 0
		}
		if i%40 == 0 || i >= 120 && i%2 == 0 {
			class = 1
		}
		scores, classes = append(scores, odds, 0), append(classes, class)
	}
	held, err := decide.CountAnswers(decide.Calibration{Temperature: 1}, scores, 2, classes, nil, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	promise, ok, err := held.Promise(0.9, decide.PromiseConfidence)
	fmt.Printf("%t, %d answered, %d right, at least %.3f, %v\n", ok, promise.Answered, promise.Right, promise.Lowest, err)
	_, ok, _ = held.Promise(0.99, decide.PromiseConfidence)
	fmt.Printf("0.99: %t; the best: %.3f\n", ok, held.Best(decide.PromiseConfidence))
	// Output:
	// true, 120 answered, 117 right, at least 0.945, <nil>
	// 0.99: false; the best: 0.945
}

package explain_test

import (
	"context"
	"fmt"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/internal/explain"
	"github.com/treeloss/treeloss/softmax"
)

// Two breads by length and weight: 4 and 6 are one standard deviation from the
// mean length 5, and the weights make a long bread a loaf.
func ExampleExplainer_Explain() {
	table := feature.NewTable(dataset.Numbers, []string{"length", "weight"})
	for _, x := range [][]float64{{4, 70}, {6, 90}} {
		if err := table.Add(dataset.Example{Values: x}); err != nil {
			fmt.Println(err)
			return
		}
	}
	set, err := table.Fit([]int{0, 1}, feature.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := &softmax.Model{
		Features: set,
		Labels:   []string{"loaf", "roll"},
		Layer: &softmax.Layer{Classes: 2, Features: 2,
			Weight: []float32{2, -1, -0.5, 0.5}, // of length for loaf and roll, then of weight
			Bias:   []float32{0.25, 0}},
	}
	e, err := explain.New(m, explain.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	why, err := e.Explain(context.Background(), dataset.Example{Values: []float64{6, 90}})
	if err != nil {
		fmt.Println(err)
		return
	}
	rival := why.Decisions[0].Rival
	fmt.Printf("%s, not %s: %+.2f nats\n", why.Label, rival.Name, rival.Difference)
	fmt.Printf("bias %+.2f\n", rival.Bias)
	for _, c := range append(rival.Positive, rival.Negative...) {
		fmt.Printf("%s %+.2f\n", c.Feature, c.Contribution)
	}
	// Output:
	// loaf, not roll: +2.25 nats
	// bias +0.25
	// length +3.00
	// weight -1.00
}

package softmax_test

import (
	"context"
	"fmt"

	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/softmax"
)

// Two features, three classes, and a look at how the prior trades certainty
// for caution.
func ExampleFitPath() {
	examples := softmax.Examples{
		X:     &matrix.Dense{Columns: 2, Data: []float32{1, 0, 0.9, 0.1, 0, 1, 0.2, 0.9, -1, -1, -0.8, -1}},
		Class: []int32{0, 0, 1, 1, 2, 2},
	}
	err := softmax.FitPath(context.Background(), examples, 3, softmax.Options{}, []float64{0.1, 1, 10},
		func(prior float64, l *softmax.Layer, r softmax.Record) error {
			return l.PredictAll(examples.X, 1, func(row int, p []float32) {
				if row == 0 {
					fmt.Printf("prior %-4g converged %v, the first row is class %d with probability %.2f\n", prior, r.Converged, softmax.Top(p), p[0])
				}
			})
		})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// prior 0.1  converged true, the first row is class 0 with probability 0.38
	// prior 1    converged true, the first row is class 0 with probability 0.62
	// prior 10   converged true, the first row is class 0 with probability 0.91
}

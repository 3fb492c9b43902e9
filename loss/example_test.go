package loss_test

import (
	"fmt"

	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/loss"
)

// A cat that is taken for a dog, and one that is taken for a car: cross entropy
// does not care which, hierarchical cross entropy and SimLoss do.
func Example() {
	labels := []string{"cat", "dog", "car"}
	tree, err := labeltree.FromParents(map[string]string{"cat": "animal", "dog": "animal", "animal": "thing", "car": "thing"}, labels)
	if err != nil {
		panic(err)
	}
	hxe, err := loss.NewHXE(tree, 0.5)
	if err != nil {
		panic(err)
	}
	similarity := func(y, c int) float64 {
		if y+c == 1 { // cat and dog
			return 0.9
		}
		return 0
	}
	simLoss, err := loss.NewSimLoss(len(labels), similarity, 0.5)
	if err != nil {
		panic(err)
	}
	p, grad := make([]float64, 3), make([]float64, 3)
	for _, scores := range [][]float64{{1, 2, 0}, {1, 0, 2}} {
		fmt.Printf("scores of cat, dog, car: %v\n", scores)
		for _, l := range []loss.Loss{loss.CrossEntropy{}, hxe, simLoss} {
			fmt.Printf("  %-18T %.3f nats, gradient %+.2f\n", l, loss.Evaluate(l, p, grad, scores, 0), grad)
		}
	}
	// Output:
	// scores of cat, dog, car: [1 2 0]
	//   loss.CrossEntropy  1.408 nats, gradient [-0.76 +0.67 +0.09]
	//   *loss.HXE          0.891 nats, gradient [-0.47 +0.38 +0.09]
	//   *loss.SimLoss      0.252 nats, gradient [-0.07 -0.02 +0.09]
	// scores of cat, dog, car: [1 0 2]
	//   loss.CrossEntropy  1.408 nats, gradient [-0.76 +0.09 +0.67]
	//   *loss.HXE          1.284 nats, gradient [-0.65 -0.02 +0.67]
	//   *loss.SimLoss      1.150 nats, gradient [-0.53 -0.14 +0.67]
}

// The hierarchical softmax has a score for each node but the root, in the order of
// the tree's nodes, and a softmax among siblings.
func ExampleProbabilities() {
	tree, err := labeltree.FromParents(map[string]string{"cat": "animal", "dog": "animal", "animal": "thing", "car": "thing"}, []string{"cat", "dog", "car"})
	if err != nil {
		panic(err)
	}
	h, err := loss.NewHierarchicalSoftmax(tree)
	if err != nil {
		panic(err)
	}
	scores := make([]float32, h.Scores())
	for v := 1; v < tree.Len(); v++ {
		scores[v-1] = map[string]float32{"animal": 1, "car": 0, "cat": 0, "dog": 0}[tree.Name(v)]
	}
	p := make([]float32, h.Classes())
	loss.Probabilities(h, p, make([]float32, h.Scores()), scores)
	fmt.Printf("%v %.3f\n", tree.Labels(), p)
	// Output:
	// [cat dog car] [0.366 0.366 0.269]
}

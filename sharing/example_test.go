package sharing_test

import (
	"fmt"

	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/sharing"
)

// The animals and the car of the paper's figure 1, in small: cat and dog share
// the row of "animal", and all share that of the root.
func ExampleOperator() {
	tree, err := labeltree.FromParents(map[string]string{
		"cat": "animal", "dog": "animal", "animal": "thing", "car": "thing",
	}, []string{"cat", "dog", "car"})
	if err != nil {
		panic(err)
	}
	s := sharing.NewTree(tree)
	op := sharing.NewOperator[float64](s)

	// One column of V: a number for each node.
	v := make([]float64, s.Rows())
	for n := range v {
		v[n] = map[string]float64{"thing": 1, "animal": 10, "cat": 0.2, "dog": 0.3, "car": -5}[tree.Name(n)]
	}
	w := make([]float64, s.Classes())
	op.Expand(w, v, 1)
	fmt.Println("W = A V:", tree.Labels(), w)

	// An example of a cat when all scores are equal: y - p, times 3. A step on V
	// moves W by K times it, and dog, which plain softmax regression would push
	// down by 1, stays where it is, because the step that cat takes lifts it.
	op.Kernel(w, []float64{2, -1, -1}, 1)
	fmt.Println("step K (y - p):", w)

	// The smallest V that gives cat and dog the weight 1.
	if err := op.MinNorm(v, []float64{1, 1, 0}, 1); err != nil {
		panic(err)
	}
	fmt.Println("least V for W = [1 1 0]:")
	for n, x := range v {
		fmt.Printf("%s %+.2f\n", tree.Name(n), x)
	}
	// Output:
	// W = A V: [cat dog car] [11.2 11.3 -4]
	// step K (y - p): [3 0 -1]
	// least V for W = [1 1 0]:
	// thing +0.25
	// animal +0.50
	// cat +0.25
	// dog +0.25
	// car -0.25
}

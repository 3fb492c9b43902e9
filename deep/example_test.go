package deep_test

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/treeloss/treeloss/deep"
	"github.com/treeloss/treeloss/deep/backend"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/sharing"
)

// Two nets that differ in one line, trained alike on a truck and a cat. No dog
// was ever seen, but the tree says that a dog is an animal, too: in front of the
// cat's picture its logit, the third, is no longer the lowest.
func ExampleDense() {
	labels := []string{"truck", "cat", "dog"}
	tree, err := labeltree.FromParents(map[string]string{"truck": "thing", "cat": "animal", "dog": "animal", "animal": "thing"}, labels)
	if err != nil {
		fmt.Println(err)
		return
	}
	s := sharing.NewTree(tree)

	plain := func(scope *model.Scope, x *graph.Node) *graph.Node {
		return layers.Dense(scope.WithInitializer(initializer.Zero), x, true, 3)
	}
	shared := func(scope *model.Scope, x *graph.Node) *graph.Node {
		return deep.Dense(scope.WithInitializer(initializer.Zero), x, s)
	}

	for _, net := range []func(*model.Scope, *graph.Node) *graph.Node{plain, shared} {
		b, err := backend.Open(backend.Go, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		store := model.NewStore()
		store.SetParam(model.ParamInitialSeed, int64(1))
		trainer := train.NewTrainer(b, store, net, loss.SparseCategoricalCrossEntropyLogits,
			optimizer.StochasticGradientDescent().WithLearningRate(0.5), nil, nil)
		for range 100 {
			_, err := trainer.TrainStep(train.Batch{
				Inputs: []*tensors.Tensor{tensors.FromValue([][]float32{{-1, 1}, {1, 1}})},
				Labels: []*tensors.Tensor{tensors.FromValue([][]int32{{0}, {1}})},
			})
			if err != nil {
				fmt.Println(err)
				return
			}
		}
		logits := model.MustCallOnce(b, store, net, [][]float32{{1, 1}}).Value().([][]float32)[0]
		fmt.Printf("%.1f\n", logits)
	}
	// Output:
	// [-0.8 2.3 -1.5]
	// [-0.6 2.9 -0.6]
}

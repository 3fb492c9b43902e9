// Package network names the networks that treeloss trains and reads and writes
// trained ones:
//
//	name, sharing, loss --Shared--> train.Task; name, tree --Hierarchical--> train.Task
//	trained store --Fold, WithTree--> Model --Save--> one safetensors file
//	file --Load--> Model --Evaluator--> logits, Embedder --> features
//	file of weights --Pretrained--> train.Options.Start
//
// The networks are those of package resnet, on pictures; package bert has its own
// task and model.
package network

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"
	gomlxtrain "github.com/gomlx/gomlx/ml/train"

	"github.com/treeloss/treeloss/deep"
	"github.com/treeloss/treeloss/deep/resnet"
	"github.com/treeloss/treeloss/deep/train"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/sharing"
)

// The networks, of He et al. (2016).
const (
	ResNet20 = "resnet20" // for small pictures
	ResNet50 = "resnet50" // for ImageNet, version 1.5; sides are multiples of 32
)

// Names returns the networks there are.
func Names() []string { return []string{ResNet20, ResNet50} }

// Check returns an error if there is no network of that name.
func Check(name string) error {
	if !slices.Contains(Names(), name) {
		return fmt.Errorf("network: unknown network %q, want one of %s", name, strings.Join(Names(), ", "))
	}
	return nil
}

// features returns the network of that name, checked before, up to its last
// layer.
func features(name string) func(scope *model.Scope, inputs []*graph.Node) *graph.Node {
	build := resnet.ResNet20
	if name == ResNet50 {
		build = resnet.ResNet50
	}
	return func(scope *model.Scope, inputs []*graph.Node) *graph.Node { return build(scope, inputs[0]) }
}

// Stride returns what the sides of a network's pictures must be a multiple of.
func Stride(name string) int {
	if name == ResNet50 {
		return 32
	}
	return 4
}

// Width returns the number of features of a network.
func Width(name string) (int, error) {
	if name == ResNet50 {
		return resnet.Features50, nil
	}
	return resnet.Features20, Check(name)
}

// Pretrained returns what puts the weights of a file into the store of a network
// that is to be trained on: for resnet50, those of a safetensors file with the
// tensor names of torchvision or timm. Another network is an error.
func Pretrained(name, file string) (func(*model.Store) error, error) {
	if name != ResNet50 {
		return nil, fmt.Errorf("network: %s has no weights of others to start from, only %s has", name, ResNet50)
	}
	return func(store *model.Store) error { return resnet.LoadTorch(store, file) }, nil
}

// Shared is the training of a network with a head that shares parameters.
func Shared(name string, s sharing.Sharing, l loss.Loss) (train.Task, error) {
	fn, err := deep.Loss(l, s.Classes())
	if err != nil {
		return train.Task{}, err
	}
	return task(name, s.Classes(), fn, func(scope *model.Scope, x *graph.Node) *graph.Node { return deep.Dense(scope, x, s) })
}

// Hierarchical is the training of a network with a hierarchical softmax.
func Hierarchical(name string, t *labeltree.Tree) (train.Task, error) {
	if _, err := loss.NewHierarchicalSoftmax(t); err != nil {
		return train.Task{}, err
	}
	fn, err := deep.Loss(loss.CrossEntropy{}, t.Classes())
	if err != nil {
		return train.Task{}, err
	}
	return task(name, t.Classes(), fn, hierarchicalHead(t))
}

func task(name string, k int, fn gomlxtrain.LossFn, head func(*model.Scope, *graph.Node) *graph.Node) (train.Task, error) {
	return train.Task{Features: features(name), Head: head, Loss: fn, Classes: k}, Check(name)
}

func plainHead(k int) func(*model.Scope, *graph.Node) *graph.Node {
	return func(scope *model.Scope, x *graph.Node) *graph.Node { return layers.Dense(scope, x, true, k) }
}

func hierarchicalHead(t *labeltree.Tree) func(*model.Scope, *graph.Node) *graph.Node {
	return func(scope *model.Scope, x *graph.Node) *graph.Node { return deep.HierarchicalSoftmax(scope, x, t) }
}

// Package network names the networks that treeloss trains, puts a last layer on
// them, and reads and writes trained ones:
//
//	Network, Head, loss --Task--> train.Task --train.Trainer--> store
//	Network, Head, store --Finish--> Model --Save--> one safetensors file
//	file --Load--> Model --Evaluator--> logits, Embedder --> features
//	file of weights --Pretrained--> train.Options.Start
//
// The networks are those of package resnet, on pictures, and of package bert, on
// texts. A Model is a plain network: what its classes shared is folded away.
package network

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/deep"
	"github.com/treeloss/treeloss/deep/bert"
	"github.com/treeloss/treeloss/deep/resnet"
	"github.com/treeloss/treeloss/deep/train"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/sharing"
)

// The networks: two of He et al. (2016) on pictures, and that of Devlin et al. (2019)
// on texts.
const (
	ResNet20 = "resnet20" // for small pictures
	ResNet50 = "resnet50" // for ImageNet, version 1.5; sides are multiples of 32
	BERT     = "bert"
)

// Names returns the networks on pictures.
func Names() []string { return []string{ResNet20, ResNet50} }

// Network is an architecture up to its last layer.
type Network struct {
	Name    string        // one of Names, or BERT
	Encoder *bert.Encoder // of BERT; else nil
}

// onPictures is what there is to know of a network on pictures.
type onPictures struct {
	build  func(scope *model.Scope, images *graph.Node) *graph.Node
	width  int // features of a picture
	stride int // what its sides must be a multiple of, in pixels
}

// named returns the network on pictures of that name. Another name is an error.
func named(name string) (onPictures, error) {
	switch name {
	case ResNet20:
		return onPictures{build: resnet.ResNet20, width: resnet.Features20, stride: 4}, nil
	case ResNet50:
		return onPictures{build: resnet.ResNet50, width: resnet.Features50, stride: 32}, nil
	}
	return onPictures{}, fmt.Errorf("network: unknown network %q, want one of %s", name, strings.Join(Names(), ", "))
}

// Stride returns what the sides of a network's pictures must be a multiple of, in
// pixels.
func Stride(name string) int {
	n, _ := named(name)
	return cmp.Or(n.stride, 4)
}

// architecture returns what builds the features, [batch, width], and their width.
func (n Network) architecture() (build func(*model.Scope, []*graph.Node) *graph.Node, width int, err error) {
	if n.Encoder != nil {
		return n.Encoder.Features, n.Encoder.Width(), nil
	}
	p, err := named(n.Name)
	return func(scope *model.Scope, inputs []*graph.Node) *graph.Node { return p.build(scope, inputs[0]) }, p.width, err
}

// Features returns the number of features of an example. An unknown network is an
// error.
func (n Network) Features() (int, error) {
	_, width, err := n.architecture()
	return width, err
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

// Head is the last layer of a network in training: one whose classes share
// parameters or, without a Sharing, a hierarchical softmax over Tree.
type Head struct {
	Sharing sharing.Sharing
	Tree    *labeltree.Tree // over the classes, kept with the model; nil: none
}

// Task returns the training of the network with a head and a loss. A hierarchical
// softmax is trained by cross entropy, whatever the loss. Give Encoder.Weights or
// what Pretrained returns as Options.Start, else training starts from draws.
func (n Network) Task(h Head, l loss.Loss) (train.Task, error) {
	build, _, err := n.architecture()
	if err != nil {
		return train.Task{}, err
	}
	t := train.Task{Features: build}
	if h.Sharing != nil {
		t.Classes = h.Sharing.Classes()
		t.Head = func(scope *model.Scope, x *graph.Node) *graph.Node { return deep.Dense(scope, x, h.Sharing) }
	} else {
		if _, err := loss.NewHierarchicalSoftmax(h.Tree); err != nil {
			return train.Task{}, err
		}
		t.Classes, t.Head, l = h.Tree.Classes(), hierarchicalHead(h.Tree), loss.CrossEntropy{}
	}
	t.Loss, err = deep.Loss(l, t.Classes)
	return t, err
}

// plainHead is a dense layer of k outputs, what is left of a head that shares.
func plainHead(k int) func(*model.Scope, *graph.Node) *graph.Node {
	return func(scope *model.Scope, x *graph.Node) *graph.Node { return layers.Dense(scope, x, true, k) }
}

// hierarchicalHead gives log-probabilities of the classes of a tree.
func hierarchicalHead(t *labeltree.Tree) func(*model.Scope, *graph.Node) *graph.Node {
	return func(scope *model.Scope, x *graph.Node) *graph.Node { return deep.HierarchicalSoftmax(scope, x, t) }
}

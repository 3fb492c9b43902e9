package explorer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/softmax"
)

// Origin says where the tree on the page is from.
type Origin string

// The origins.
const (
	OfModel     Origin = "model"     // it was trained with this tree
	OfSoftmaxes Origin = "softmaxes" // the tree of softmaxes that predictions walk down
	OfWeights   Origin = "weights"   // the linkage of the weights of the classes
	OfNames     Origin = "names"     // no tree: the classes in alphabetical order, in groups
)

// mostWork bounds the multiplications of a linkage of weights, d k²/2: about a minute.
const mostWork = 1e11

// treeOf returns the tree over the classes of a model: its own, else that of its softmaxes, else
// the linkage of its weights, else, for a network and where a linkage would take too long, the
// alphabet.
func treeOf(c classify.Classifier) (*labeltree.Tree, Origin, error) {
	about := c.About()
	if about.Tree != nil {
		return about.Tree, OfModel, nil
	}
	if m, ok := c.(interface {
		LabelTree() (*labeltree.Tree, error)
	}); ok {
		t, err := m.LabelTree()
		return t, OfSoftmaxes, err
	}
	k := len(about.Labels)
	if m := classify.LinearModelOf(c); m != nil && k > 2 && k <= classinfo.MaxGram && float64(m.Layer.Features)*float64(k)*float64(k)/2 <= mostWork {
		t, err := WeightTree(m)
		return t, OfWeights, err
	}
	t, err := alphabet(about.Labels)
	return t, OfNames, err
}

// WeightTree returns the linkage of the weights of a linear model without a tree: classes with
// similar weights are joined first. It takes d k²/2 multiplications, and refuses more than
// classinfo.MaxGram classes.
func WeightTree(m *softmax.Model) (*labeltree.Tree, error) {
	k := len(m.Labels)
	if k > classinfo.MaxGram {
		return nil, fmt.Errorf("a linkage of the weights of %d classes, want at most %d; build a tree of their names with treeloss tree build", k, classinfo.MaxGram)
	}
	if m.Layer.Hierarchy != nil {
		return nil, fmt.Errorf("the weights of a hierarchical softmax belong to the nodes of its tree, not to classes")
	}
	info := classinfo.Info{Labels: m.Labels, Weights: classinfo.WeightGram(m.Layer.Dense(), k, dataset.Range(0, k))}
	return classinfo.BuildTree(classinfo.Linkage, info, classinfo.Options{From: classinfo.Weights})
}

// flatClasses is how many classes a star may have; more are put into groups.
const flatClasses = 40

// alphabet returns the classes in alphabetical order (of bytes), many of them in some √k
// groups. Edges have no lengths: nothing is known about distances.
func alphabet(labels []string) (*labeltree.Tree, error) {
	k := len(labels)
	order := dataset.Range(0, k)
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(labels[a], labels[b]) })
	taken := make(map[string]bool, k)
	for _, label := range labels {
		taken[label] = true
	}
	// Made-up names must differ from those of classes, which may be pseudo1, too.
	free := func(n int) string { // as the made-up names of package labeltree
		for ; ; n += k {
			if name := fmt.Sprint("pseudo", n+1); !taken[name] {
				taken[name] = true
				return name
			}
		}
	}
	nodes := []labeltree.Node{{Name: free(0), Parent: -1, Class: -1}}
	size := k
	if k > flatClasses {
		size = int(math.Ceil(math.Sqrt(float64(k))))
	}
	// Groups of about √k classes: as many groups as classes in each, so that two looks find any.
	parent := 0
	for at, class := range order {
		if k > flatClasses && at%size == 0 {
			parent = len(nodes)
			nodes = append(nodes, labeltree.Node{Name: free(parent), Parent: 0, Class: -1})
		}
		nodes = append(nodes, labeltree.Node{Name: labels[class], Parent: parent, Class: class})
	}
	t, err := labeltree.New(nodes)
	if err != nil {
		return nil, err
	}
	return t.WithLengths(nil)
}

// madeUp tells whether the name of a node was given by package labeltree or extreme, and
// says nothing.
func madeUp(t *labeltree.Tree, v int, from Origin) bool {
	return t.Class(v) < 0 && from == OfSoftmaxes || t.MadeUp(v)
}

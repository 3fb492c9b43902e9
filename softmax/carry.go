package softmax

import (
	"fmt"
	"slices"

	"github.com/treeloss/treeloss/feature"
)

// CarryOver returns the layer of m for other features and labels: what both
// have in common keeps its weights, what is new starts at 0. It is how a model
// goes on with new data. Features must be of the same kind; a hierarchical
// softmax needs the same labels in the same order, as its outputs are the nodes
// of its tree, and goes on with that tree only.
func (m *Model) CarryOver(features *feature.Set, labels []string) (*Layer, error) {
	from, err := features.Match(m.Features)
	if err != nil {
		return nil, fmt.Errorf("softmax: the model to start from: %w", err)
	}
	if m.Layer.Sigmoid {
		return nil, fmt.Errorf("softmax: the model to start from is one of several labels an example, with which no training goes on")
	}
	if m.Layer.Hierarchy != nil {
		if !slices.Equal(labels, m.Labels) {
			return nil, fmt.Errorf("softmax: the model to start from is a hierarchical softmax over %d labels, it cannot go on with %d others or another order", len(m.Labels), len(labels))
		}
		r := m.Layer.Outputs()
		l := &Layer{Classes: m.Layer.Classes, Features: features.Dim(), Hierarchy: m.Layer.Hierarchy,
			Weight: make([]float32, features.Dim()*r), Bias: slices.Clone(m.Layer.Bias)}
		for f, g := range from {
			if g >= 0 {
				copy(l.Weight[f*r:(f+1)*r], m.Layer.Row(int(g), nil))
			}
		}
		return l, nil
	}
	old := make(map[string]int, len(m.Labels))
	for c, label := range m.Labels {
		old[label] = c
	}
	k := len(labels)
	l := &Layer{Classes: k, Features: features.Dim(), Weight: make([]float32, features.Dim()*k), Bias: make([]float32, k)}
	class := make([]int, k) // class of m that each label is; -1: none
	common := 0
	for c, label := range labels {
		class[c] = -1
		if o, ok := old[label]; ok {
			class[c] = o
			common++
			l.Bias[c] = m.Layer.Bias[o]
		}
	}
	row := make([]float32, m.Layer.Outputs())
	for f, g := range from {
		if g < 0 {
			continue
		}
		weights := m.Layer.Row(int(g), row)
		for c, o := range class {
			if o >= 0 {
				l.Weight[f*k+c] = weights[o]
			}
		}
	}
	if common == 0 {
		return nil, fmt.Errorf("softmax: the model to start from has none of the %d labels", k)
	}
	return l, nil
}

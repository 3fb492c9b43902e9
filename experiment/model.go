package experiment

import (
	"fmt"

	"github.com/treeloss/treeloss/covertree"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/sharing"
)

// knowledge is what is known about the classes at one point of a sweep.
type knowledge struct {
	draw    *draw
	seed    uint64        // of cover trees
	vectors *matrix.Dense // k x d
	space   metric.Space
	cover   *covertree.Tree
	labels  []string
}

func newKnowledge(g *draw, base, epsilon float64) (*knowledge, error) {
	n := &knowledge{draw: g, seed: stream(g.seed, streamTree, g.run, g.k, g.d).Uint64(), vectors: g.vectors(epsilon), labels: make([]string, g.k)}
	for i := range n.labels {
		n.labels[i] = fmt.Sprint(i)
	}
	var err error
	if n.space, err = metric.Euclidean(n.vectors); err != nil {
		return nil, err
	}
	n.cover, err = covertree.New(n.space, covertree.Options{Base: base, Seed: n.seed})
	return n, err
}

// model is a method made ready for one draw: scores = A V x for a sharing A, or
// node scores for the hierarchical softmax. There is no bias, as in the paper's
// Eq. 1.
type model struct {
	method    Method
	outputs   int             // scores: k, or nodes but the root
	share     sharing.Sharing // nil: none
	loss      loss.Loss
	hierarchy *loss.HierarchicalSoftmax
	rate      float64 // factor of the learning rate, usually 1
}

// newModel makes a method ready.
func (n *knowledge) newModel(method Method) (*model, error) {
	k := n.draw.k
	m := &model{method: method, outputs: k, loss: loss.CrossEntropy{}, rate: 1}
	tree := func(make func(*covertree.Tree, []string) (*labeltree.Tree, error)) (*sharing.Tree, error) {
		t, err := make(n.cover, n.labels)
		if err != nil {
			return nil, err
		}
		return sharing.NewTree(t), nil
	}
	switch method {
	case CrossEntropy:
		return m, nil
	case UTree:
		s, err := tree(labeltree.U)
		m.share = s
		return m, err
	case VTree:
		s, err := tree(labeltree.V)
		m.share = s
		return m, err
	case ScaledCrossEntropy:
		s, err := tree(labeltree.V)
		if err != nil {
			return nil, err
		}
		m.rate = sharing.MeanEigenvalue(s)
		return m, nil
	case Linkage:
		// The lengths of its edges have the unit of the metric squared, so a
		// learning rate says nothing until they are brought to a common scale.
		t, err := labeltree.Linkage(n.space, n.labels)
		if err != nil {
			return nil, err
		}
		m.share, err = sharing.Normalized(sharing.NewTree(t))
		return m, err
	case SimLoss:
		s, err := loss.NewSimLoss(k, func(y, c int) float64 { return matrix.Cosine(n.vectors, y, c) }, 0.5)
		m.loss = s
		return m, err
	case HierarchicalSoftmax:
		t, err := labeltree.V(n.cover, n.labels)
		if err != nil {
			return nil, err
		}
		m.hierarchy, err = loss.NewHierarchicalSoftmax(t)
		m.loss, m.outputs = nil, t.Len()-1
		return m, err
	}
	return nil, fmt.Errorf("experiment: method %q: %w", method, ErrOptions)
}

// evaluate returns the loss of one example, sets p to the probabilities of the
// outputs and grad to the gradient in them.
func (m *model) evaluate(p, grad, scores []float32, y int) float64 {
	if m.hierarchy != nil {
		return loss.EvaluateHierarchical(m.hierarchy, p, grad, scores, y)
	}
	return loss.Evaluate(m.loss, p, grad, scores, y)
}

// curvature sets out to the second derivative of the loss in the outputs times x.
func (m *model) curvature(out, p, x []float32, y int) {
	if m.hierarchy != nil {
		loss.CurvatureHierarchical(m.hierarchy, out, p, x, y)
		return
	}
	loss.Curvature(out, p, x)
}

// start returns the weights of the outputs, outputs x d, where training starts.
func (m *model) start(g *draw, init Init) []float32 {
	d := g.d
	if m.hierarchy != nil {
		t := m.hierarchy.Tree()
		classes, inner := g.start(init, t.Len()-g.k)
		w := make([]float32, m.outputs*d)
		next := 0
		for v := range t.Len() {
			from, at := inner, next
			if c := t.Class(v); c >= 0 {
				from, at = classes, c
			} else {
				next++
			}
			if v > 0 {
				copy(w[(v-1)*d:v*d], from[at*d:])
			}
		}
		return w
	}
	if m.share == nil {
		classes, _ := g.start(init, 0)
		return classes
	}
	t := treeOf(m.share)
	classes, inner := g.start(init, t.Len()-g.k)
	v := make([]float32, t.Len()*d)
	next := 0
	for node := range t.Len() {
		if c := t.Class(node); c >= 0 {
			copy(v[node*d:(node+1)*d], classes[c*d:])
			continue
		}
		copy(v[node*d:(node+1)*d], inner[next*d:])
		next++
	}
	w := make([]float32, m.outputs*d)
	sharing.NewOperator[float32](m.share).Expand(w, v, d)
	return w
}

// treeOf returns the tree of a sharing by a tree, scaled or not.
func treeOf(s sharing.Sharing) *labeltree.Tree {
	if sum, ok := s.(*sharing.Sum); ok {
		s = sum.Parts()[0].Sharing
	}
	return s.(*sharing.Tree).LabelTree()
}

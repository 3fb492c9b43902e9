package experiment

import (
	"fmt"

	"github.com/treeloss/treeloss/covertree"
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/sharing"
	"github.com/treeloss/treeloss/softmax"
)

// classInfo is what is known about the classes at one point of a sweep.
type classInfo struct {
	draw    *draw
	seed    uint64        // of cover trees
	vectors *matrix.Dense // k x d
	space   metric.Space
	cover   *covertree.Tree
	labels  []string
}

// newClassInfo makes the metric from the vectors w^epsilon and the cover tree of a base. The
// tree has a seed of its own that does not depend on epsilon or the base.
func newClassInfo(g *draw, base, epsilon float64) (*classInfo, error) {
	n := &classInfo{draw: g, seed: stream(g.seed, streamTree, g.run, g.k, g.d).Uint64(), vectors: g.vectors(epsilon), labels: make([]string, g.k)}
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

// model is a method made ready for one draw. There is no bias, as in the paper's
// Eq. 1.
type model struct {
	method  Method
	options softmax.Options // sharing, loss, hierarchy
	rate    float64         // factor of the learning rate, usually 1
}

// newModel makes a method ready.
func (n *classInfo) newModel(method Method) (*model, error) {
	m := &model{method: method, rate: 1, options: softmax.Options{NoBias: true, Threads: 1}}
	o := &m.options
	var t *labeltree.Tree
	var err error
	switch method {
	case CrossEntropy:
	case UTree:
		if t, err = labeltree.U(n.cover, n.labels); err == nil {
			o.Sharing = sharing.NewTree(t)
		}
	case VTree, ScaledCrossEntropy:
		if t, err = labeltree.V(n.cover, n.labels); err != nil {
			break
		}
		if s := sharing.NewTree(t); method == VTree {
			o.Sharing = s
		} else {
			m.rate = sharing.MeanEigenvalue(s)
		}
	case Linkage:
		// The lengths of its edges have the unit of the metric squared, so a
		// learning rate says nothing until they are brought to a common scale.
		if t, err = labeltree.Linkage(n.space, n.labels); err == nil {
			o.Sharing, err = sharing.Normalized(sharing.NewTree(t))
		}
	case SimLoss:
		o.Loss, err = loss.NewSimLoss(n.draw.k, func(y, c int) float64 { return matrix.Cosine(n.vectors, y, c) }, 0.5)
	case HierarchicalSoftmax:
		if t, err = labeltree.V(n.cover, n.labels); err == nil {
			o.Hierarchy, err = loss.NewHierarchicalSoftmax(t)
		}
	default:
		err = option.Check("Method", method, false, "one of those that Methods returns")
	}
	return m, err
}

// start returns where training starts: parameters of the classes and of the inner
// nodes of the method's tree, so that a class has the same ones in each method.
func (m *model) start(g *draw, init Init) *softmax.Layer {
	w, outputs := []float32(nil), g.k // rows of length d
	switch s := m.options.Sharing.(type) {
	case *sharing.Tree:
		w = make([]float32, g.k*g.d)
		sharing.NewOperator[float32](s).Expand(w, g.nodes(s.LabelTree(), init), g.d)
	default:
		w, _ = g.start(init, 0)
	}
	if h := m.options.Hierarchy; h != nil { // the root has no score
		w, outputs = g.nodes(h.Tree(), init)[g.d:], h.Scores()
	}
	return &softmax.Layer{Classes: g.k, Features: g.d, Weight: kernel.Transposed(w, outputs, g.d), Bias: make([]float32, outputs), Hierarchy: m.options.Hierarchy}
}

// nodes returns the parameters of the nodes of a tree, nodes x d.
func (g *draw) nodes(t *labeltree.Tree, init Init) []float32 {
	d := g.d
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
	return v
}

package experiment

import (
	"math"

	"github.com/treeloss/treeloss/internal/kernel"
)

// head is a trained model: weights, outputs x d.
type head struct {
	model  *model
	weight []float32
}

// outcome is how a head does on some examples.
type outcome struct {
	accuracy float64
	logLoss  float64 // mean of -log p_y in nats; 0 unless asked for
}

// evaluateHeads measures many heads on the same examples at once: their weights
// stand side by side, so each example is read once. row sets x to example i.
func evaluateHeads(heads []head, d int, labels []int32, row func(i int, x []float32), logLoss bool) []outcome {
	total := 0
	for _, h := range heads {
		total += h.model.outputs
	}
	weight := make([]float32, d*total)
	at := 0
	for _, h := range heads {
		for c := range h.model.outputs {
			for f, v := range h.weight[c*d : (c+1)*d] {
				weight[f*total+at+c] = v
			}
		}
		at += h.model.outputs
	}
	out := make([]outcome, len(heads))
	deciders := make([]*decider, len(heads))
	for j, h := range heads {
		deciders[j] = newDecider(h.model)
	}
	x, scores := make([]float32, d), make([]float32, total)
	for i, y := range labels {
		row(i, x)
		clear(scores)
		kernel.CombineAllRows(x, weight, total, scores)
		at = 0
		for j := range heads {
			s := scores[at : at+heads[j].model.outputs]
			at += len(s)
			class, nats := deciders[j].decide(s, int(y), logLoss)
			if class == int(y) {
				out[j].accuracy++
			}
			out[j].logLoss += nats
		}
	}
	for j := range out {
		out[j].accuracy /= float64(len(labels))
		out[j].logLoss /= float64(len(labels))
	}
	return out
}

// decider finds the likeliest class of scores.
type decider struct {
	parent, node []int32 // of the tree of a hierarchical softmax
	top, sum     []float64
	logP         []float64
	p            []float32
}

func newDecider(m *model) *decider {
	e := &decider{p: make([]float32, m.outputs)}
	if m.hierarchy == nil {
		return e
	}
	t := m.hierarchy.Tree()
	for v := range t.Len() {
		e.parent = append(e.parent, int32(t.Parent(v)))
	}
	for c := range t.Classes() {
		e.node = append(e.node, int32(t.Node(c)))
	}
	e.top, e.sum, e.logP = make([]float64, t.Len()), make([]float64, t.Len()), make([]float64, t.Len())
	return e
}

// decide returns the likeliest class and, if asked, -log p_y.
func (e *decider) decide(scores []float32, y int, logLoss bool) (class int, nats float64) {
	if e.parent != nil {
		return e.decideNodes(scores, y)
	}
	for c, s := range scores {
		if s > scores[class] {
			class = c
		}
	}
	if logLoss {
		nats = kernel.Softmax(e.p, scores) - float64(scores[y])
	}
	return class, nats
}

// decideNodes is decide for a hierarchical softmax, in logarithms: the score
// of a node less the log-sum of its siblings', added up along each path.
func (e *decider) decideNodes(scores []float32, y int) (class int, nats float64) {
	for v := range e.top {
		e.top[v], e.sum[v] = math.Inf(-1), 0
	}
	for v, s := range scores { // output v is node v+1
		p := e.parent[v+1]
		e.top[p] = max(e.top[p], float64(s))
	}
	kernel.Exp(e.p, e.shifted(scores))
	for v := range scores {
		e.sum[e.parent[v+1]] += float64(e.p[v])
	}
	for v, sum := range e.sum {
		if sum > 0 {
			e.top[v] += math.Log(sum)
		}
	}
	e.logP[0] = 0
	for v, s := range scores {
		p := e.parent[v+1]
		e.logP[v+1] = e.logP[p] + float64(s) - e.top[p]
	}
	best := math.Inf(-1)
	for c, v := range e.node {
		if e.logP[v] > best {
			class, best = c, e.logP[v]
		}
	}
	return class, -e.logP[e.node[y]]
}

// shifted returns the scores less the largest of their siblings'.
func (e *decider) shifted(scores []float32) []float32 {
	for v, s := range scores {
		e.p[v] = s - float32(e.top[e.parent[v+1]])
	}
	return e.p
}

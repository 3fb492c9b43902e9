package experiment

import (
	"math"
	"testing"

	"github.com/treeloss/treeloss/loss"
)

// Many heads at once are each head by itself, decided by the probabilities of
// package loss.
func TestEvaluateHeads(t *testing.T) {
	g := smallDraw(t, 11, 4, 50)
	ex := g.examples(g.train, 50, 1)
	var heads []head
	for _, method := range allMethods {
		m := modelOf(t, g, 1.2, method)
		last, mean := m.onePass(m.start(g, TorchInit), ex, 1e-2)
		heads = append(heads, head{m, last}, head{m, mean})
	}
	row := func(i int, x []float32) { g.row(g.all, i, 1, x) }
	got := evaluateHeads(heads, g.d, g.all.y, row, true)
	x, p := make([]float32, g.d), make([]float64, g.k)
	for j, h := range heads {
		var right, nats float64
		for i, y := range g.all.y {
			row(i, x)
			scores := make([]float64, h.model.outputs)
			for c := range scores {
				for f := range x {
					scores[c] += float64(h.weight[c*g.d+f]) * float64(x[f])
				}
			}
			if h.model.hierarchy != nil {
				loss.Probabilities(h.model.hierarchy, p, make([]float64, len(scores)), scores)
			} else {
				loss.Evaluate(loss.CrossEntropy{}, p, make([]float64, g.k), scores, int(y))
			}
			best := 0
			for c := range p {
				if p[c] > p[best] {
					best = c
				}
			}
			if best == int(y) {
				right++
			}
			nats -= math.Log(p[y])
		}
		n := float64(len(g.all.y))
		if math.Abs(got[j].accuracy-right/n) > 1/n {
			t.Errorf("%s: accuracy %v, want %v", h.model.method, got[j].accuracy, right/n)
		}
		if math.Abs(got[j].logLoss-nats/n) > 1e-4*(1+nats/n) {
			t.Errorf("%s: log loss %v, want %v", h.model.method, got[j].logLoss, nats/n)
		}
	}
}

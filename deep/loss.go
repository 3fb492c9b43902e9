package deep

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/train"
	gomlxloss "github.com/gomlx/gomlx/ml/train/loss"

	"github.com/treeloss/treeloss/loss"
)

// noShare stands for log 0: a class with it gets no credit and no gradient.
const noShare = -1e9

// Loss returns a loss of package loss as a GoMLX loss of logits [batch, k] and
// int labels [batch, 1]: the mean over the batch, in nats. Plain cross entropy is
// GoMLX's SparseCategoricalCrossEntropyLogits and takes its masks and weights;
// the others refuse these with a panic. A loss that does not fit k classes is an
// error.
//
// SimLoss and SoftLabels put a k x k table into the graph. HXE puts O(nodes)
// constants there and none that is k x k, and keeps two numbers a node and example
// from the loss to its gradient: for 1000 classes, 1400 nodes and a batch of 128,
// 0.1 MB and 1.6 MB in float32, beside some arrays of 0.8 MB that come and go. Its
// steps go through the tree level by level, which ONNX Runtime is slow to compile
// where there are hundreds (20 s for 240). The gradient is exact in every run, on
// every backend, and can be taken once, not twice.
func Loss(l loss.Loss, k int) (train.LossFn, error) {
	if err := l.Check(k); err != nil {
		return nil, fmt.Errorf("deep: %w", err)
	}
	if p, ok := l.(*loss.CrossEntropy); ok {
		l = *p
	}
	switch l := l.(type) {
	case loss.CrossEntropy:
		// Smoothing gives each class the share s/k, and the true one 1-s more.
		if l.Smoothing == 0 {
			return gomlxloss.SparseCategoricalCrossEntropyLogits, nil
		}
		return func(labels, logits []*graph.Node) *graph.Node {
			target := graph.OneHot(classesOf(labels), k, logits[0].DType())
			target = graph.AddScalar(graph.MulScalar(target, 1-l.Smoothing), l.Smoothing/float64(k))
			return crossEntropy(target, logits[0])
		}, nil
	// The cross entropy of row y of a table with the softmax.
	case *loss.SoftLabels:
		table := targets(l, k)
		return func(labels, logits []*graph.Node) *graph.Node {
			return crossEntropy(look(table, k, labels, logits[0]), logits[0])
		}, nil
	// log Σ exp(x) - log Σ S[y,c] exp(x_c): log S is added to the scores.
	case *loss.SimLoss:
		table := targets(l, k)
		for y := range k {
			row := table[y*k : (y+1)*k]
			own := row[y] // S[y,y] = 1
			for c := range row {
				row[c] = max(math.Log(row[c]/own), noShare)
			}
		}
		return func(labels, logits []*graph.Node) *graph.Node {
			shared := graph.Add(logits[0], look(table, k, labels, logits[0]))
			return graph.ReduceAllMean(graph.Sub(logSumExp(logits[0]), logSumExp(shared)))
		}, nil
	case *loss.HXE:
		if k == 1 { // a root alone
			return Loss(loss.CrossEntropy{}, k)
		}
		return newHXE(l, k).lossFn(), nil
	}
	return nil, fmt.Errorf("deep: networks take the losses of package loss, not %T", l)
}

// targets returns for each class y what the gradient of its loss is drawn to
// when all scores are equal, k x k: the gradient is p less the target. Of
// SoftLabels that is the target itself, of SimLoss S[y] over its sum.
func targets(l loss.Loss, k int) []float64 {
	table := make([]float64, k*k)
	scores, p := make([]float64, k), make([]float64, k)
	for y := range k {
		row := table[y*k : (y+1)*k]
		loss.Evaluate(l, p, row, scores, y)
		for c := range row {
			if row[c] = p[c] - row[c]; row[c] < 1e-15 {
				row[c] = 0 // 1/k less 1/k, rounded
			}
		}
	}
	return table
}

// classesOf returns the labels, [batch].
func classesOf(labels []*graph.Node) *graph.Node {
	return graph.Squeeze(onlyLabels(labels), -1)
}

// onlyLabels returns the labels, [batch, 1].
func onlyLabels(labels []*graph.Node) *graph.Node {
	if len(labels) != 1 {
		panic(fmt.Errorf("deep: loss: %d label tensors, want 1: masks and weights work with plain cross entropy only", len(labels)))
	}
	return labels[0]
}

// look returns row y of a k x k table for each label y.
func look(table []float64, k int, labels []*graph.Node, logits *graph.Node) *graph.Node {
	return graph.Gather(constant(logits.Graph(), logits.DType(), table, k, k), onlyLabels(labels))
}

// crossEntropy is the mean over the batch of log Σ exp(logits) - Σ target logits, which
// is the cross entropy for targets [batch, k] that sum to 1 in each row.
func crossEntropy(target, logits *graph.Node) *graph.Node {
	inner := graph.ReduceSum(graph.Mul(target, logits), -1)
	return graph.ReduceAllMean(graph.Sub(logSumExp(logits), inner))
}

// logSumExp returns log Σ exp over the last axis.
func logSumExp(x *graph.Node) *graph.Node {
	top := graph.StopGradient(graph.ReduceAndKeep(x, graph.ReduceMax, -1))
	sum := graph.ReduceSum(graph.Exp(graph.Sub(x, top)), -1)
	return graph.Add(graph.Log(sum), graph.Squeeze(top, -1))
}

package deep

import (
	"fmt"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train/metric"

	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/score"
)

// Top is the share of examples whose class is among the n most likely, for int
// labels [batch, 1] and logits [batch, k]. A class that ties with the true one
// counts as less likely.
func Top(n int) metric.Interface {
	return &ratio{name: fmt.Sprintf("top-%d accuracy", n), kind: metric.AccuracyMetricType, percent: true,
		parts: func(labels, logits *graph.Node) (sum, count *graph.Node) {
			// The score of the true class, and how many are above it.
			own := graph.OneHot(graph.Squeeze(labels, -1), logits.Shape().Dimensions[1], logits.DType())
			score := graph.ReduceAndKeep(graph.Mul(own, logits), graph.ReduceSum, -1)
			above := graph.ReduceSum(graph.ConvertDType(graph.GreaterThan(logits, graph.BroadcastToShape(score, logits.Shape())), dtypes.Float32), -1)
			hit := graph.ConvertDType(graph.LessThan(above, graph.Const(above.Graph(), float32(n))), dtypes.Float32)
			return graph.ReduceAllSum(hit), ones(hit)
		}}
}

// Similarity is the mean over the examples of the cosine of the vectors of the
// true and of the likeliest class (similarity accuracy). It puts a k x k table
// into the graph.
func Similarity(s *score.Similarity) metric.Interface {
	k := s.Classes()
	return &ratio{name: "similarity accuracy", kind: metric.AccuracyMetricType, percent: true,
		parts: func(labels, logits *graph.Node) (sum, count *graph.Node) {
			similar := pairs(labels, logits, k, s.Cosine)
			return graph.ReduceAllSum(similar), ones(similar)
		}}
}

// Severity is the mean over the mistakes of the height of the lowest common
// ancestor of the true and of the likeliest class (Bertinetto et al. 2020): NaN
// without mistakes. It puts a k x k table into the graph.
func Severity(t *labeltree.Tree) metric.Interface {
	heights := score.Heights(t)
	return &ratio{name: "severity", kind: "severity",
		parts: func(labels, logits *graph.Node) (sum, count *graph.Node) {
			height := pairs(labels, logits, t.Classes(), func(y, c int) float64 { return heights[t.LCA(t.Node(y), t.Node(c))] })
			wrong := graph.ConvertDType(graph.NotEqual(graph.Squeeze(labels, -1), graph.ArgMax(logits, -1, labels.DType())), dtypes.Float32)
			return graph.ReduceAllSum(graph.Mul(height, wrong)), graph.ReduceAllSum(wrong)
		}}
}

// pairs returns value(label, likeliest class) of each example.
func pairs(labels, logits *graph.Node, k int, value func(y, c int) float64) *graph.Node {
	table := make([]float64, k*k)
	for y := range k {
		for c := range k {
			table[y*k+c] = value(y, c)
		}
	}
	best := graph.ExpandAxes(graph.ArgMax(logits, -1, labels.DType()), -1)
	at := graph.Concatenate([]*graph.Node{labels, best}, -1)
	return graph.Gather(constant(logits.Graph(), dtypes.Float32, table, k, k), at)
}

// ones counts the numbers of x.
func ones(x *graph.Node) *graph.Node {
	return graph.Const(x.Graph(), float32(x.Shape().Size()))
}

// ratio is the ratio of two sums over all examples since the last Reset. Unlike
// GoMLX's own metrics it keeps them under a name that is the same in each run, so
// that checkpoints do not gather leftovers.
type ratio struct {
	name, kind string
	percent    bool
	parts      func(labels, logits *graph.Node) (sum, count *graph.Node)
}

// sumNames are the variables of a ratio: what is above the line, and what below.
var sumNames = [2]string{"sum", "count"}

// What GoMLX calls the metric, in tables and in the store.
func (r *ratio) Name() string       { return r.name }
func (r *ratio) ShortName() string  { return r.name }
func (r *ratio) MetricType() string { return r.kind }
func (r *ratio) ScopeName() string  { return strings.ReplaceAll(r.name, " ", "_") }

// UpdateGraph adds a batch and returns the ratio so far.
func (r *ratio) UpdateGraph(scope *model.Scope, labels, predictions []*graph.Node) *graph.Node {
	scope = scope.Store().Scope(r.path())
	g := predictions[0].Graph()
	add := [2]*graph.Node{}
	add[0], add[1] = r.parts(labels[0], predictions[0])
	for i, name := range sumNames {
		v := scope.VariableWithValue(name, float32(0)).SetTrainable(false)
		add[i] = graph.Add(v.NodeValue(g), add[i])
		v.SetNodeValue(add[i])
	}
	return graph.Div(add[0], add[1])
}

// path is the scope of the two sums.
func (r *ratio) path() string { return "/" + metric.Scope + "/" + r.ScopeName() }

// Reset starts the sums again.
func (r *ratio) Reset(scope *model.Scope) {
	for _, name := range sumNames {
		if v := scope.Store().GetVariable(r.path() + "/" + name); v != nil {
			if err := v.SetValue(tensors.FromScalar(float32(0))); err != nil {
				panic(fmt.Errorf("deep: reset of %s: %w", r.name, err))
			}
		}
	}
}

// PrettyPrint shows shares in percent.
func (r *ratio) PrettyPrint(value *tensors.Tensor) string {
	x := tensors.ToScalar[float32](value)
	if r.percent {
		return fmt.Sprintf("%.2f%%", 100*x)
	}
	return fmt.Sprintf("%.3f", x)
}

package deep

import (
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/train"

	"github.com/treeloss/treeloss/loss"
)

// hxe is a loss.HXE as graph operations on rows, one row a node, one column an
// example:
//
//	Σ λ(v) (L(parent of v) - L(v)) over the nodes v on the path of the true class,
//	L(v) = log Σ exp(score of c) over the classes c below v
//
// A log-sum over the classes below a node is kept in two parts, the
// largest score and the log-sum of the scores less that one: the difference of
// two log-sums is then as exact as that of two scores, whatever their size, and
// nothing overflows.
//
// The gradient is one of our own, as that of treeSum and for its reason. With
// a(v) the derivative of the loss in the log-sum of v, it goes down the tree: the
// children w of v get p(w | v) a(v), and the edge to the child on the path of the
// true class adds its weight to a(v) and takes it from that child.
type hxe struct {
	nodes     []loss.HXENode
	levels    []level
	at        []int     // of each node, its place in its level
	classes   []int     // of each class, its row among the leaves of all levels
	place     []float64 // of each class, its number among the leaves from left to right
	low, high []float64 // of each node: classes below it have low <= place < high
}

// newHXE makes levels of the tree of a loss over k classes, at least 2. Its nodes come
// in preorder, so the classes below a node have consecutive places, and whether the
// true class is below it is two comparisons for each example.
func newHXE(l *loss.HXE, k int) *hxe {
	h := &hxe{nodes: l.Nodes(), classes: make([]int, k), place: make([]float64, k)}
	n := len(h.nodes)
	h.low, h.high = make([]float64, n), make([]float64, n)
	children := make([][]int, n)
	leaves := 0.0
	for v, node := range h.nodes {
		h.low[v] = leaves
		if node.Class >= 0 {
			h.place[node.Class] = leaves
			leaves++
		}
		h.high[v] = leaves
		if v > 0 {
			children[node.Parent] = append(children[node.Parent], v)
		}
	}
	for v := n - 1; v > 0; v-- { // children before parents
		above := h.nodes[v].Parent
		h.high[above] = max(h.high[above], h.high[v])
	}
	h.levels, h.at = newLevels(children)
	row := 0
	for _, level := range h.levels {
		for _, v := range level.leaves {
			h.classes[h.nodes[v].Class] = row
			row++
		}
	}
	return h
}

// lossFn is the mean over the batch. All that GoMLX sees to depend on the logits is
// a sum of zeros, logits less logits, whose gradient is the one of down.
func (h *hxe) lossFn() train.LossFn {
	return func(labels, logits []*graph.Node) *graph.Node {
		x := logits[0]
		place := graph.Gather(constant(x.Graph(), dtypes.Float32, h.place, len(h.place)), onlyLabels(labels))
		fixed := graph.StopGradient(x)
		value, families := h.up(graph.Transpose(fixed, 0, 1), graph.Reshape(place, 1, 1, place.Shape().Size()))
		nothing := graph.IdentityWithCustomGradient(graph.Sub(x, fixed), func(_, v *graph.Node) *graph.Node {
			return graph.Mul(v, graph.Transpose(h.down(families), 0, 1))
		})
		return graph.ReduceAllMean(graph.Add(value, graph.ReduceSum(nothing, -1)))
	}
}

// familyNodes are what the gradient needs of a family, [nodes, width, batch]. Children
// that stand in for none have 0 in both.
type familyNodes struct {
	p    *graph.Node // of a child among its siblings
	cost *graph.Node // λ of a child on the path of the true class, else 0
}

// up goes from the leaves to the root: it returns the loss of each example for scores
// [k, batch] and the places of their classes [1, 1, batch], and what down needs of each
// level's families.
func (h *hxe) up(x, place *graph.Node) (value *graph.Node, families [][]familyNodes) {
	g, dtype, batch := x.Graph(), x.DType(), x.Shape().Dimensions[1]
	value = graph.Zeros(g, withRows(x, 1, batch))
	families = make([][]familyNodes, len(h.levels))
	var top, rest *graph.Node // of the level below: the log-sum is top + rest
	for d := len(h.levels) - 1; d >= 0; d-- {
		var tops, rests []*graph.Node
		// Blocks are [nodes, width, batch], so that what is among siblings is a reduction
		// along the middle.
		for _, f := range h.levels[d].families {
			n := len(f.nodes)
			table := func(dtype dtypes.DType, number func(c int) float64) *graph.Node {
				return constant(g, dtype, each(f, 0, number), n, f.width, 1)
			}
			row := each(f, -1, func(c int) int { return h.at[c] })
			for i, r := range row {
				if r < 0 { // the first child stands in, and counts nothing
					row[i] = row[i/f.width*f.width]
				}
			}
			block := func(x *graph.Node) *graph.Node { return graph.Reshape(rows(x, row), n, f.width, batch) }
			high := block(top)
			// The largest of all below a node is the largest of its children's; the rest of
			// each child is moved to it before exp, so that no exponent is above 0.
			tallest := graph.ReduceAndKeep(high, graph.ReduceMax, 1)
			sums := graph.Add(graph.Sub(high, tallest), block(rest)) // less tallest
			p := graph.Exp(sums)
			if slices.Contains(f.children, -1) {
				p = graph.Mul(p, table(dtype, func(int) float64 { return 1 }))
			}
			total := graph.ReduceAndKeep(p, graph.ReduceSum, 1) // at least 1
			all := graph.Log(total)
			low, end := table(dtypes.Float32, func(c int) float64 { return h.low[c] }), table(dtypes.Float32, func(c int) float64 { return h.high[c] })
			onPath := graph.LogicalAnd(graph.GreaterOrEqual(place, low), graph.LessThan(place, end))
			cost := graph.Mul(graph.ConvertDType(onPath, dtype), table(dtype, func(c int) float64 { return h.nodes[c].Weight }))
			value = graph.Add(value, graph.ExpandAxes(graph.ReduceSum(graph.Mul(cost, graph.Sub(all, sums)), 0, 1), 0))
			families[d] = append(families[d], familyNodes{p: graph.Div(p, total), cost: cost})
			tops, rests = append(tops, graph.Squeeze(tallest, 1)), append(rests, graph.Squeeze(all, 1))
		}
		if leaves := h.levels[d].leaves; len(leaves) > 0 {
			classes := make([]int, len(leaves))
			for i, v := range leaves {
				classes[i] = h.nodes[v].Class
			}
			tops, rests = append(tops, rows(x, classes)), append(rests, graph.Zeros(g, withRows(x, len(leaves), batch)))
		}
		top, rest = graph.Concatenate(tops, 0), graph.Concatenate(rests, 0)
	}
	return graph.Squeeze(value, 0), families
}

// down goes from the root to the leaves: it returns the gradient of the loss of each
// example in its scores, [k, batch].
func (h *hxe) down(families [][]familyNodes) *graph.Node {
	cost := families[0][0].cost
	batch := cost.Shape().Dimensions[2]
	below := graph.Zeros(cost.Graph(), withRows(cost, 1, batch)) // a, without the edges down
	from := []int{0}                                             // of each node of a level, its row of below
	var leaves []*graph.Node
	for d, level := range h.levels {
		a := rows(below, from)
		var children []*graph.Node
		first, row := 0, 0
		if d+1 < len(h.levels) {
			from = make([]int, len(h.levels[d+1].nodes))
		}
		for i, f := range level.families {
			n := families[d][i]
			own := graph.Add(graph.ExpandAxes(span(a, first, first+len(f.nodes)), 1), graph.ReduceAndKeep(n.cost, graph.ReduceSum, 1))
			children = append(children, graph.Reshape(graph.Sub(graph.Mul(n.p, own), n.cost), len(f.children), batch))
			first += len(f.nodes)
			for _, c := range f.children {
				if c >= 0 {
					from[h.at[c]] = row
				}
				row++
			}
		}
		if len(level.leaves) > 0 {
			leaves = append(leaves, span(a, first, len(level.nodes)))
		}
		if len(children) > 0 {
			below = graph.Concatenate(children, 0)
		}
	}
	return rows(graph.Concatenate(leaves, 0), h.classes)
}

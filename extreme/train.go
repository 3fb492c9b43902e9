package extreme

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
	"github.com/treeloss/treeloss/softmax"
)

// Settings are what the softmaxes of a tree are trained with.
type Settings struct {
	Prior     float64        // τ², see softmax.Options
	Sharing   classinfo.Spec // of the classes of a leaf; nil: none
	ClassInfo classinfo.Options
	Threshold float32 // weights below it, in size, are left out
	Negatives float64 // "none of these" rows of a node beside each of its own; 0: none
	Threads   int
	Seed      uint64
}

const (
	// tolerance is the duality gap at which the fit of a node ends, as a share of its
	// objective. With a tenth of it accuracy changes by a tenth of a point either way.
	tolerance = 1e-2
	// maxPasses bounds the passes over the rows of a node.
	maxPasses = 40
	// innerFeatures is how many features an inner node has at most, those of most rows.
	innerFeatures = 1 << 17
	// rootShare of the memory budget may go to the rows of the root, where these are in a
	// file, and nodeShare to those of an inner node below, of which there is one a goroutine;
	// beyond that they train on a part of the rows of each class. A value takes nodeBytes: as
	// it is read, with its column in the node, and in the solver.
	rootShare = 0.5
	nodeShare = 0.1
	nodeBytes = 24
	// wrongNodes is to how many wrong nodes of each level a row is a negative.
	wrongNodes = 4
)

// trainer trains the nodes of a partition.
type trainer struct {
	Settings
	partition *Partition
	info      classinfo.Info
	rows      *examples
	held      routed      // rows that choose what finds the leaves; none: the nodes above them
	near      *similarity // finds the leaves; nil: the nodes above them do
	memory    int64       // budget of rows that are in a file
	nodes     []*weights
	trained   atomic.Int64  // weights before pruning
	journal   *journal      // of the nodes that are done; nil: none is kept
	part      dataset.Shard // of the leaves, see mine; zero: all

	progress func(done float64) // share of the work, from any goroutine; nil: not
	once     sync.Once
	work     float64      // of all nodes, see cost; set once
	done     atomic.Int64 // millionths of it
}

// run trains all nodes, level by level.
func (t *trainer) run(ctx context.Context) error {
	p := t.partition
	if t.nodes == nil {
		t.nodes = make([]*weights, len(p.Nodes))
	}
	missing := t.missing()
	negatives := make([][]int32, len(p.Nodes))
	level := 0
	for from, end := 0, 1; from < end; level++ {
		next := end // nodes of the next level: the children of these
		for v := from; v < end; v++ {
			next += p.Nodes[v].Children
		}
		threads := kernel.Threads(t.Threads)
		inner := threads // of one node, where they are fewer than goroutines
		if end-from >= threads {
			inner = 1
		}
		errs := make([]error, end-from)
		kernel.Parallel(t.Threads, end-from, 1, func(n, _, _ int) {
			if ctx.Err() == nil && t.nodes[from+n] == nil && t.mine(from+n) {
				errs[n] = t.node(ctx, from+n, negatives[from+n], inner)
			}
			negatives[from+n] = nil
		})
		if err := cmp.Or(append(errs, ctx.Err())...); err != nil {
			return err
		}
		if next > end && !slices.ContainsFunc(p.Nodes[end:next], func(n Node) bool { return !n.Leaf() }) {
			if err := t.chooseRouter(); err != nil {
				return err
			}
		}
		if next > end && t.Negatives > 0 && missing > 0 {
			if err := t.collect(level+1, end, negatives); err != nil {
				return err
			}
		}
		from, end = end, next
	}
	return nil
}

// chooseRouter decides, when only leaves are left to train, what finds them: the softmaxes above
// them or the similarity to classes, where held-out rows gain by it.
func (t *trainer) chooseRouter() error {
	if len(t.held.class) == 0 {
		return nil
	}
	near, err := newSimilarity(t.rows, t.Threads)
	if err != nil {
		return err
	}
	reached := func(near *similarity) float64 {
		return t.held.route(t.partition, t.nodes, near, DefaultBeam, t.Threads).reached()
	}
	if reached(near) >= reached(nil)+similarGain {
		t.near = near
	}
	return nil
}

// mine tells whether a node is one of the part: every inner node is, as the rows that leaves
// are sent by mistake depend on all of these, and every so manieth leaf, of which those of
// one parent stand together.
func (t *trainer) mine(v int) bool {
	return t.part.Count == 0 || !t.partition.Nodes[v].Leaf() || v%t.part.Count == t.part.Index
}

// missing returns how many nodes of the part are to be trained.
func (t *trainer) missing() (n int) {
	for v, w := range t.nodes {
		if w == nil && t.mine(v) {
			n++
		}
	}
	return n
}

// cost is about how long the fit of a node takes.
func (t *trainer) cost(v int) float64 {
	n := t.partition.Nodes[v]
	rows := t.rows.start[n.End] - t.rows.start[n.First]
	if v > 0 {
		rows += int(t.Negatives * float64(rows))
	}
	return float64(rows) * float64(outputs(t.partition, v))
}

// report tells that a node is done.
func (t *trainer) report(v int) {
	if t.progress != nil {
		t.once.Do(func() {
			for v := range t.partition.Nodes {
				if t.mine(v) {
					t.work += t.cost(v)
				}
			}
		})
		t.progress(float64(t.done.Add(int64(1e6*t.cost(v)/t.work))) / 1e6)
	}
}

// collect appends to negatives, of the nodes from first on, the rows that the levels above
// would wrongly send there: each row to the best few but its own.
func (t *trainer) collect(level, first int, negatives [][]int32) error {
	n := t.rows.len()
	sent := make([]step, n*wrongNodes)
	const grain = 256
	errs := make([]error, (n+grain-1)/grain)
	kernel.Parallel(t.Threads, n, grain, func(block, lo, hi int) {
		s := newSearch(t.partition, t.nodes, t.near, wrongNodes+1)
		x, err := t.rows.between(lo, hi)
		if err != nil {
			errs[block] = err
			return
		}
		for i := lo; i < hi; i++ {
			index, value := x.Row(i - lo)
			s.down(level, index, value)
			to := sent[i*wrongNodes : i*wrongNodes : (i+1)*wrongNodes]
			for _, at := range s.now {
				node := t.partition.Nodes[at.node]
				if place := int(t.rows.place[i]); (place < node.First || place >= node.End) && len(to) < wrongNodes {
					to = append(to, at)
				}
			}
		}
	})
	if err := cmp.Or(errs...); err != nil {
		return err
	}
	type sentRow struct {
		row int32
		log float32
	}
	lists := make([][]sentRow, len(negatives))
	for i, w := range sent {
		if int(w.node) >= first {
			lists[w.node] = append(lists[w.node], sentRow{int32(i / wrongNodes), w.log})
		}
	}
	kernel.Parallel(t.Threads, len(lists), 16, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			node := t.partition.Nodes[v]
			most := int(math.Ceil(t.Negatives * float64(t.rows.start[node.End]-t.rows.start[node.First])))
			list := lists[v]
			slices.SortFunc(list, func(a, b sentRow) int {
				return cmp.Or(cmp.Compare(b.log, a.log), cmp.Compare(a.row, b.row))
			})
			list = list[:min(len(list), most)]
			for _, s := range list {
				negatives[v] = append(negatives[v], s.row)
			}
			slices.Sort(negatives[v])
		}
	})
	return nil
}

// node trains one node.
func (t *trainer) node(ctx context.Context, v int, negatives []int32, threads int) error {
	layer, columns, err := t.fit(ctx, v, negatives, threads)
	if err != nil {
		return fmt.Errorf("extreme: node %d: %w", v, err)
	}
	t.trained.Add(int64(len(layer.Weight)))
	most := mostWeights
	switch {
	case !t.partition.Nodes[v].Leaf():
		most = mostInner
	case t.near != nil:
		most = mostSimilar
	}
	t.nodes[v] = pack(layer, columns, limit(layer, most, t.Threshold)).index(t.rows.columns)
	if t.journal != nil {
		if err := t.journal.add(record{v, len(layer.Weight), t.nodes[v]}); err != nil {
			return err
		}
	}
	t.report(v)
	return nil
}

// problem returns the rows of a node and its negatives, with the choice of each.
func (t *trainer) problem(v int, negatives []int32) (softmax.Examples, error) {
	var ex softmax.Examples
	n := t.partition.Nodes[v]
	rows, every, err := t.rowsOf(v)
	if err != nil {
		return ex, err
	}
	lo, hi := t.rows.start[n.First], t.rows.start[n.End]
	x := rows
	ex = softmax.Examples{X: x, Class: make([]int32, 0, x.Rows()+len(negatives))}
	child := 0
	for i := lo; i < hi; i += every {
		place := t.rows.place[i]
		choice := place - int32(n.First)
		if !n.Leaf() {
			for int(place) >= t.partition.Nodes[n.Child+child].End {
				child++
			}
			choice = int32(child)
		}
		ex.Class = append(ex.Class, choice)
		if t.rows.weight != nil {
			ex.Weight = append(ex.Weight, t.rows.weight[i])
		}
	}
	wrong := make([]int, len(negatives))
	for j, i := range negatives {
		wrong[j] = int(i)
		ex.Class = append(ex.Class, int32(n.Outputs()))
		if t.rows.weight != nil {
			ex.Weight = append(ex.Weight, t.rows.weight[i])
		}
	}
	return ex, t.rows.add(x, wrong)
}

// rowsOf returns the rows of a node, or every so manieth of them where they are in a file and
// an inner node has more than memory holds. As rows stand by class, each class keeps
// its part.
func (t *trainer) rowsOf(v int) (x *matrix.Sparse, every int, err error) {
	n, share := t.partition.Nodes[v], nodeShare
	if v == 0 {
		share = rootShare
	}
	lo, hi := t.rows.start[n.First], t.rows.start[n.End]
	every = 1
	if t.rows.x == nil && !n.Leaf() {
		room := max(int(share*float64(t.memory)/nodeBytes), 1)
		every = (t.rows.values(hi-lo) + room - 1) / room
	}
	if every <= 1 {
		x, err = t.rows.between(lo, hi)
		return x, 1, err
	}
	var rows []int
	for i := lo; i < hi; i += every {
		rows = append(rows, i)
	}
	x, err = t.rows.some(rows)
	return x, every, err
}

// fit trains the softmax of a node over the columns that its rows have.
func (t *trainer) fit(ctx context.Context, v int, negatives []int32, threads int) (*softmax.Layer, []int32, error) {
	ex, err := t.problem(v, negatives)
	if err != nil {
		return nil, nil, err
	}
	n, k := t.partition.Nodes[v], outputs(t.partition, v)
	x := ex.X.(*matrix.Sparse)
	if !n.Leaf() {
		x = frequent(x, innerFeatures)
	}
	columns, local := compact(x, make([]int32, x.Columns))
	ex.X = local
	if k == 1 || len(columns) == 0 || len(ex.Class) == 0 {
		return &softmax.Layer{Classes: k, Features: len(columns), Weight: make([]float32, k*len(columns)), Bias: make([]float32, k)}, columns, nil
	}
	opts := softmax.Options{Prior: t.Prior, Trainer: softmax.Converge{Tolerance: tolerance, MaxSteps: maxPasses, Dual: true}, Seed: t.Seed + uint64(v), Threads: threads}
	if n.Leaf() && len(t.Sharing) > 0 {
		if opts.Sharing, err = t.sharing(v); err != nil {
			return nil, nil, err
		}
	}
	layer, _, err := softmax.Fit(ctx, ex, k, opts)
	return layer, columns, err
}

// frequent returns x without the columns beyond the most frequent ones.
func frequent(x *matrix.Sparse, most int) *matrix.Sparse {
	rows := make([]int32, x.Columns)
	for _, f := range x.Index {
		rows[f]++
	}
	sorted := slices.Clone(rows)
	slices.Sort(sorted)
	if len(sorted) <= most || sorted[len(sorted)-most-1] == 0 {
		return x
	}
	least := sorted[len(sorted)-most-1] // columns of more rows than this are at most so many
	kept := 0
	for _, f := range x.Index {
		if rows[f] > least {
			kept++
		}
	}
	out := &matrix.Sparse{Columns: x.Columns, Start: make([]int, 1, len(x.Start)), Index: make([]int32, 0, kept), Value: make([]float32, 0, kept)}
	for i := range x.Rows() {
		index, value := x.Row(i)
		for n, f := range index {
			if rows[f] > least {
				out.Index, out.Value = append(out.Index, f), append(out.Value, value[n])
			}
		}
		out.Start = append(out.Start, len(out.Index))
	}
	return out
}

// sharing makes that of the classes of a leaf and of "none of these", which shares nothing.
func (t *trainer) sharing(v int) (sharing.Sharing, error) {
	n := t.partition.Nodes[v]
	info := part(t.info, t.partition.Order[n.First:n.End], v > 0)
	s, _, err := classinfo.Build(t.Sharing, info, t.ClassInfo)
	return s, err
}

package extreme

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/internal/memory"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

// Options sets up Train. The zero value is the default.
type Options struct {
	Shape     Shape             // of the tree
	Sharing   classinfo.Spec    // among the classes of a leaf: none, or a sum of names, vectors and taxonomy; nil: what the rows support
	Names     tune.Choice       // the names of the classes are examples, too
	ClassInfo classinfo.Options // of the sharing
	Prior     float64           // τ², see softmax.Options; 0 means DefaultPrior
	Valid     []int             // table rows to measure on, in place of held-out ones; nil: none
	Calibrate bool              // fit a temperature on the held-out rows
	Seed      uint64            // of everything random
	Threads   int               // 0: one a CPU; never changes a result

	// Checkpoint names a file for the nodes that are done; "": none. With Resume a training
	// goes on with what an earlier one of the same data and options left there, and ends
	// with the same bytes. The caller removes it.
	Checkpoint string
	Resume     bool

	// Part, of several, has Train end with ErrPart when it has trained the inner nodes and its
	// part of the leaves, which are in Checkpoint then. With Parts, the checkpoints of all
	// parts of the same data and options, Train trains no node.
	Part  dataset.Shard
	Parts []string

	// Scratch is the folder of a file of rows where memory does not hold the examples, some
	// five bytes for each n-gram of a text; "": the system's for temporary files.
	Scratch string

	// Progress is called as the work goes on, with what is being done.
	Progress func(stage string, p softmax.Progress)
}

// DefaultPrior is the prior variance of the weights. Accuracy changes by half a point at
// most from 30 to 100.
const DefaultPrior = 60

const (
	// maxFeatures bounds the n-grams of a model: the rarest beyond it are left out.
	maxFeatures = 1 << 19
	// Weights of the leaves below leastThreshold are left out as each node is written;
	// a larger one of thresholds is taken if the log loss of held-out rows allows it.
	leastThreshold = 0.03
	// allowedLoss is the share of the held-out log loss that leaving out weights may cost,
	// and of the rows that are then answered wrong.
	allowedLoss = 0.001
	// negativesShare is the number of "none of these" rows of a node beside its own.
	negativesShare = 1
	// The beam doubles, up to mostBeam, as long as so many more held-out rows are right.
	beamGain = 0.005
	mostBeam = 80
	// choiceRows of the held-out rows choose the beam and the threshold.
	choiceRows = 600
	// defaultRouter is Report.Router without held-out rows.
	defaultRouter = 0.25

	// Held-out rows are a twentieth of all, mostHeld at most, of classes that keep two.
	heldShare = 20
	mostHeld  = 2000
	leastHeld = 100
	keptRows  = 2

	// evidenceRows is the number of rows that tell whether names are of use.
	evidenceRows = 2000
	// manyRows a class, on average, and names are of no use.
	manyRows = 60
	// enoughErrors is by how many standard errors the rows must support a source.
	enoughErrors = 3

	streamHeld, streamEvidence = 0x4e1d7ee, 0xe51de9ce
)

// thresholds are those of the weights that are tried.
func thresholds() []float32 { return []float32{0.05, 0.08, 0.12, 0.2} }

// routers are the weights of the router that are tried, or of similar classes.
func routers(similar bool) []float64 {
	if similar {
		return []float64{0, 5, 10, 20, 40, 80, 160}
	}
	return []float64{0, 0.125, 0.25, 0.375, 0.5, 0.75, 1}
}

// ErrData says that examples are of a kind that a tree of softmaxes is not made for.
var ErrData = errors.New("mode tree is for texts and sparse features of one label each")

// ErrPart says that a part of the leaves is trained, and the model not yet made.
var ErrPart = errors.New("one part of the leaves is trained")

// Check returns an *option.Error or *option.Misuse for options out of range.
func (o Options) Check() error {
	for _, s := range o.Sharing {
		if !slices.Contains([]classinfo.Source{classinfo.None, classinfo.Names, classinfo.Vectors, classinfo.Taxonomy}, s) {
			return option.Refuse("%s does not go with %s, whose leaves share by none, names, vectors or taxonomy; choose among these, or %s", "Sharing "+string(s), "Mode tree", "Mode flat")
		}
	}
	if o.Part.Count > 0 && o.Checkpoint == "" {
		return errors.New("extreme: a part is kept in a checkpoint: want Options.Checkpoint")
	}
	return cmp.Or(o.Sharing.Check(), o.ClassInfo.Check(), option.Threads(o.Threads),
		option.Check("Prior", o.Prior, o.Prior >= 0 && !math.IsInf(o.Prior, 1), "a number above 0, such as 60"),
		option.Check("MaxLeaf", o.Shape.MaxLeaf, o.Shape.MaxLeaf >= 0 && o.Shape.MaxLeaf < MaxOutputs, "a number of classes from 1 to 254"),
		option.Check("MaxWidth", o.Shape.MaxWidth, o.Shape.MaxWidth == 0 || o.Shape.MaxWidth > 1 && o.Shape.MaxWidth < MaxOutputs, "a number of children from 2 to 254"))
}

// CheckData returns an error that wraps ErrData unless a tree can be trained on d.
func CheckData(d *corpus.Data) error {
	switch {
	case d.Table.Kind() == dataset.Numbers:
		return fmt.Errorf("the data holds %v: %w", d.Table.Kind(), ErrData)
	case d.Mix != nil:
		return fmt.Errorf("the data has rows of several labels: %w", ErrData)
	}
	return nil
}

// Train trains a tree of softmaxes on rows of d. about has what the caller knows of the
// training; the rest is filled in. Some rows are held out, if classes have three and more:
// they tell how much the router counts, which weights are left out and, with Calibrate,
// the temperature; no weight is trained on them.
//
// It holds the rows as features twice, the weights that are kept, and one node a goroutine
// with all its weights. Rows of a stream are in a file instead: a node reads its own. An
// inner node has those that fit a quarter of the memory budget. A cancelled context ends
// it with an error that wraps ctx.Err().
func Train(ctx context.Context, d *corpus.Data, rows []int, o Options, about softmax.Training) (*Model, error) {
	if err := cmp.Or(o.Check(), CheckData(d)); err != nil {
		return nil, err
	}
	fit, held := d.Labelled(rows), d.Labelled(o.Valid)
	examples := len(rows)
	if d.Stream != nil {
		examples = d.Stream.Rows()
		if out := slices.IndexFunc(fit, func(row int) bool { return row >= d.Stream.Held }); out > 0 {
			if len(held) == 0 {
				held = fit[:min(out, mostHeld)]
			}
			fit = fit[out:]
		}
	} else if len(held) == 0 {
		fit, held = holdOut(d, fit, o.Seed)
	}
	names, spec, why, err := known(d, fit, examples, o)
	if err != nil {
		return nil, err
	}
	f, err := d.Fit(fit, corpus.Inputs{Names: names, MaxFeatures: maxFeatures})
	if err != nil {
		return nil, err
	}
	g, err := gather(ctx, d, f, names, o)
	if err != nil {
		return nil, fmt.Errorf("extreme: %w", err)
	}
	defer g.close()
	p := Cluster(g.vectors, o.Shape, o.Seed, o.Threads)
	settings := Settings{Prior: cmp.Or(o.Prior, DefaultPrior), Sharing: spec, ClassInfo: o.ClassInfo, Threshold: leastThreshold,
		Negatives: negativesShare, Threads: o.Threads, Seed: o.Seed}
	t := &trainer{Settings: settings, partition: p, info: d.Classes, rows: g.inOrder(p), memory: memory.Budget(d.Memory), part: o.Part}
	if o.Progress != nil {
		t.progress = func(done float64) { o.Progress("tree", softmax.Progress{Fraction: done}) }
	}
	var outside softmax.Examples
	if len(held) > 0 {
		if outside, err = d.Examples(f.Features, held); err != nil {
			return nil, err
		}
		t.held = some(outside, min(len(held), choiceRows))
	}
	runtime.GC() // else what making them has left counts beside the root
	switch {
	case o.Parts != nil:
		if err := t.join(o.Parts); err != nil {
			return nil, fmt.Errorf("extreme: %w", err)
		}
	case o.Checkpoint != "":
		if err := t.resume(o.Checkpoint, o.Resume); err != nil {
			return nil, fmt.Errorf("extreme: checkpoint: %w", err)
		}
		defer t.journal.file.Close()
	}
	if err := t.run(ctx); err != nil {
		return nil, err
	}
	if o.Part.Count > 0 {
		return nil, ErrPart
	}
	m := &Model{Features: f.Features, Labels: d.Classes.Labels, Partition: p, Tree: d.Classes.Taxonomy, Vectors: d.Classes.Vectors, ClassTotals: d.ClassTotals(fit), nodes: t.nodes}
	if t.near != nil {
		m.near = t.near
		for v, n := range p.Nodes {
			if !n.Leaf() {
				m.nodes[v] = newPacker(make([]float32, outputs(p, v))).weights().index(f.Features.Dim())
			}
		}
	}
	m.Report = Report{Similar: m.near != nil, Levels: p.Levels(), Nodes: len(p.Nodes), Leaves: p.Leaves(), Trained: int(t.trained.Load()), Least: leastThreshold, Router: defaultRouter, Beam: DefaultBeam}
	m.Training = about
	m.Training.Examples, m.Training.Seed, m.Training.Names, m.Training.Prior = examples, o.Seed, names, settings.Prior
	m.Training.Sharing, m.Training.Loss, m.Training.Trainer, m.Training.Choice = cmp.Or(spec.String(), string(classinfo.None)), string(tune.CrossEntropy), "tree", why
	if n := f.Features.MinRows(); n > 1 {
		m.Training.MinRows = n
	}
	if m.Report.Gap, err = gap(ctx, t, o); err != nil {
		return nil, err
	}
	t.rows, t.nodes = nil, nil // what follows needs neither
	if len(held) > 0 {
		if err := m.tune(outside, o); err != nil {
			return nil, err
		}
	}
	for _, w := range m.nodes {
		m.Report.Weights += w.count()
	}
	return m, m.Check()
}

// gathered are the rows that a model is trained on, and the vectors of the classes.
type gathered struct {
	vectors *matrix.Dense // k x Dimensions
	x       *matrix.Sparse
	file    *rowFile // in place of x
	class   []int32
	weight  []float32
}

// gather takes the rows that features were fitted on, or writes those of the stream of d,
// with the names among the first, to a file; f has no rows then.
func gather(ctx context.Context, d *corpus.Data, f *corpus.Fitted, names bool, o Options) (*gathered, error) {
	x := f.X.(*matrix.Sparse)
	if d.Stream == nil {
		g := &gathered{x: x, class: f.Class, weight: f.Weight}
		g.vectors = ClassVectors(x, f.Class, d.Classes, o.Threads)
		f.X = nil
		return g, nil
	}
	stream := d.Epochs(f, o.Seed, o.Threads)
	if stream.Mixed {
		return nil, fmt.Errorf("the data has rows of several labels: %w", ErrData)
	}
	k := len(d.Classes.Labels)
	var last softmax.Examples // the names
	if names {
		last = softmax.Examples{X: x.Select(dataset.Range(x.Rows()-k, x.Rows())), Class: f.Class[len(f.Class)-k:], Weight: slices.Repeat([]float32{1}, k)}
	}
	f.X, x = nil, nil
	file, err := newRowFile(o.Scratch, f.Features.Dim())
	if err != nil {
		return nil, err
	}
	g := &gathered{file: file, vectors: matrix.NewDense(k, Dimensions)}
	even := true
	add := func(ex softmax.Examples) error {
		x := ex.X.(*matrix.Sparse)
		addRows(g.vectors, x, ex.Class, o.Threads)
		for i := range x.Rows() {
			if err := file.write(x.Row(i)); err != nil {
				return err
			}
			even = even && ex.Weight[i] == 1
		}
		g.class, g.weight = append(g.class, ex.Class...), append(g.weight, ex.Weight...)
		if o.Progress != nil {
			o.Progress("rows", softmax.Progress{Fraction: float64(len(g.class)) / float64(max(stream.Rows, len(g.class)))})
		}
		return nil
	}
	for ex, err := range stream.Epoch(ctx, 0) {
		if err = cmp.Or(err, ctx.Err()); err == nil {
			err = add(ex)
		}
		if err != nil {
			return nil, errors.Join(err, file.close())
		}
	}
	if err = ctx.Err(); err == nil && names {
		err = add(last)
	}
	if err = cmp.Or(err, file.done()); err != nil {
		return nil, errors.Join(err, file.close())
	}
	if even {
		g.weight = nil
	}
	complete(g.vectors, d.Classes, o.Threads)
	return g, nil
}

// inOrder returns the rows in the order of a partition; g has them no more.
func (g *gathered) inOrder(p *Partition) *examples {
	g.vectors = nil
	if g.file == nil {
		e := inOrder(g.x, g.class, g.weight, p)
		g.x, g.class, g.weight = nil, nil, nil
		return e
	}
	e, rows := ordered(g.class, g.weight, p)
	e.columns, e.file, e.row = g.file.columns, g.file, rows
	g.class, g.weight = nil, nil
	return e
}

// close removes the file, if there is one. A file that cannot be removed is no reason to
// lose a model.
func (g *gathered) close() {
	if g.file != nil {
		_ = g.file.close()
	}
}

// holdOut draws the rows to measure on, none where there are too few to spare.
func holdOut(d *corpus.Data, rows []int, seed uint64) (fit, held []int) {
	count := d.Count(rows)
	most := min(len(rows)/heldShare, mostHeld)
	out := make(map[int]bool, most)
	for _, n := range rand.New(rand.NewPCG(seed, streamHeld)).Perm(len(rows)) {
		if len(out) == most {
			break
		}
		if c := d.Class[rows[n]]; count[c] > keptRows {
			count[c]--
			out[n] = true
		}
	}
	if len(out) < leastHeld {
		return rows, nil
	}
	for n, row := range rows {
		if out[n] {
			held = append(held, row)
		} else {
			fit = append(fit, row)
		}
	}
	return fit, held
}

// known chooses what is used of what is known about the classes: what the options say, else
// what the rows support by three standard errors.
func known(d *corpus.Data, rows []int, examples int, o Options) (names bool, spec classinfo.Spec, why string, err error) {
	names, spec = o.Names == tune.On, o.Sharing
	if spec != nil && o.Names != tune.Auto {
		return names, spec, "", nil
	}
	few := examples < manyRows*len(d.Classes.Labels)
	agree := false
	if few && d.Named() {
		sample := sampleOf(rows, evidenceRows, o.Seed)
		right, chance, _, err := tune.NamesAgree(d, sample)
		if err != nil {
			return false, nil, "", err
		}
		se := math.Sqrt(max(right*(1-right), chance*(1-chance)) / float64(len(sample)))
		agree = right > chance+enoughErrors*se
		why = fmt.Sprintf("the nearest name is right for %.1f %% of %d rows, chance is %.2g %%", 100*right, len(sample), 100*chance)
	}
	if o.Names == tune.Auto {
		names = agree
	}
	if spec == nil {
		if agree {
			spec = append(spec, classinfo.Names)
		}
		if few && d.Classes.Vectors != nil {
			spec = append(spec, classinfo.Vectors)
		}
		if few && d.Classes.Taxonomy != nil {
			spec = append(spec, classinfo.Taxonomy)
		}
	}
	return names, spec, why, nil
}

// sampleOf returns random rows, in their order.
func sampleOf(rows []int, most int, seed uint64) []int {
	if len(rows) <= most {
		return rows
	}
	places := rand.New(rand.NewPCG(seed, streamEvidence)).Perm(len(rows))[:most]
	slices.Sort(places)
	return dataset.At(rows, places)
}

// answers are the candidates of held-out rows.
type answers struct {
	lists [][]candidate
	class []int32
}

// routed are rows of features with the leaves that a search comes to.
type routed struct {
	x     *matrix.Sparse
	class []int32
	to    [][]step      // of each row
	path  [][]candidate // the classes of these, but for what the leaves say
}

// some returns so many of the examples, spread over all, as files are often sorted by class.
func some(ex softmax.Examples, n int) routed {
	rows, class := make([]int, n), make([]int32, n)
	for i := range rows {
		rows[i] = i * len(ex.Class) / n
		class[i] = ex.Class[rows[i]]
	}
	return routed{x: ex.X.(*matrix.Sparse).Select(rows).(*matrix.Sparse), class: class}
}

// route searches for rows of features.
func (r routed) route(p *Partition, nodes []*weights, near *similarity, beam int, threads int) routed {
	r.to, r.path = make([][]step, len(r.class)), make([][]candidate, len(r.class))
	kernel.Parallel(threads, len(r.class), 64, func(_, lo, hi int) {
		s := newSearch(p, nodes, near, beam)
		for i := lo; i < hi; i++ {
			index, value := r.x.Row(i)
			s.down(p.Levels()-1, index, value)
			r.to[i] = slices.Clone(s.now)
			for _, at := range s.now {
				leaf := p.Nodes[at.node]
				for n := leaf.First; n < leaf.End; n++ {
					r.path[i] = append(r.path[i], candidate{class: p.Order[n], path: s.path(at, n)})
				}
			}
		}
	})
	return r
}

// reached returns the share of the rows whose class is in one of their leaves.
func (r routed) reached() float64 {
	reached := 0.0
	for i, list := range r.path {
		if slices.ContainsFunc(list, func(c candidate) bool { return c.class == r.class[i] }) {
			reached++
		}
	}
	return reached / float64(len(r.path))
}

// answers returns the candidates of the rows, without the weights of leaves below a
// threshold. It goes leaf by leaf, so that only some are there without these.
func (r routed) answers(p *Partition, nodes []*weights, threshold float32, threads int) answers {
	type visit struct{ row, from int } // of a leaf, and where its candidates begin
	a := answers{lists: make([][]candidate, len(r.to)), class: r.class}
	visits := make([][]visit, len(nodes))
	for i, steps := range r.to {
		a.lists[i] = slices.Clone(r.path[i])
		n := 0
		for _, at := range steps {
			visits[at.node] = append(visits[at.node], visit{i, n})
			n += p.Nodes[at.node].Classes()
		}
	}
	kernel.Parallel(threads, len(nodes), 1, func(v, _, _ int) {
		if len(visits[v]) == 0 {
			return
		}
		w := nodes[v]
		if threshold > 0 {
			w = w.pruned(threshold).index(r.x.Columns)
		}
		s := newSearch(p, nodes, nil, 0)
		for _, at := range visits[v] {
			index, value := r.x.Row(at.row)
			for c, log := range s.logs(v, w, index, value) {
				a.lists[at.row][at.from+c].leaf = log
			}
		}
	})
	return a
}

// measure returns the accuracy, the log loss of the rows whose class is among the
// candidates, at a temperature, and the share of these.
func (a answers) measure(router, temperature float64) (accuracy, loss, reached float64) {
	right := a.right(router)
	var scores []float64
	for i, list := range a.lists {
		if right[i] {
			accuracy++
		}
		scores = scores[:0]
		at := -1
		for n, c := range list {
			scores = append(scores, (router*float64(c.path)+float64(c.leaf))/temperature)
			if c.class == a.class[i] {
				at = n
			}
		}
		if at >= 0 {
			reached++
			truth := scores[at]
			loss += kernel.Softmax(scores, scores) - truth
		}
	}
	n := float64(len(a.lists))
	return accuracy / n, loss / max(reached, 1), reached / n
}

// best returns the weight of the router with which most rows are right, and their share.
func (a answers) best(similar bool) (accuracy, router float64) {
	accuracy = -1
	for _, w := range routers(similar) {
		right := 0.0
		for _, r := range a.right(w) {
			right += share(r) / float64(len(a.lists))
		}
		if right > accuracy {
			accuracy, router = right, w
		}
	}
	return accuracy, router
}

// right tells which rows have their class as the best candidate.
func (a answers) right(router float64) []bool {
	out := make([]bool, len(a.lists))
	for i, list := range a.lists {
		best, top := int32(-1), math.Inf(-1)
		for _, c := range list {
			if s := router*float64(c.path) + float64(c.leaf); s > top {
				best, top = c.class, s
			}
		}
		out[i] = best == a.class[i]
	}
	return out
}

// tune finds, on held-out rows, what the router counts, which weights can go, and the
// calibration.
func (m *Model) tune(held softmax.Examples, o Options) error {
	r := &m.Report
	r.HeldOut = len(held.Class)
	ask := func(beam, rows int) routed {
		return some(held, rows).route(m.Partition, m.nodes, m.near, beam, o.Threads)
	}
	few := min(r.HeldOut, choiceRows)
	var rows routed
	var a answers
	for beam := DefaultBeam; ; beam *= 2 {
		to := ask(beam, few)
		wider := to.answers(m.Partition, m.nodes, 0, o.Threads)
		accuracy, router := wider.best(r.Similar)
		if beam > DefaultBeam && accuracy < r.Accuracy+beamGain {
			break
		}
		rows, a, r.Beam, r.Accuracy, r.Router = to, wider, beam, accuracy, router
		if beam >= r.Leaves || beam >= mostBeam {
			break
		}
	}
	c, err := m.temperature(a, o.Threads)
	if err != nil {
		return err
	}
	t := c.Temperature
	best, first, _ := a.measure(r.Router, t)
	for _, threshold := range thresholds() {
		accuracy, loss, _ := rows.answers(m.Partition, m.nodes, threshold, o.Threads).measure(r.Router, t)
		if loss > first*(1+allowedLoss) || accuracy < best-allowedLoss {
			break
		}
		r.Least = float64(threshold)
	}
	kernel.Parallel(o.Threads, len(m.nodes), 1, func(v, _, _ int) {
		if r.Least > leastThreshold && m.Partition.Nodes[v].Leaf() {
			m.nodes[v] = m.nodes[v].pruned(float32(r.Least)).index(m.Features.Dim())
		}
	})
	a = ask(r.Beam, r.HeldOut).answers(m.Partition, m.nodes, 0, o.Threads)
	_, r.Router = a.best(r.Similar)
	r.Accuracy, r.LogLoss, r.Reached = a.measure(r.Router, t)
	if !o.Calibrate {
		return nil
	}
	if c, err = m.temperature(a, o.Threads); err == nil && !c.AtLimit {
		m.Training.Calibration = &c
	}
	return err
}

// temperature fits a calibration on answers. A row whose class the search has not come to
// counts as one of none of the candidates.
func (m *Model) temperature(a answers, threads int) (decide.Calibration, error) {
	width := 0
	for _, list := range a.lists {
		width = max(width, len(list))
	}
	width++ // the last has no row's score
	scores := make([]float32, 0, len(a.lists)*width)
	class := make([]int, len(a.lists))
	for i, list := range a.lists {
		class[i] = width - 1
		for n, c := range list {
			scores = append(scores, m.score(c))
			if c.class == a.class[i] {
				class[i] = n
			}
		}
		for len(scores) < (i+1)*width {
			scores = append(scores, float32(math.Inf(-1)))
		}
	}
	c, err := decide.FitTemperature(scores, width, class, nil, threads)
	if err != nil || c.AtLimit {
		return c, err
	}
	if c, err = decide.FitConfidence(c, scores, width, class, nil, 0, threads); err == nil {
		c.Answers, err = decide.CountAnswers(c, scores, width, class, nil, threads)
	}
	return c, err
}

const (
	// The gap to the flat softmax is estimated on so many classes: one node of a tree can
	// choose among them.
	gapClasses = 240
	// gapLeaf is the number of classes of a leaf of the small tree.
	gapLeaf = 16
	// gapHeld is the share of the rows of a class that is held out.
	gapHeld    = 5
	streamGap  = 0x9a9
	leastInGap = 3 // rows of a class
)

// gap trains a tree and a flat softmax on a sample of the classes, and compares them on
// rows that neither was trained on. It is nil if too few classes have rows to spare. It
// takes as long as a few leaves.
func gap(ctx context.Context, t *trainer, o Options) (*Gap, error) {
	var classes []int32 // places in the partition
	for _, n := range rand.New(rand.NewPCG(o.Seed, streamGap)).Perm(len(t.partition.Order)) {
		if rows := t.rows.start[n+1] - t.rows.start[n]; rows >= leastInGap && len(classes) < gapClasses {
			classes = append(classes, int32(n))
		}
	}
	if len(classes) < gapClasses {
		return nil, nil
	}
	slices.Sort(classes)
	var fit, held []int
	var class, truth []int32 // places in classes
	var weight []float32
	for n, place := range classes {
		from, end := t.rows.start[place], t.rows.start[place+1]
		spare := max(1, (end-from)/gapHeld)
		for i := from; i < end; i++ {
			if i < from+spare { // a name as an example comes last
				held, truth = append(held, i), append(truth, int32(n))
				continue
			}
			fit, class = append(fit, i), append(class, int32(n))
			if t.rows.weight != nil {
				weight = append(weight, t.rows.weight[i])
			}
		}
	}
	info := part(t.info, at(t.partition.Order, classes), false)
	x, err := t.rows.some(fit)
	if err != nil {
		return nil, err
	}
	test, err := t.rows.some(held)
	if err != nil {
		return nil, err
	}
	right := func(shape Shape) ([]bool, error) {
		p := Cluster(ClassVectors(x, class, info, o.Threads), shape, o.Seed, o.Threads)
		small := &trainer{Settings: t.Settings, partition: p, info: info, rows: inOrder(x, class, weight, p)}
		if err := small.run(ctx); err != nil {
			return nil, err
		}
		a := routed{x: test, class: truth}.route(p, small.nodes, nil, 0, o.Threads).answers(p, small.nodes, 0, o.Threads)
		return a.right(defaultRouter), nil
	}
	tree, err := right(Shape{MaxLeaf: gapLeaf})
	if err != nil {
		return nil, err
	}
	flat, err := right(Shape{MaxLeaf: gapClasses})
	if err != nil {
		return nil, err
	}
	return compare(tree, flat, len(classes)), nil
}

// compare makes a Gap of which rows are right.
func compare(tree, flat []bool, classes int) *Gap {
	g := &Gap{Classes: classes, Rows: len(tree)}
	n := float64(len(tree))
	var squares float64
	for i := range tree {
		a, b := share(tree[i]), share(flat[i])
		g.Tree, g.Flat = g.Tree+a/n, g.Flat+b/n
		squares += (a - b) * (a - b) / n
	}
	g.Difference = g.Tree - g.Flat
	g.DifferenceSE = math.Sqrt(max(squares-g.Difference*g.Difference, 0) / n)
	return g
}

func share(right bool) float64 {
	if right {
		return 1
	}
	return 0
}

// at returns the numbers at places of a list.
func at(list []int32, places []int32) []int32 {
	out := make([]int32, len(places))
	for n, place := range places {
		out[n] = list[place]
	}
	return out
}

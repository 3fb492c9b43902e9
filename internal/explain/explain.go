package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/softmax"
)

// Options sets up New. The zero value is the default.
type Options struct {
	// Features is how many features are named on each side of a Contrast; 0
	// means 5. The others are summed up.
	Features int
	// Nearest is how many of the nearest classes are named; 0 means 5.
	Nearest int
	// Against is the label of the class to compare the answer with; "" is the
	// runner-up, which also stands in where the answer is this very class.
	Against string
}

// Explanation is why a record has its answer.
type Explanation struct {
	Label       string  `json:"label"` // the answer
	Probability float64 `json:"probability"`
	// Temperature is what the model divides scores by before they become
	// probabilities, 1 unless it was calibrated: the log odds of two classes of
	// a flat model are the difference of their scores over this.
	Temperature float64 `json:"temperature"`
	// Path leads from the root of the model's tree to the class; empty if the
	// model has no tree.
	Path []Node `json:"path"`
	// NearestByWeights are the classes whose weights, less the mean over the
	// classes, have the largest cosine with those of the answer. Empty for a
	// hierarchical softmax, which has no weights of a class.
	NearestByWeights []Neighbour `json:"nearest_by_weights"`
	// NearestByName are those with the largest cosine of the n-grams of the
	// names, above 0.
	NearestByName []Neighbour `json:"nearest_by_name"`
	// Decisions are one for a flat model, between all classes. A hierarchical
	// softmax takes one for each group on the path, the root first.
	Decisions []Decision `json:"decisions"`
}

// Node is a step of a path.
type Node struct {
	Name    string `json:"node"`
	Classes int    `json:"classes"` // at or below it
}

// Neighbour is a class like the answer.
type Neighbour struct {
	Label  string  `json:"label"`
	Cosine float64 `json:"cosine"` // -1 to 1
}

// Explainer explains the answers of one model. It keeps buffers and what it
// found out about a class, so each goroutine needs one of its own.
type Explainer struct {
	model     *softmax.Model
	tree      *labeltree.Tree // nil: none
	opts      Options
	against   int // class, -1 for the runner-up
	predictor *softmax.Predictor
	rower     *feature.Rower
	scores    []float32
	outputs   []int // 0..k-1, the choices of a flat model
	terms     []Contribution

	names    *matrix.Sparse // n-grams of the labels; nil: all are blank
	mean     []float64      // over the classes, of the weights of each feature; nil: not yet known
	norm     []float64      // of each class's weights less the mean
	byWeight map[int][]Neighbour
	byName   map[int][]Neighbour
}

// New returns an Explainer for m. Parts of m that do not fit together, negative
// numbers and a class that the model does not have are errors.
func New(m *softmax.Model, opts Options) (*Explainer, error) {
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	if m.Multilabel != nil {
		return nil, errors.New("a model of several labels an example, and only an answer of one class is explained; predict answers with the probability of each class")
	}
	if opts.Features < 0 || opts.Nearest < 0 {
		return nil, fmt.Errorf("explain: %d features and %d nearest classes, want at least 0 of each", opts.Features, opts.Nearest)
	}
	opts.Features, opts.Nearest = cmp.Or(opts.Features, 5), cmp.Or(opts.Nearest, 5)
	e := &Explainer{
		model:     m,
		tree:      m.Tree,
		opts:      opts,
		predictor: m.NewPredictor(),
		rower:     feature.NewRower(m.Features),
		scores:    make([]float32, m.Layer.Outputs()),
		byWeight:  make(map[int][]Neighbour),
		byName:    make(map[int][]Neighbour),
	}
	if m.Layer.Hierarchy != nil {
		e.tree = m.Layer.Hierarchy.Tree()
	} else {
		for c := range m.Layer.Classes {
			e.outputs = append(e.outputs, c)
		}
	}
	if names, err := feature.Names(m.Labels); err == nil { // else they are blank, and none is like another
		e.names = names
	}
	if err := e.Ask(opts.Features, opts.Against); err != nil {
		return nil, err
	}
	return e, nil
}

// Ask changes Options.Features and Options.Against for what is explained from now on;
// what is known about the classes stays known. A negative number and a class that the model does not have are errors.
func (e *Explainer) Ask(features int, against string) error {
	if features < 0 {
		return fmt.Errorf("explain: %d features, want at least 0", features)
	}
	class := -1
	if against != "" {
		if class = slices.Index(e.model.Labels, against); class < 0 {
			return fmt.Errorf("explain: no class %q among the %d of the model", against, len(e.model.Labels))
		}
	}
	e.opts.Features, e.against = cmp.Or(features, 5), class
	return nil
}

// Explain returns why the model answers a record as it does. The answer is that
// of softmax.Predictor. A record of another kind than the model was trained on
// is an error, and so is a cancelled context.
//
// It takes O(k) for each feature of the record, and the first time that a class
// is the answer O(k d) to find the classes near it.
func (e *Explainer) Explain(ctx context.Context, record dataset.Example) (*Explanation, error) {
	p, err := e.predictor.Probabilities(record)
	if err != nil {
		return nil, err
	}
	index, value, err := e.rower.Row(record)
	if err != nil {
		return nil, err
	}
	answer := softmax.Top(p)
	out := &Explanation{
		Label:         e.model.Labels[answer],
		Probability:   float64(p[answer]),
		Temperature:   e.predictor.Temperature(),
		Path:          e.path(answer),
		NearestByName: e.nearestByName(answer),
		Decisions:     []Decision{},
	}
	if out.NearestByWeights, err = e.nearestByWeights(ctx, answer); err != nil {
		return nil, err
	}
	e.model.Layer.Scores(e.scores, index, value)
	if e.model.Layer.Hierarchy == nil {
		if len(e.outputs) > 1 {
			out.Decisions = append(out.Decisions, e.decision(e.flat(answer, p), index, value))
		}
		return out, nil
	}
	path := e.nodes(answer)
	for i, v := range path[1:] {
		if len(e.tree.Children(path[i])) > 1 { // an only child is no choice
			out.Decisions = append(out.Decisions, e.decision(e.among(path[i], v, p), index, value))
		}
	}
	return out, nil
}

// nodes returns the nodes on the path to a class, the root first; none without a tree.
func (e *Explainer) nodes(class int) []int {
	if e.tree == nil {
		return nil
	}
	path := e.tree.Path(class)
	slices.Reverse(path)
	return path
}

// path describes the path to a class.
func (e *Explainer) path(class int) []Node {
	out := []Node{}
	for _, v := range e.nodes(class) {
		out = append(out, Node{Name: e.tree.Name(v), Classes: len(e.tree.ClassesBelow(v))})
	}
	return out
}

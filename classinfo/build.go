package classinfo

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/treeloss/treeloss/covertree"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/sharing"
)

// Info is what is known about k classes. Only Labels must be there.
type Info struct {
	Labels   []string        // names
	Vectors  *matrix.Dense   // a vector for each label, zeros for one without; nil: none
	Taxonomy *labeltree.Tree // a given tree over the labels; nil: none

	Distances metric.Space  // precomputed distances between the labels; nil: none
	Weights   *mat.SymDense // k x k, the inner products of the weights that a model has for the labels, see WeightGram; nil: none

	// Examples of the classes, for means: rows of features, and the class of
	// each, -1 for a row that belongs to none. X nil: none.
	X     matrix.Matrix
	Class []int32
}

// Sources returns the sources that files brought: those of vectors, taxonomy,
// distances and weights that are there.
func (c Info) Sources() []Source {
	there := map[Source]bool{Vectors: c.Vectors != nil, Taxonomy: c.Taxonomy != nil, Distances: c.Distances != nil, Weights: c.Weights != nil}
	return slices.DeleteFunc(Metrics(), func(s Source) bool { return !there[s] })
}

// Options sets up Build. The zero value is the default.
type Options struct {
	Base float64 // of the cover tree; 0 means 1.3
	Seed uint64  // of the cover tree's insertion order
	Rho  float64 // weight of each class's own parameters beside shared features; 0 means 0.3 for means, 0.1 for others
	From Source  // metric for u-tree, v-tree, linkage, one of Metrics; "" means the first of Distances, Weights and Vectors that is there, else Names
}

// Check returns an *option.Error for an option that is out of range.
func (o Options) Check() error {
	return cmp.Or(
		option.Check("Base", o.Base, o.Base == 0 || o.Base >= 1.0001 && o.Base <= 1e6, "a number from 1.0001 to 1e6, such as 1.3"),
		option.Check("Rho", o.Rho, o.Rho >= 0 && !math.IsInf(o.Rho, 1), "a number above 0, such as 0.1, or 0 for the default"),
		option.Check("From", string(o.From), o.From == "" || slices.Contains(Metrics(), o.From), "one of "+joinSources(Metrics())))
}

// Defaults of Options. With DefaultMeansRho the sum names+means is
// K = G_names/2 + G_means/2 + 0.2 I, which did best with ten rows a class and
// more.
const (
	DefaultBase     = 1.3
	DefaultRho      = 0.1
	DefaultMeansRho = 0.3
)

// ErrMissing says that a source was asked for that is not there.
var ErrMissing = errors.New("class knowledge is missing")

// Build makes the sharing of a specification, with MeanEigenvalue 1. It also
// returns the first label tree of the specification if it holds one, else nil.
//
// Features (names, vectors, distances, weights, means) stand beside rho times the
// identity: A = [E, sqrt(rho) I], so that each class keeps parameters of its own. So do
// trees in which a class has none (an edge of length 0, as linkage makes for names that
// look the same). In a sum every part has the same weight. An empty specification is
// none; fewer than two classes share nothing either.
//
// A source that is not there is an error that wraps ErrMissing; knowledge that
// says the same of all classes, options out of range and examples that do not
// fit the classes are errors too. Distances, weights and means take O(k³) time
// for k classes and refuse more than 4000, linkage more than linear time, see its
// package.
func Build(spec Spec, c Info, opts Options) (sharing.Sharing, *labeltree.Tree, error) {
	k := len(c.Labels)
	if len(spec) == 0 || len(spec) == 1 && spec[0] == None || k < 2 {
		return sharing.None{K: k}, nil, nil
	}
	if err := opts.Check(); err != nil {
		return nil, nil, err
	}
	var parts []sharing.Part
	var tree *labeltree.Tree
	own := 0.0 // weight of the identity
	for _, source := range spec {
		s, t, err := build(source, c, opts)
		if err != nil {
			return nil, nil, err
		}
		if s, err = sharing.Normalized(s); err != nil {
			return nil, nil, fmt.Errorf("sharing %s: %w", source, err)
		}
		switch {
		case source == Means:
			own += cmp.Or(opts.Rho, DefaultMeansRho)
			// Features give no class parameters of its own, and a tree may give some class none.
		case t == nil || withoutOwn(t):
			own += cmp.Or(opts.Rho, DefaultRho)
		}
		if tree == nil {
			tree = t
		}
		parts = append(parts, sharing.Part{Factor: 1, Sharing: s})
	}
	// K = Σ K_s + own I, then scaled: the identity adds to the diagonal alone.
	if own > 0 {
		parts = append(parts, sharing.Part{Factor: math.Sqrt(own), Sharing: sharing.None{K: k}})
	}
	if len(parts) == 1 {
		return parts[0].Sharing, tree, nil
	}
	sum, err := sharing.NewSum(parts...)
	if err != nil {
		return nil, nil, err
	}
	s, err := sharing.Normalized(sum)
	return s, tree, err
}

// withoutOwn tells whether some class has no parameters of its own in a tree:
// the length of its node is nothing beside the longest path.
func withoutOwn(t *labeltree.Tree) bool {
	var longest float64
	least := math.Inf(1)
	for c := range t.Classes() {
		var length float64
		for _, v := range t.Path(c) {
			length += t.Length(v)
		}
		least = min(least, t.Length(t.Node(c)))
		longest = max(longest, length)
	}
	return least <= 1e-9*longest
}

// build makes the sharing of one source, and returns its tree if it is one.
func build(source Source, c Info, opts Options) (s sharing.Sharing, tree *labeltree.Tree, err error) {
	if err := c.need(source, "sharing"); err != nil {
		return nil, nil, err
	}
	switch source {
	case Names:
		e, err := feature.Names(c.Labels)
		if err != nil {
			return nil, nil, err
		}
		s, err := sharing.NewFeatures(e)
		return s, nil, err
	case Vectors:
		s, err = sharing.NewFeatures(unitRows(c.Vectors))
	case Means:
		s, err = meansSharing(c.X, c.Class, len(c.Labels))
	case Distances:
		s, err = distancesSharing(c.Distances)
	case Weights:
		s, err = weightsSharing(c.Weights)
	default:
		if tree, err = BuildTree(source, c, opts); err == nil {
			s = sharing.NewTree(tree)
		}
	}
	return s, tree, err
}

// BuildTree makes the label tree of one of the sources that are trees:
// Taxonomy, UTree, VTree or Linkage. Where the distances come from vectors, a
// class without one hangs right below the root. Another source is an error that wraps
// ErrSpec, and knowledge that is not there one that wraps ErrMissing.
func BuildTree(source Source, c Info, opts Options) (*labeltree.Tree, error) {
	switch source {
	case Taxonomy:
		return c.Taxonomy, c.need(Taxonomy, "sharing")
	case UTree, VTree, Linkage:
	default:
		return nil, fmt.Errorf("%w: %q is no tree, want %s", ErrSpec, source, joinSources([]Source{Taxonomy, UTree, VTree, Linkage}))
	}
	space, err := Metric(opts.From, c)
	if err != nil {
		return nil, err
	}
	// A vector of zeros has no angle to others: its class cannot be placed by distances.
	if opts.From.orDefault(c) == Vectors {
		if have := withVector(c.Vectors); len(have) < len(c.Labels) {
			return rooted(source, c, have, opts)
		}
	}
	return treeOver(source, space, c.Labels, opts)
}

// treeOver makes a UTree, VTree or Linkage over a metric.
func treeOver(source Source, space metric.Space, labels []string, opts Options) (*labeltree.Tree, error) {
	if source == Linkage {
		return labeltree.Linkage(space, labels)
	}
	ct, err := covertree.New(space, covertree.Options{Base: cmp.Or(opts.Base, DefaultBase), Seed: opts.Seed})
	if err != nil {
		return nil, err
	}
	if source == UTree {
		return labeltree.U(ct, labels)
	}
	return labeltree.V(ct, labels)
}

// orDefault returns the source of a metric that "" stands for.
func (s Source) orDefault(c Info) Source {
	switch {
	case s != "":
		return s
		// What a user brings for the purpose goes before what has other uses.
	case c.Distances != nil:
		return Distances
	case c.Weights != nil:
		return Weights
	case c.Vectors != nil:
		return Vectors
	}
	return Names
}

// Metric returns the distances between classes that a source knows: the angle
// between the n-grams of their names, their vectors or their class means, the
// edges on the way through a taxonomy, precomputed distances as they are, or the angle
// between the weights of another model, seen from their mean. "" means the first of
// Distances, Weights and Vectors that is there, else Names. Another source is an error
// that wraps ErrSpec, and knowledge that is not there one that wraps ErrMissing.
func Metric(source Source, c Info) (metric.Space, error) {
	from := source.orDefault(c)
	if err := c.need(from, "metric"); err != nil {
		return nil, err
	}
	switch from {
	case Vectors:
		return metric.Cosine(c.Vectors)
	case Names:
		e, err := feature.Names(c.Labels)
		if err != nil {
			return nil, err
		}
		return metric.Cosine(e)
	case Means:
		return metric.Cosine(ClassMeans(c.X, c.Class, len(c.Labels)))
	case Taxonomy:
		return labeltree.Distance(c.Taxonomy), nil
	case Distances:
		return c.Distances, nil
	case Weights:
		return weightDistances(c.Weights), nil
	}
	return nil, fmt.Errorf("%w: no metric from %q, want one of %s", ErrSpec, source, joinSources(Metrics()))
}

// unitRows returns the rows of m scaled to length 1; rows of zeros stay.
func unitRows(m *matrix.Dense) *matrix.Sparse {
	out := &matrix.Sparse{Columns: m.Columns}
	index, value := make([]int32, 0, m.Columns), make([]float32, 0, m.Columns)
	for i := range m.Rows() {
		index, value = index[:0], value[:0]
		norm := math.Sqrt(m.SquaredNorm(i))
		for j, v := range m.Row(i) {
			if v != 0 {
				index, value = append(index, int32(j)), append(value, float32(float64(v)/norm))
			}
		}
		out.AppendRow(index, value)
	}
	return out
}

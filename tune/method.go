package tune

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/softmax"
)

// Defaults of the losses that need class similarities.
const (
	simLossBound   = 0.5  // r of SimLoss, as in Kobs et al. 2020
	softLabelsBeta = 15.0 // between the 4 and 30 that Bertinetto et al. 2020 report
)

// DefaultHXEAlpha is what Method.Alpha = 0 stands for: the middle of the 0.1 to
// 0.5 within which Bertinetto et al. 2020 keep most of the accuracy. On clinc150
// (two levels, 10 rows a class, 3 seeds) accuracy was flat up to 0.6, while the
// severity of mistakes fell from 1.504 to 1.494.
const DefaultHXEAlpha = 0.3

// Method is a way to train, up to what tuning finds. The zero value is plain
// cross entropy.
type Method struct {
	Sharing   classinfo.Spec // nil: none
	Loss      Loss           // "" is CrossEntropy
	Smoothing float64        // label smoothing, CrossEntropy only
	Alpha     float64        // of HXE only: how much less a step down the tree counts; 0 means DefaultHXEAlpha
	Names     bool           // names of the classes are examples too
	Fourier   int            // random Fourier features behind numeric columns; 0: none
	ClassInfo classinfo.Options

	// Of texts with a sentence encoder: the length of its block of features, 0 for
	// feature.DefaultEncoderScale, less for none, and whether it is without n-grams.
	EncoderScale float64
	EncoderAlone bool
}

// inputs returns what the examples of m are.
func (m Method) inputs() corpus.Inputs {
	return corpus.Inputs{Names: m.Names, Fourier: m.Fourier, EncoderScale: m.EncoderScale, EncoderAlone: m.EncoderAlone}
}

// String returns the method's name as compare lists it.
func (m Method) String() string {
	name := m.Sharing.String()
	if name == "" || name == string(classinfo.None) {
		name = string(cmp.Or(m.Loss, CrossEntropy))
	} else if !m.Loss.plain() {
		name += "/" + string(m.Loss)
	}
	// Plain cross entropy on names, too, is called none+examples: nothing is shared.
	if m.Names {
		if name == Baseline {
			name = "none"
		}
		name += "+examples"
	}
	if m.Fourier > 0 {
		name += "+fourier"
	}
	switch {
	case m.EncoderAlone:
		name += ", encoder alone"
	case m.EncoderScale < 0:
		name += ", no encoder"
	}
	return name
}

// Output makes what softmax.Options, or a network, needs of a method: sharing and loss, or
// the hierarchy. It also returns the label tree in use, or nil.
func (m Method) Output(c classinfo.Info) (softmax.Options, *labeltree.Tree, error) {
	spec := m.Sharing
	if len(spec) == 0 {
		spec = classinfo.Spec{classinfo.None}
	}
	plain := slices.Equal(spec, classinfo.Spec{classinfo.None})
	var o softmax.Options
	if m.Smoothing != 0 && !m.Loss.plain() {
		return o, nil, fmt.Errorf("label smoothing goes with the loss %s only, not with %s", CrossEntropy, m.Loss)
	}
	// Losses that know the classes need class information of their own, whatever is shared.
	switch m.Loss {
	case SquaredHinge:
		if !plain {
			return o, nil, fmt.Errorf("loss %s trains each class by itself, it goes with the sharing none only, not with %s", SquaredHinge, spec)
		}
		return o, nil, nil
	case "", CrossEntropy, CrossEntropyHinge:
		o.Loss = loss.CrossEntropy{Smoothing: m.Smoothing}
	case SimLoss:
		similarity, err := Similarities(c)
		if err != nil {
			return o, nil, fmt.Errorf("loss %s: %w", SimLoss, err)
		}
		if o.Loss, err = loss.NewSimLoss(len(c.Labels), similarity, simLossBound); err != nil {
			return o, nil, err
		}
	case SoftLabels:
		space, err := bestMetric(c)
		if err != nil {
			return o, nil, fmt.Errorf("loss %s: %w", SoftLabels, err)
		}
		if o.Loss, err = loss.NewSoftLabels(space, softLabelsBeta); err != nil {
			return o, nil, err
		}
	case HXE:
		l, tree, err := m.HXE(c)
		if err != nil {
			return o, nil, err
		}
		o.Loss = l
		if !plain {
			o.Sharing, _, err = classinfo.Build(spec, c, m.ClassInfo)
		}
		return o, tree, err
	case HierarchicalSoftmax:
		return m.hierarchy(spec, c)
	default:
		return o, nil, fmt.Errorf("unknown loss %q, want one of %v", m.Loss, Losses())
	}
	// No sharing is a nil one: softmax has a shorter way then.
	if plain {
		return o, nil, nil
	}
	s, tree, err := classinfo.Build(spec, c, m.ClassInfo)
	o.Sharing = s
	return o, tree, err
}

// HXE makes the loss HXE beside the sharing of m, whatever the loss of m is, and
// returns its tree: the taxonomy if there is one, else the V-tree or linkage of
// the sharing, else the V-tree.
func (m Method) HXE(c classinfo.Info) (*loss.HXE, *labeltree.Tree, error) {
	source := classinfo.VTree
	switch {
	// A given tree goes before one that is built; a tree that is shared along serves the loss
	// as well.
	case c.Taxonomy != nil:
		source = classinfo.Taxonomy
	case slices.Contains(m.Sharing, classinfo.Linkage) && !slices.Contains(m.Sharing, classinfo.VTree):
		source = classinfo.Linkage
	}
	tree, err := classinfo.BuildTree(source, c, m.ClassInfo)
	if err != nil {
		return nil, nil, fmt.Errorf("loss %s: %w", HXE, err)
	}
	l, err := loss.NewHXE(tree, cmp.Or(m.Alpha, DefaultHXEAlpha))
	return l, tree, err
}

// hierarchy makes the output of hierarchical softmax. Its tree is the source
// of the specification; none means the taxonomy, or the V-tree without one.
func (m Method) hierarchy(spec classinfo.Spec, c classinfo.Info) (softmax.Options, *labeltree.Tree, error) {
	if len(spec) > 1 {
		return softmax.Options{}, nil, fmt.Errorf("loss %s takes one tree, not the sum %s", HierarchicalSoftmax, spec)
	}
	source := spec[0]
	// None has no tree to go along, so that it means the taxonomy, else a V-tree.
	if source == classinfo.None {
		source = classinfo.VTree
		if c.Taxonomy != nil {
			source = classinfo.Taxonomy
		}
	}
	tree, err := classinfo.BuildTree(source, c, m.ClassInfo)
	if err != nil {
		return softmax.Options{}, nil, fmt.Errorf("loss %s: %w", HierarchicalSoftmax, err)
	}
	h, err := loss.NewHierarchicalSoftmax(tree)
	return softmax.Options{Hierarchy: h}, tree, err
}

// bestMetric is the precomputed distances, else the taxonomy's, else what
// classinfo.Metric takes by default.
func bestMetric(c classinfo.Info) (metric.Space, error) {
	if c.Taxonomy != nil && c.Distances == nil {
		return classinfo.Metric(classinfo.Taxonomy, c)
	}
	return classinfo.Metric("", c)
}

// Similarities returns the cosine of the vectors of two classes if there are
// any, else that of the n-grams of their names.
func Similarities(c classinfo.Info) (func(a, b int) float64, error) {
	if c.Vectors != nil {
		if n := c.Vectors.Rows(); n != len(c.Labels) {
			return nil, fmt.Errorf("%d vectors for %d labels", n, len(c.Labels))
		}
		return func(a, b int) float64 { return matrix.Cosine(c.Vectors, a, b) }, nil
	}
	e, err := feature.Names(c.Labels)
	if err != nil {
		return nil, err
	}
	return func(a, b int) float64 { return matrix.Cosine(e, a, b) }, nil
}

// isPlain tells whether the method is cross entropy without class knowledge.
func (m Method) isPlain() bool {
	shared := len(m.Sharing) > 0 && m.Sharing[0] != classinfo.None
	return !shared && !m.Names && m.Fourier == 0 && m.Loss.plain()
}

package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/softmax"
)

// Plan is what a user asks for; what it leaves open is chosen on held-out rows. The zero
// value leaves all open.
type Plan struct {
	Sharing   classinfo.Spec // nil: open
	Loss      Loss           // "": cross entropy, or what is better with squared hinge
	Smoothing float64        // label smoothing, from 0 to below 1; with CrossEntropy only
	Alpha     float64        // of HXE; 0 means DefaultHXEAlpha
	Names     Choice         // names as examples
	Fourier   Choice         // random Fourier features of numeric columns
	ClassInfo classinfo.Options
}

// Check returns an *option.Error or *option.Misuse for options out of range, or that do
// not go together, whatever the data.
func (p Plan) Check() error {
	if err := cmp.Or(p.Sharing.Check(), p.Loss.check(), p.Names.check("Names"), p.Fourier.check("Fourier"), p.ClassInfo.Check(),
		option.Check("Smoothing", p.Smoothing, p.Smoothing >= 0 && p.Smoothing < 1, "a number from 0 to below 1"),
		option.Check("Alpha", p.Alpha, p.Alpha >= 0 && !math.IsInf(p.Alpha, 1), "a number above 0, such as 0.3")); err != nil {
		return err
	}
	// A hierarchical softmax needs one tree, which none leaves to the loss.
	trees := []classinfo.Source{classinfo.None, classinfo.Taxonomy, classinfo.UTree, classinfo.VTree, classinfo.Linkage}
	loss, _ := p.Loss.MarshalText()
	switch {
	case p.Smoothing > 0 && !p.Loss.plain():
		return option.Refuse("%s goes with the loss cross-entropy only, not with %s", "Smoothing", "Loss "+string(loss))
	case p.Alpha > 0 && p.Loss != HXE:
		return option.Refuse("%s goes with %s, not with %s", "Alpha", "Loss hxe", "Loss "+string(loss))
	case p.Loss == HierarchicalSoftmax && p.Sharing != nil && (len(p.Sharing) > 1 || !slices.Contains(trees, p.Sharing[0])):
		return option.Refuse("%s goes along one tree, and %s is not one; want taxonomy, u-tree, v-tree, linkage or auto", "Loss "+string(loss), "Sharing "+p.Sharing.String())
	}
	return nil
}

// among returns the methods of the plan: its sharing, without and with the names as
// examples, or, where that is open, the candidates. A loss other than cross entropy has
// class information of its own, so that it is alone then.
func (p Plan) among(d *corpus.Data, withNames bool, candidates func() []Method) ([]Method, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if p.Names == On && !d.Named() {
		return nil, errors.New("names as examples: the data holds numbers, a name is a text; use off or auto")
	}
	fourier := 0
	if p.Fourier == On {
		if d.Table.Kind() != dataset.Numbers {
			return nil, fmt.Errorf("the data holds %v, Fourier features are made of numeric columns; use off or auto", d.Table.Kind())
		}
		fourier = fourierFeatures(d)
	}
	list := []Method{{Sharing: p.Sharing}}
	switch {
	case p.Sharing == nil && p.Loss.plain():
		list = candidates()
	case p.Sharing != nil && withNames && d.Named():
		list = append(list, Method{Sharing: p.Sharing, Names: true})
	}
	var out []Method
	seen := map[string]bool{}
	for _, m := range list {
		if m.Names && p.Names == Off {
			continue
		}
		m.Names = m.Names || p.Names == On
		m.Fourier = fourier
		m.Loss, m.Smoothing, m.Alpha, m.ClassInfo = p.Loss, p.Smoothing, p.Alpha, p.ClassInfo
		if name := m.String(); !seen[name] {
			seen[name] = true
			out = append(out, m)
		}
	}
	return out, nil
}

// Methods returns the methods to choose among on the given rows: see Candidates for
// what is tried where the sharing is open. A sharing by names is tried with the names as
// examples, too.
func (p Plan) Methods(d *corpus.Data, rows []int) ([]Method, error) {
	return p.among(d, slices.Contains(p.Sharing, classinfo.Names), func() []Method { return Candidates(d, rows) })
}

// Fit trains the best of what the plan leaves open on rows, and the plan else.
//
// Every candidate is measured on the same held-out rows with the same priors; the
// one with the best accuracy is trained again on all rows. Plain cross entropy is
// always among those of an open plan, and another must be better by a standard error, so
// useless information costs little. On the examples of the best, squared hinge and the
// mean of it and cross entropy are then tried as losses.
//
// Rows are held out of the classes that have three or more. Where these have less
// than half of the rows, or are fewer than two, none is. Parameters are then shared with
// the defaults, and only if the rows support it by three standard errors: names if
// labelling the rows by the nearest name beats chance (NamesAgree); vectors, a taxonomy,
// precomputed distances, weights of another model and, where the data is numbers, names
// if classes that they call near have near rows (Agreement).
func (p Plan) Fit(ctx context.Context, d *corpus.Data, rows []int, opts Options) (*Result, error) {
	methods, err := p.Methods(d, rows)
	if err != nil {
		return nil, err
	}
	r, err := choose(ctx, d, rows, methods, p.variants(), opts)
	if r != nil && p.Sharing == nil && p.Loss.plain() && d.Stream == nil {
		r.WhyPlain = whyPlain(d, rows)
	}
	return r, err
}

// FitUnmeasured is Fit for when nobody asks how the fit did on held-out rows:
// with one method and one prior there is nothing to choose, and no row is held
// out.
func (p Plan) FitUnmeasured(ctx context.Context, d *corpus.Data, rows []int, opts Options) (*Result, error) {
	methods, err := p.Methods(d, rows)
	if err == nil && len(methods) == 1 && (len(opts.Priors) == 1 || IgnoresPrior(opts.Trainer)) {
		return Settings{methods[0], opts.onlyPrior(methods[0])}.Fit(ctx, d, rows, opts)
	}
	return p.Fit(ctx, d, rows, opts)
}

// Train is Fit, with a model made of the result. about holds what the caller knows:
// program, data fingerprint, options. The tree of the model is that of the method, else
// the taxonomy.
func (p Plan) Train(ctx context.Context, d *corpus.Data, rows []int, opts Options, about softmax.Training) (*softmax.Model, *Result, error) {
	r, err := p.Fit(ctx, d, rows, opts)
	// A cancelled fit may have a result beside its error.
	if r == nil {
		return nil, nil, err
	}
	about.Examples = len(rows)
	if d.Stream != nil {
		about.Examples = d.Stream.Rows()
	}
	about.Seed = opts.Seed
	m := r.Model(d.Classes.Labels, about)
	m.Vectors = d.Classes.Vectors
	m.Tree = r.tree(d)
	m.ClassTotals = d.ClassTotals(rows)
	return m, r, err
}

// variants returns what may be tried of the best method: squared hinge in place of
// cross entropy where the user named neither a loss nor something to share, and Fourier
// features.
func (p Plan) variants() variants {
	return variants{
		loss:    p.Loss == "" && (p.Sharing == nil || slices.Equal(p.Sharing, classinfo.Spec{classinfo.None})),
		fourier: p.Fourier == Auto,
		encoder: true,
	}
}

func trainerName(t softmax.Trainer) string {
	switch t.(type) {
	case softmax.SGD:
		return "sgd"
	case softmax.AdamW:
		return "adamw"
	}
	return "converge"
}

// Model makes a model of a result; about is completed with what the result
// knows.
func (r *Result) Model(labels []string, about softmax.Training) *softmax.Model {
	m := r.Method
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	about.Sharing = cmp.Or(m.Sharing.String(), string(classinfo.None))
	about.Loss = string(cmp.Or(m.Loss, CrossEntropy))
	if m.Smoothing != 0 {
		about.Loss += " with smoothing " + number(m.Smoothing)
	}
	if m.Loss == HXE {
		about.Loss += " with alpha " + number(cmp.Or(m.Alpha, DefaultHXEAlpha))
	}
	about.Names = m.Names
	about.Prior = r.Prior
	about.Trainer = trainerName(r.Trainer)
	about.Fit = r.Record
	about.Candidates = r.Candidates
	about.HeldOut = r.HeldOut
	if n := r.Features.MinRows(); n > 1 {
		about.MinRows = n
	}
	about.Choice, about.Gain, about.Unlabelled = r.Reason, r.Gain, r.Unlabelled
	return &softmax.Model{Layer: r.Layer, Features: r.Features, Labels: labels, Tree: r.Tree, Training: about}
}

package tune

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/treeloss/treeloss/knowledge"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
)

// Auto trains the best of plain cross entropy and the class knowledge at hand.
//
// Every candidate is measured on the same held-out rows with the same grid of
// priors; the one with the best accuracy is trained again on all rows. Plain
// cross entropy is always among them, so useless knowledge costs little.
//
// With fewer than three rows in a class nothing can be held out. Knowledge is
// then shared with the defaults, and only if the rows bear it out by three
// standard errors: names if labelling the rows by the nearest name beats chance
// (NamesAgree); vectors, a taxonomy and, where the data is numbers, names if
// classes that they call near have near rows (Agreement).
func Auto(ctx context.Context, d *Data, rows []int, opts Options) (*Result, error) {
	return AutoAmong(ctx, d, rows, d.Candidates(rows), opts)
}

// Rows a class, on average, that decide what is tried.
const (
	fewRows   = 60 // above, names were never seen to matter: only what was given is tried
	meansRows = 10 // below, class means are too noisy to share by
)

// Candidates returns the methods that Auto compares on these rows, plain cross
// entropy first, at most eight. Names come alone and, where the data is text,
// as examples; vectors and the taxonomy alone and in a sum with names, which
// brings the names as examples too; class means in a sum with names.
func (d *Data) Candidates(rows []int) []Method {
	methods := []Method{{}}
	add := func(examples bool, spec ...knowledge.Source) {
		methods = append(methods, Method{Sharing: spec, Names: examples && d.Named()})
	}
	k := len(d.Classes.Labels)
	vectors, taxonomy := d.Classes.Vectors != nil, d.Classes.Taxonomy != nil
	names := d.namesUsable() && len(rows) < fewRows*k
	if names {
		add(false, knowledge.Names)
		if d.Named() {
			if !vectors || !taxonomy {
				add(true)
			}
			add(true, knowledge.Names)
		}
	}
	if vectors {
		add(false, knowledge.Vectors)
		if names {
			add(true, knowledge.Names, knowledge.Vectors)
		}
	}
	if taxonomy {
		add(false, knowledge.Taxonomy)
		if names {
			add(true, knowledge.Names, knowledge.Taxonomy)
		}
	}
	if names && d.Named() && len(rows) >= meansRows*k {
		add(true, knowledge.Names, knowledge.Means)
	}
	return methods
}

// namesUsable tells whether the names of the classes can be shared at all.
func (d *Data) namesUsable() bool {
	_, _, err := knowledge.Build(knowledge.Spec{knowledge.Names}, knowledge.Classes{Labels: d.Classes.Labels}, knowledge.Options{})
	return err == nil && len(d.Classes.Labels) > 1
}

// AutoAmong is Auto over given methods, the first of which is what the others
// must beat.
func AutoAmong(ctx context.Context, d *Data, rows []int, methods []Method, opts Options) (*Result, error) {
	opts = opts.withDefaults()
	if len(methods) == 0 {
		return nil, errors.New("tune: no methods to choose from")
	}
	if train, _ := d.splits(rows, opts); train == nil {
		m, why, err := d.withoutHeldOut(rows, methods)
		if err != nil {
			return nil, err
		}
		r, err := Fit(ctx, d, rows, m, opts)
		if r != nil {
			r.Reason = why
		}
		return r, err
	}
	if len(methods) == 1 {
		return Fit(ctx, d, rows, methods[0], opts)
	}
	all := make([][]measured, len(methods))
	held, chosen := 0, 0
	for i, m := range methods {
		scores, n, err := d.measure(ctx, rows, m, opts)
		if err != nil {
			return nil, err
		}
		all[i], held = scores, n
		if all[i][best(all[i])].better(all[chosen][best(all[chosen])]) {
			chosen = i
		}
	}
	r, err := d.final(ctx, rows, methods[chosen], opts.Priors[best(all[chosen])], opts)
	if r != nil {
		r.HeldOut = held
		for i, m := range methods {
			r.Candidates = append(r.Candidates, candidates(m, opts.Priors, all[i])...)
		}
		r.Reason = fmt.Sprintf("best of %d on %d held-out rows", len(methods), held)
		if i := slices.IndexFunc(methods, Method.isPlain); i >= 0 {
			gain, err := score.PairedRows(all[chosen][best(all[chosen])].correct, all[i][best(all[i])].correct)
			if err != nil {
				return nil, err
			}
			r.Gain = &softmax.Gain{Difference: gain.Interval.Mean, DifferenceSE: gain.Interval.SE, Rows: held}
		}
	}
	return r, err
}

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
// Rows are held out of the classes that have three or more. Where these have less
// than half of the rows, or are fewer than two, none is. Knowledge is then shared with the defaults, and only if the rows bear it out by three
// standard errors: names if labelling the rows by the nearest name beats chance
// (NamesAgree); vectors, a taxonomy, ready distances, weights of another model
// and, where the data is numbers, names if classes that they call near have near
// rows (Agreement).
func Auto(ctx context.Context, d *Data, rows []int, opts Options) (*Result, error) {
	return AutoAmong(ctx, d, rows, d.Candidates(rows), opts)
}

// Rows a class, on average, that decide what is tried.
const (
	fewRows   = 60 // above, names were never seen to matter: only what was given is tried
	meansRows = 10 // below, class means are too noisy to share by
)

// maxCandidates is the most methods that Auto compares.
const maxCandidates = 8

// Candidates returns the methods that Auto compares on these rows: of this list
// what the data has and allows, the first eight.
//
//  1. plain cross entropy
//  2. what was given, alone: vectors, the taxonomy, ready distances, weights
//  3. names with the names as examples too
//  4. what was given in a sum with names, and examples
//  5. what was given, with examples
//  6. names alone
//  7. examples alone
//  8. class means in a sum with names, and examples, from ten rows a class
//
// Names as examples need texts; data of numbers leaves them out. With many rows a
// class names are not tried, neither shared nor as examples.
func (d *Data) Candidates(rows []int) []Method {
	methods := []Method{{}}
	seen := map[string]bool{CrossEntropy: true}
	add := func(examples bool, spec ...knowledge.Source) {
		m := Method{Sharing: spec, Names: examples && d.Named()}
		if name := m.String(); !seen[name] && len(methods) < maxCandidates {
			seen[name] = true
			methods = append(methods, m)
		}
	}
	given := d.Given()
	for _, source := range given {
		add(false, source)
	}
	k := len(d.Classes.Labels)
	if !d.namesUsable() || len(rows) >= fewRows*k {
		return methods
	}
	add(true, knowledge.Names)
	for _, source := range given {
		add(true, knowledge.Names, source)
	}
	for _, source := range given {
		add(true, source)
	}
	add(false, knowledge.Names)
	add(true)
	if d.Named() && len(rows) >= meansRows*k {
		add(true, knowledge.Names, knowledge.Means)
	}
	return methods
}

// Given returns the sources that were brought with the data: those of vectors,
// taxonomy, distances and weights that are there.
func (d *Data) Given() []knowledge.Source {
	c := d.Classes
	var out []knowledge.Source
	for _, s := range []struct {
		source knowledge.Source
		there  bool
	}{{knowledge.Vectors, c.Vectors != nil}, {knowledge.Taxonomy, c.Taxonomy != nil}, {knowledge.Distances, c.Distances != nil}, {knowledge.Weights, c.Weights != nil}} {
		if s.there {
			out = append(out, s.source)
		}
	}
	return out
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

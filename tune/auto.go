package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/treeloss/treeloss/knowledge"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
)

// Auto trains the best of plain cross entropy and the class knowledge at hand.
//
// Every candidate is measured on the same held-out rows with the same grid of
// priors; the one with the best accuracy is trained again on all rows. Plain
// cross entropy is always among them, so useless names cost little. With fewer
// than three rows in a class nothing can be held out: names are then shared
// with the defaults, and used at all only if labelling the rows by the nearest
// name beats chance by three standard errors.
func Auto(ctx context.Context, d *Data, rows []int, opts Options) (*Result, error) {
	return AutoAmong(ctx, d, rows, d.Candidates(rows), opts)
}

// fewRows is the number of rows a class, on average, above which names were
// never seen to matter and only the given knowledge is tried.
const fewRows = 60

// Candidates returns the methods that Auto compares on these rows, plain cross
// entropy first.
func (d *Data) Candidates(rows []int) []Method {
	methods := []Method{{}}
	few := len(rows) < fewRows*len(d.Classes.Labels)
	if d.namesUsable() && few {
		names := knowledge.Spec{knowledge.Names}
		methods = append(methods, Method{Sharing: names})
		if d.Named() {
			methods = append(methods, Method{Names: true}, Method{Sharing: names, Names: true})
		}
	}
	if d.Classes.Taxonomy != nil {
		methods = append(methods, Method{Sharing: knowledge.Spec{knowledge.Taxonomy}})
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

// withoutHeldOut chooses when no row can be spared: the most knowledge among
// the methods, with names only if they pass NamesAgree.
func (d *Data) withoutHeldOut(rows []int, methods []Method) (Method, string, error) {
	plain := func(m Method) bool { return !m.Names && !slices.Contains(m.Sharing, knowledge.Names) }
	rest := slices.DeleteFunc(slices.Clone(methods), func(m Method) bool { return !plain(m) })
	if len(rest) == len(methods) { // no names among them
		return rest[len(rest)-1], "too few rows to hold any out", nil
	}
	agree, chance, se, err := d.NamesAgree(rows)
	if err != nil {
		return Method{}, "", err
	}
	why := fmt.Sprintf("too few rows to hold any out; the nearest name is right for %.1f %% of the rows, chance is %.1f +- %.1f", 100*agree, 100*chance, 100*se)
	if agree > chance+3*se {
		most := methods[0]
		for _, m := range methods {
			if len(m.Sharing) > 0 && (m.Names || !most.Names) {
				most = m
			}
		}
		return most, why + ": names are used", nil
	}
	if len(rest) == 0 {
		return methods[0], why, nil
	}
	return rest[len(rest)-1], why + ": names are not used", nil
}

// NamesAgree tells how often the class name nearest to a row, by the cosine of
// their features, is the row's own, beside chance and its standard error.
// Without texts, or without any feature in common, the answer is chance.
func (d *Data) NamesAgree(rows []int) (agree, chance, se float64, err error) {
	k := len(d.Classes.Labels)
	chance = 1 / float64(k)
	se = math.Sqrt(chance * (1 - chance) / float64(len(rows)))
	if !d.Named() {
		return chance, chance, se, nil
	}
	f, err := d.fit(rows, true)
	if err != nil {
		return 0, 0, 0, err
	}
	x := f.x.(*matrix.Sparse)
	names := f.lastRows(k).Transpose()
	similar := make([]float64, k)
	right := 0.0
	for n, row := range rows {
		clear(similar)
		index, value := x.Row(n)
		for i, j := range index {
			classes, v := names.Row(int(j))
			for m, c := range classes {
				similar[c] += float64(value[i]) * float64(v[m])
			}
		}
		top, ties := slices.Max(similar), 0.0
		for _, s := range similar {
			if s == top {
				ties++
			}
		}
		if similar[d.Class[row]] == top {
			right += 1 / ties
		}
	}
	return right / float64(len(rows)), chance, se, nil
}

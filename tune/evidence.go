package tune

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/matrix"
)

// enoughErrors is the number of standard errors above chance at which the rows
// bear out a source of knowledge.
const enoughErrors = 3

// withoutHeldOut chooses when no row can be spared: the method with the most
// knowledge of those whose sources the rows bear out, else the first. A single
// method is what the user asked for and needs no proof.
func withoutHeldOut(d *corpus.Data, rows []int, methods []Method) (Method, string, error) {
	why := []string{"too few rows to hold any out"}
	if len(methods) == 1 {
		return methods[0], why[0], nil
	}
	proven := make(map[classinfo.Source]bool)
	for _, source := range sourcesOf(methods[1:]) {
		ok, say, err := evidence(d, rows, source)
		if err != nil {
			return Method{}, "", err
		}
		proven[source] = ok
		why = append(why, say)
	}
	// A sharing counts more than names as examples; of equals the last one, as candidates with
	// more sources stand later.
	chosen, most := methods[0], -1
	for _, m := range methods {
		need := needs(m)
		if slices.ContainsFunc(need, func(s classinfo.Source) bool { return !proven[s] }) {
			continue
		}
		know := 2 * len(m.Sharing)
		if m.Names {
			know++
		}
		if know >= most {
			chosen, most = m, know
		}
	}
	return chosen, strings.Join(why, "; "), nil
}

// needs returns the sources that a method believes.
func needs(m Method) []classinfo.Source {
	out := slices.DeleteFunc(slices.Clone(m.Sharing), func(s classinfo.Source) bool { return s == classinfo.None })
	if m.Names && !slices.Contains(out, classinfo.Names) {
		out = append(out, classinfo.Names)
	}
	return out
}

// sourcesOf returns the sources that methods believe, each once.
func sourcesOf(methods []Method) []classinfo.Source {
	var out []classinfo.Source
	for _, m := range methods {
		for _, s := range needs(m) {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// evidence tells whether the rows bear a source out, and how, in words. Trees
// and means have none: they are used only if the user names them.
func evidence(d *corpus.Data, rows []int, source classinfo.Source) (ok bool, why string, err error) {
	used := func(ok bool) string {
		if ok {
			return "used"
		}
		return "not used"
	}
	switch {
	case source == classinfo.Names && d.Named():
		agree, chance, se, err := NamesAgree(d, rows)
		// The error of the rate itself, where it is the larger one. Chance's own
		// is too small for a rule: of 77 rows with 77 classes four are right once
		// in 50 draws, three errors above the mean, and useless names as examples
		// cost 15 points.
		se = max(se, math.Sqrt(agree*(1-agree)/float64(len(rows))))
		ok = agree > chance+enoughErrors*se
		return ok, fmt.Sprintf("the nearest name is right for %.1f %% of the rows, chance is %.1f ± %.1f: names are %s", 100*agree, 100*chance, 100*se, used(ok)), err
	case source != classinfo.Means && slices.Contains(classinfo.Metrics(), source):
		z, err := Agreement(d, rows, source)
		ok = z > enoughErrors
		return ok, fmt.Sprintf("classes near by %s have near rows by %.1f standard errors: %s", source, z, used(ok)), err
	}
	return false, fmt.Sprintf("%s: not used", source), nil
}

// maxAgreement is the most classes that Agreement compares pair by pair.
const maxAgreement = 1000

// Agreement tells by how many standard errors classes that a source calls near
// have nearer rows than if the source's classes were shuffled: Mantel's test of
// the cosines of the class means against the source's distances, with its exact
// mean and variance over all shufflings (Mantel 1967). Around 0 the source
// tells nothing about these rows. Of more than 1000 classes 1000 are compared.
// Fewer than four classes with rows, or distances that are all the same, give 0.
func Agreement(d *corpus.Data, rows []int, source classinfo.Source) (z float64, err error) {
	space, err := classinfo.Metric(source, d.Classes)
	if err != nil {
		return 0, err
	}
	f, err := d.Fit(d.Labelled(rows), corpus.Inputs{})
	if err != nil {
		return 0, err
	}
	k := len(d.Classes.Labels)
	seen := make([]bool, k)
	for _, c := range f.Class {
		seen[c] = true
	}
	present := slices.DeleteFunc(dataset.Range(0, k), func(c int) bool { return !seen[c] })
	if n := len(present); n > maxAgreement {
		for i := range maxAgreement {
			present[i] = present[i*n/maxAgreement]
		}
		present = present[:maxAgreement]
	}
	// Cosines, since the mean of few rows is longer than that of many.
	means := classinfo.ClassMeans(f.X, f.Class, k)
	near, similar := newPairs(len(present)), newPairs(len(present))
	for i, a := range present {
		for j, b := range present[:i] {
			near.set(i, j, -space.Distance(a, b))
			similar.set(i, j, matrix.Cosine(means, a, b))
		}
	}
	return mantel(near, similar), nil
}

// pairs is a symmetric n x n matrix with zeros on the diagonal.
type pairs struct {
	n int
	x []float64
}

func newPairs(n int) pairs { return pairs{n, make([]float64, n*n)} }

func (p pairs) set(i, j int, x float64) { p.x[i*p.n+j], p.x[j*p.n+i] = x, x }

// centre takes the mean off all but the diagonal, which moves no z but keeps
// the digits of the sums.
func (p pairs) centre() {
	var sum float64
	for _, x := range p.x {
		sum += x
	}
	mean := sum / float64(p.n*(p.n-1))
	for i := range p.n {
		for j := range p.n {
			if i != j {
				p.x[i*p.n+j] -= mean
			}
		}
	}
}

// sums returns the sums of all entries, their squares, and the squares of the
// row sums.
func (p pairs) sums() (all, squares, rows float64) {
	for i := range p.n {
		var row float64
		for _, x := range p.x[i*p.n : (i+1)*p.n] {
			row += x
			squares += x * x
		}
		all += row
		rows += row * row
	}
	return all, squares, rows
}

// mantel returns (G - mean) / standard deviation of G = sum_ij a_ij b_ij, over
// all n! orders of the classes of b. It changes a and b by a constant.
func mantel(a, b pairs) float64 {
	if a.n < 4 {
		return 0
	}
	a.centre()
	b.centre()
	var g float64
	for i := range a.x {
		g += a.x[i] * b.x[i]
	}
	// E[G] = Σ a Σ b / (n (n-1)), as each pair of classes falls on each with the same
	// probability. E[G²] adds up products of two pairs by how many classes they share.
	n := float64(a.n)
	a1, a2, a3 := a.sums()
	b1, b2, b3 := b.sums()
	mean := a1 * b1 / (n * (n - 1))
	// Two pairs are the same, share one class, or none.
	second := 2*a2*b2/(n*(n-1)) + 4*(a3-a2)*(b3-b2)/(n*(n-1)*(n-2)) +
		(a1*a1+2*a2-4*a3)*(b1*b1+2*b2-4*b3)/(n*(n-1)*(n-2)*(n-3))
	variance := second - mean*mean
	// What rounding leaves is far below this share of the squares.
	if !(variance > 1e-12*a2*b2/(n*n)) { // one of them is the same for all pairs
		return 0
	}
	return (g - mean) / math.Sqrt(variance)
}

// NamesAgree tells how often the class name nearest to a row, by the cosine of
// their features, is the row's own, beside chance and its standard error.
// Without texts, or without any feature in common, the answer is chance.
func NamesAgree(d *corpus.Data, rows []int) (agree, chance, se float64, err error) {
	rows = d.Labelled(rows)
	k := len(d.Classes.Labels)
	chance = 1 / float64(k)
	se = math.Sqrt(chance * (1 - chance) / float64(len(rows)))
	if !d.Named() {
		return chance, chance, se, nil
	}
	f, err := d.Fit(rows, corpus.Inputs{Names: true})
	if err != nil {
		return 0, 0, 0, err
	}
	x := f.X.(*matrix.Sparse)
	// The names are the last k of the fitted rows; by column, each n-gram lists the names that
	// have it.
	names := x.Select(dataset.Range(len(rows), len(rows)+k)).(*matrix.Sparse).Transpose()
	similar := make([]float64, k)
	right := 0.0
	for n, row := range rows {
		clear(similar)
		index, value := x.Row(n)
		names.AddRows(similar, index, value)
		// A tie counts for its share: a row without a word of any name is right by chance.
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

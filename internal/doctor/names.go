package doctor

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/tune"
)

// Names says what the names of the classes tell.
type Names struct {
	// Wordless is the number of names without a single letter: numbers, emoji.
	Wordless int `json:"wordless"`
	// Agreement is how often the class name nearest to a row is the row's own. It
	// is nil where that cannot be asked, as the rows are no texts.
	Agreement *Agreement `json:"agreement"`
	// Similar is the number of pairs of names that are nearly the same. It is nil with
	// more than 10,000 classes, where nobody looks for them.
	Similar         *int   `json:"similar_pairs"`
	SimilarExamples []Pair `json:"similar_examples"` // up to 5 of them, the most similar first
}

// Agreement is corpus.Data.NamesAgree.
type Agreement struct {
	Rate   float64 `json:"rate"`
	Chance float64 `json:"chance"`
	SE     float64 `json:"chance_se"` // of Rate where it is chance
	Rows   int     `json:"rows"`      // that were asked
	Errors float64 `json:"errors"`    // standard errors that Rate is above chance
}

// AgreesBy is the number of standard errors above chance from which names say
// something, the same as in tune.Candidates.
const AgreesBy = 3

// agreesTimes is how many times chance the names must be right for it to
// matter: with very many rows a standard error is next to nothing.
const agreesTimes = 2

// Say tells whether names say something about the rows.
func (a *Agreement) Say() bool {
	return a != nil && a.Errors > AgreesBy && a.Rate >= agreesTimes*a.Chance
}

// Pair is two classes with similar names.
type Pair struct {
	A      string  `json:"a"`
	B      string  `json:"b"`
	Cosine float64 `json:"cosine"` // of the n-grams of the names
}

// Limits of what is looked at.
const (
	similarCosine     = 0.8   // names from here on are nearly the same
	maxSimilarClasses = 10000 // every pair with a common n-gram is looked at
	maxAgreementRows  = 10000 // enough for a standard error of half a point
)

// namesOf looks at the names alone, and asks a sample of the rows for the name nearest to each.
func namesOf(d *corpus.Data, rows []int, seed uint64) (Names, error) {
	labels := d.Classes.Labels
	out := Names{SimilarExamples: []Pair{}}
	for _, name := range labels {
		if !strings.ContainsFunc(name, unicode.IsLetter) {
			out.Wordless++
		}
	}
	if len(labels) <= maxSimilarClasses {
		n, pairs := similar(labels)
		out.Similar, out.SimilarExamples = &n, pairs
	}
	if !d.Named() {
		return out, nil
	}
	asked := dataset.At(rows, sample(len(rows), maxAgreementRows, seed, agreementStream))
	rate, chance, se, err := tune.NamesAgree(d, asked)
	if err != nil {
		return out, err
	}
	out.Agreement = &Agreement{Rate: rate, Chance: chance, SE: se, Rows: len(asked), Errors: (rate - chance) / se}
	return out, nil
}

// similar returns how many pairs of names are nearly the same, and the first
// few. It takes the sum over n-grams of the squared number of names with it.
func similar(labels []string) (int, []Pair) {
	pairs := []Pair{}
	e, err := feature.Names(labels)
	if err != nil { // all names blank: none says anything
		return 0, pairs
	}
	with := e.Transpose()
	cosine := make([]float64, len(labels))
	for a := range labels {
		clear(cosine)
		index, value := e.Row(a)
		with.AddRows(cosine, index, value)
		for b := a + 1; b < len(labels); b++ {
			if cosine[b] >= similarCosine {
				pairs = append(pairs, Pair{labels[a], labels[b], min(cosine[b], 1)})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b Pair) int { return cmp.Compare(b.Cosine, a.Cosine) })
	return len(pairs), pairs[:min(maxExamples, len(pairs))]
}

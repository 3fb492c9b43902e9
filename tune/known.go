package tune

import (
	"context"
	"fmt"
	"slices"

	"github.com/treeloss/treeloss/knowledge"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/wordvec"
)

// Known names the files that know something about the classes. The zero value
// knows their names only.
type Known struct {
	Taxonomy string          // tree file or taxonomy, see ReadTaxonomy; "": none
	Vectors  string          // word vectors, see package wordvec; "": none, "-": standard input
	Unknown  wordvec.Unknown // what becomes of class names without a vector
}

// Classes returns what the files know about classes with these labels, and how
// the vectors of the names were found, nil without vectors. With
// wordvec.UnknownDrop the classes without a vector are left out: the Labels of
// the result are then fewer. ctx ends the reading of a large file.
func (k Known) Classes(ctx context.Context, labels []string) (knowledge.Classes, *wordvec.LabelVectors, error) {
	classes := knowledge.Classes{Labels: labels}
	var found *wordvec.LabelVectors
	if k.Vectors != "" {
		vectors, err := wordvec.Open(ctx, k.Vectors, wordvec.Options{Names: labels})
		if err != nil {
			return classes, nil, err
		}
		if found, err = vectors.Names(labels, k.Unknown); err != nil {
			return classes, nil, err
		}
		kept := slices.DeleteFunc(All(0, len(labels)), func(c int) bool { return found.Names[c].Fate == wordvec.Dropped })
		if len(found.Present()) == 0 {
			return classes, nil, fmt.Errorf("%s: none of the %d class names has a vector; are they words of the file's language?", k.Vectors, len(labels))
		}
		classes.Vectors = found.Vectors.Select(kept).(*matrix.Dense)
		classes.Labels = make([]string, len(kept))
		for n, c := range kept {
			classes.Labels[n] = labels[c]
		}
	}
	if k.Taxonomy != "" {
		var err error
		if classes.Taxonomy, err = ReadTaxonomy(k.Taxonomy, classes.Labels); err != nil {
			return classes, nil, err
		}
	}
	return classes, found, nil
}

// Dropped returns the labels of the classes that were left out for want of a
// vector.
func Dropped(found *wordvec.LabelVectors) []string {
	var out []string
	if found != nil {
		for _, n := range found.Names {
			if n.Fate == wordvec.Dropped {
				out = append(out, n.Label)
			}
		}
	}
	return out
}

package corpus

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/input"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/wordvec"
)

// ClassFiles names the files with information about the classes. The zero value
// has their names only.
type ClassFiles struct {
	Taxonomy  string          // tree file or taxonomy, see ReadTaxonomy; "": none
	Vectors   string          // word vectors, see package wordvec; "": none, "-": standard input
	Unknown   wordvec.Unknown // what becomes of class names without a vector
	KeepFirst bool            // of two vectors of one word take the first; else that is an error
	Distances string          // list of precomputed distances, see metric.ReadDistances; "": none, "-": standard input
	Encoder   string          // sentence encoder, which has vectors of the names where Vectors has none; "": none
	Weights   string          // model file whose weights tell which classes are similar; "": none
	Stdin     io.Reader       // what "-" reads; nil: that of the process
}

// File returns the option that names the file of a source, and the file; "" for a source
// that needs none.
func (k ClassFiles) File(s classinfo.Source) (name, path string) {
	switch s {
	case classinfo.Vectors:
		return "Vectors", k.Vectors
	case classinfo.Taxonomy:
		return "Taxonomy", k.Taxonomy
	case classinfo.Distances:
		return "Distances", k.Distances
	case classinfo.Weights:
		return "Weights", k.Weights
	}
	return "", ""
}

// Check returns an *option.Misuse for files that do not go together, and for an Unknown
// without vectors.
func (k ClassFiles) Check() error {
	if k.Vectors == "" && k.Unknown != wordvec.UnknownError {
		return option.Refuse("%s says what to do with names that have no vector: give vectors with %s", "Unknown "+k.Unknown.String(), "Vectors FILE")
	}
	if k.Vectors == "-" && k.Distances == "-" {
		return option.Refuse("%s and %s cannot both be the standard input; name a file for one of them", "Vectors", "Distances")
	}
	return nil
}

// CheckSources returns an *option.Misuse if one of some sources needs a file that is not
// named; what is the option that asks for them, with its value.
func (k ClassFiles) CheckSources(what string, sources ...classinfo.Source) error {
	for _, s := range sources {
		name, path := k.File(s)
		if name == "" || path != "" || s == classinfo.Vectors && k.Encoder != "" {
			continue
		}
		kind := " FILE"
		if s == classinfo.Weights {
			kind = " MODEL"
		}
		return option.Refuse("%s needs a file: name it with %s", what, name+kind)
	}
	return nil
}

// stdinName is how messages call the standard input.
const stdinName = "standard input"

func (k ClassFiles) stdin() io.Reader {
	if k.Stdin == nil {
		return os.Stdin
	}
	return k.Stdin
}

// vectors reads the vectors of class names.
func (k ClassFiles) vectors(ctx context.Context, labels []string) (*wordvec.Vectors, error) {
	opts := wordvec.Options{Names: labels, KeepFirst: k.KeepFirst}
	if k.Vectors == "-" {
		return wordvec.Read(ctx, k.stdin(), stdinName, opts)
	}
	return wordvec.Open(ctx, k.Vectors, opts)
}

// Read returns what the files say about classes with these labels, and how
// the vectors of the names were found, nil without vectors. With
// wordvec.UnknownDrop the classes without a vector are left out: the Labels of
// the result are then fewer. ctx ends the reading of a large file.
func (k ClassFiles) Read(ctx context.Context, labels []string) (classinfo.Info, *wordvec.LabelVectors, error) {
	classes := classinfo.Info{Labels: labels}
	var found *wordvec.LabelVectors
	if k.Vectors != "" {
		vectors, err := k.vectors(ctx, labels)
		if err != nil {
			return classes, nil, err
		}
		if found, err = vectors.Names(labels, k.Unknown); err != nil {
			return classes, nil, err
		}
		// What follows is about the classes that are left: a taxonomy may know more than these.
		kept := slices.DeleteFunc(dataset.Range(0, len(labels)), func(c int) bool { return found.Names[c].Fate == wordvec.Dropped })
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
	if k.Distances != "" {
		var err error
		if classes.Distances, err = k.distances(classes.Labels); err != nil {
			return classes, nil, err
		}
	}
	if k.Weights != "" {
		var err error
		if classes.Weights, err = readWeights(k.Weights, classes.Labels); err != nil {
			return classes, nil, err
		}
	}
	return classes, found, nil
}

// distances reads the list of precomputed distances between labels.
func (k ClassFiles) distances(labels []string) (metric.Space, error) {
	if k.Distances == "-" {
		return metric.ReadDistances(k.stdin(), stdinName, labels)
	}
	f, err := os.Open(k.Distances)
	if err != nil {
		return nil, input.Missing(k.Distances, err)
	}
	defer f.Close()
	return metric.ReadDistances(f, k.Distances, labels)
}

// readWeights returns the inner products of the weights that a model file has
// for labels. Further labels of the model do not matter, nor do its features.
func readWeights(path string, labels []string) (*mat.SymDense, error) {
	m, err := softmax.Load(path)
	switch {
	case err != nil:
		return nil, err
		// W has a column for each output, which for a hierarchical softmax is a node.
	case m.Layer.Hierarchy != nil:
		return nil, fmt.Errorf("%s: the weights of a hierarchical softmax belong to the nodes of its tree, not to classes; give a model trained with another Options.Loss", path)
	case len(labels) > classinfo.MaxGram:
		return nil, fmt.Errorf("%s: weights as knowledge of %d classes, want at most %d; use names or a taxonomy", path, len(labels), classinfo.MaxGram)
	}
	// The labels of the model may be more, and in another order.
	number := make(map[string]int, len(m.Labels))
	for c, label := range m.Labels {
		number[label] = c
	}
	pick := make([]int, 0, len(labels))
	var missing []string
	for _, label := range labels {
		c, known := number[label]
		if !known {
			missing = append(missing, strconv.Quote(label))
			continue
		}
		pick = append(pick, c)
	}
	if n := len(missing); n > 0 {
		const most = 5
		return nil, fmt.Errorf("%s: the model has no weights for %d of the %d classes: %s; give a model trained on all of them",
			path, n, len(labels), input.Some(missing, most, n))
	}
	return classinfo.WeightGram(m.Layer.Dense(), len(m.Labels), pick), nil
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

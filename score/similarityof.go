package score

import (
	"slices"
	"strings"
	"unicode"

	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/matrix"
)

// What similarity accuracy is measured by, as results name it.
const (
	LabelVectors = "label vectors"
	NameNgrams   = "name n-grams"
)

// SimilarityOf returns the similarity of classes for similarity accuracy and what it
// is by: their vectors if there are any, else the n-grams of their names. It is nil,
// by "", if no name has a letter: numbers and emojis that look alike do not mean
// alike things, and n-grams would say only whether an answer is right.
func SimilarityOf(labels []string, vectors *matrix.Dense) (s *Similarity, by string, err error) {
	if vectors != nil {
		s, err = NewSimilarity(vectors)
		return s, LabelVectors, err
	}
	if !slices.ContainsFunc(labels, func(name string) bool { return strings.ContainsFunc(name, unicode.IsLetter) }) {
		return nil, "", nil
	}
	names, err := feature.Names(labels)
	if err != nil {
		return nil, "", err
	}
	s, err = NewSimilarity(names)
	return s, NameNgrams, err
}

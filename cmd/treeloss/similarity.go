package main

import (
	"slices"
	"strings"
	"unicode"

	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/score"
)

// What similarity accuracy is measured by, as results name it.
const (
	labelVectors = "label vectors"
	nameNgrams   = "name n-grams"
)

// similarityOf returns the similarity of classes for similarity accuracy and
// what it is by: their vectors if there are any, else the n-grams of their
// names. It is nil, by "", if no name has a letter: numbers and emojis that look
// alike do not mean alike things, and n-grams would say only whether an answer is
// right.
func similarityOf(labels []string, vectors *matrix.Dense) (s *score.Similarity, by string, err error) {
	if vectors != nil {
		s, err = score.NewSimilarity(vectors)
		return s, labelVectors, err
	}
	if !slices.ContainsFunc(labels, func(name string) bool { return strings.ContainsFunc(name, unicode.IsLetter) }) {
		return nil, "", nil
	}
	names, err := feature.Names(labels)
	if err != nil {
		return nil, "", err
	}
	s, err = score.NewSimilarity(names)
	return s, nameNgrams, err
}

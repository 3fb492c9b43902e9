package main

import (
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
// names. It is nil, by "", if the names have no letters to compare.
func similarityOf(labels []string, vectors *matrix.Dense) (s *score.Similarity, by string, err error) {
	if vectors != nil {
		s, err = score.NewSimilarity(vectors)
		return s, labelVectors, err
	}
	names, err := feature.Names(labels)
	if err != nil {
		return nil, "", nil
	}
	s, err = score.NewSimilarity(names)
	return s, nameNgrams, err
}

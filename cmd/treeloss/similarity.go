package main

import (
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/score"
)

// similarityOf returns the similarity of class names by their n-grams, nil if
// the names have no letters to compare.
func similarityOf(labels []string) (*score.Similarity, error) {
	vectors, err := feature.Names(labels)
	if err != nil {
		return nil, nil
	}
	return score.NewSimilarity(vectors)
}

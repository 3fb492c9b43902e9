package wordvec_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/treeloss/treeloss/wordvec"
)

// Class names go in before the file is read, so that nothing else is kept.
func ExampleVectors_Names() {
	file := `4 3
cat 1 0 0
truck 0 0 4
pickup 0 0 2
the 1 1 1
`
	labels := []string{"Cat", "pickup_truck", "okapi"}
	v, err := wordvec.Read(context.Background(), strings.NewReader(file), "tiny.vec", wordvec.Options{Names: labels})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.Info())

	_, err = v.Names(labels, wordvec.UnknownError)
	fmt.Println(err)

	l, err := v.Names(labels, wordvec.UnknownRoot)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(l)
	for i, n := range l.Names {
		fmt.Println(n, l.Vectors.Row(i))
	}
	// Output:
	// tiny.vec: word2vec text, 4 words x 3, 3 kept
	// tiny.vec: 1 of 3 class names have words without a vector (no vector): "okapi" (okapi); rename them, use other vectors, or choose for unknown words: average, subword (fastText .bin), drop or root
	// 3 class names, vectors of 3 numbers from tiny.vec; unknown words: root
	//   one vector: 1, mean of their words: 1, without a vector: 1
	//   okapi: okapi unknown (root)
	// Cat: Cat as "cat" [1 0 0]
	// pickup_truck: pickup, truck [0 0 3]
	// okapi: okapi unknown (root) [0 0 0]
}

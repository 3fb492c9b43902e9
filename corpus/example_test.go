package corpus_test

import (
	"context"
	"fmt"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
)

// Examples of two classes, and one of a class that is not trained.
func Example() {
	c := corpus.New(dataset.Text, nil)
	for _, e := range []dataset.Example{
		{Text: "where is my card", Label: "card", Weight: 1}, {Text: "my card is lost", Label: "card", Weight: 1}, {Text: "a new card", Label: "card", Weight: 1},
		{Text: "a fee again", Label: "fee", Weight: 1}, {Text: "why this fee", Label: "fee", Weight: 1}, {Text: "what a fee", Label: "fee", Weight: 1},
		{Text: "good morning", Label: "greeting", Weight: 1},
	} {
		if err := c.Add(e); err != nil {
			fmt.Println(err)
			return
		}
	}
	train := c.Rows()[:6]
	data, err := c.Data(context.Background(), train, corpus.ClassFiles{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(data.Classes.Labels, data.Class)
	outside, held := data.HoldOut(train, nil, 1)
	fmt.Println(len(held), "parts; the first:", len(outside[0]), "rows to train on,", len(held[0]), "held out")
	// Output:
	// [card fee] [0 0 0 1 1 1 -1]
	// 5 parts; the first: 4 rows to train on, 2 held out
}

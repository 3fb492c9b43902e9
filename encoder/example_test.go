package encoder_test

import (
	"fmt"
	"os"

	"github.com/treeloss/treeloss/encoder"
	"github.com/treeloss/treeloss/matrix"
)

// An encoder of three words is written as a folder that model2vec reads, and read again.
func Example() {
	tokenizer := []byte(`{"normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"},
		"model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "lost": 1, "card": 2, "purse": 3}}}`)
	rows := &matrix.Dense{Columns: 2, Data: []float32{0, 0, 1, 0, 0, 1, 0.5, 2}}
	e, err := encoder.New(tokenizer, rows, nil, true)
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "encoder")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := e.Write(dir); err != nil {
		fmt.Println(err)
		return
	}
	if e, err = encoder.Open(dir); err != nil {
		fmt.Println(err)
		return
	}
	vector := make([]float32, e.Dim())
	tokens := e.Encode("Lost my card!", vector)
	near, err := e.Nearest("purse", 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d tokens: %.3f\n", tokens, vector)
	fmt.Printf("%s %.2f, %s %.2f\n", near[0].Token, near[0].Cosine, near[1].Token, near[1].Cosine)
	// Output:
	// 2 tokens: [0.707 0.707]
	// purse 1.00, card 0.97
}

package treeloss_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/treeloss/treeloss"
)

func Example() {
	examples := []treeloss.Example{
		{Text: "where is my card?", Label: "card_arrival"},
		{Text: "my new card has not come yet", Label: "card_arrival"},
		{Text: "I was charged twice", Label: "extra_charge"},
		{Text: "there is a fee that I do not know", Label: "extra_charge"},
	}
	model, err := treeloss.Fit(context.Background(), examples, treeloss.Options{})
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(os.TempDir(), "intents.safetensors")
	defer os.Remove(path)
	if err := model.Save(path); err != nil {
		log.Fatal(err)
	}
	if model, err = treeloss.Load(path); err != nil {
		log.Fatal(err)
	}
	top, err := model.Predict("when will the card come?", 1)
	fmt.Println(top[0].Label, err)
	// Output: card_arrival <nil>
}

package main

import (
	"errors"
	"fmt"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
)

// named puts the label into an error that knows only the class's number.
func named(err error, d *corpus.Data) error {
	var few *dataset.TooFewError
	if errors.As(err, &few) {
		return fmt.Errorf("class %q has %d training rows, --shots wants %d of each; ask for fewer or add examples", d.Classes.Labels[few.Class], few.Have, few.Want)
	}
	return err
}

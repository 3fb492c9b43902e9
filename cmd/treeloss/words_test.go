package main

import (
	"errors"
	"fmt"
	"testing"

	"github.com/treeloss/treeloss/internal/option"
)

// What the library says of its options is said of flags, whatever is wrapped around.
func TestErrorsNameFlags(t *testing.T) {
	for _, tc := range []struct {
		err       error
		want      string
		wrongCall bool
	}{
		{errors.New("a.csv: no label; name it with Options.Label"), "a.csv: no label; name it with --label", false},
		{errors.New("name them with Options.Columns or Options.Vectors"), "name them with --features or --label-vectors", false},
		{fmt.Errorf("softmax: %w", option.Check("WeightDecay", 1.5, false, "less")), "softmax: --weight-decay 1.5, want less", true},
		{option.Check("UnknownLabels", "guess", false, "wrong or skip"), `--unknown-labels "guess", want wrong or skip`, true},
		{option.Exclude("Confidence", true, "Top 3", true, "why"), "--confidence and --top 3 exclude each other: why", true},
		{option.Exclude("Confidence", true, "Cost", true, "why"), "--confidence and --decode cost exclude each other: why", true},
		{usagef("--a"), "--a", true},
	} {
		if got, wrongCall := inFlags(tc.err); got != tc.want || wrongCall != tc.wrongCall {
			t.Errorf("%v: %q, %v; want %q, %v", tc.err, got, wrongCall, tc.want, tc.wrongCall)
		}
	}
}

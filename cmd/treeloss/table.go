package main

import (
	"fmt"
	"math"

	"github.com/treeloss/treeloss/internal/compare"
)

// points prints a fraction as points, 0..100.
func points(x float64) string { return compare.Points(x) }

// difference prints a difference of fractions with its standard error.
func difference(x, se float64) string {
	if math.IsNaN(se) {
		return fmt.Sprintf("%+.1f", 100*x)
	}
	return fmt.Sprintf("%+.1f ± %.1f", 100*x, 100*se)
}

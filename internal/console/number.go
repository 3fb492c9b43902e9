package console

import (
	"fmt"
	"math"
)

// Points prints a fraction as points, 0 to 100; NaN, which is not known, as a hyphen.
func Points(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100*x)
}

// Difference prints a difference of fractions as points, with its standard error unless
// that is NaN.
func Difference(x, se float64) string {
	if math.IsNaN(se) {
		return fmt.Sprintf("%+.1f", 100*x)
	}
	return fmt.Sprintf("%+.1f ± %.1f", 100*x, 100*se)
}

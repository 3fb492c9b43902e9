package doctor

import (
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/treeloss/treeloss/internal/input"
)

// points prints a fraction as points, 0..100, with more digits for small ones.
func points(x float64) string {
	if x > 0 && x < 0.0005 {
		return fmt.Sprintf("%.1g", 100*x)
	}
	return fmt.Sprintf("%.1f", 100*x)
}

// short prints three digits.
func short(x float64) string {
	if a := math.Abs(x); a >= 100 && a < 1e6 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// listed joins names; of all there are, some may not be among them.
func listed(names []string, all int) string {
	out := make([]string, 0, len(names))
	for _, n := range names {
		out = append(out, printable(n))
	}
	return input.Some(out, len(out), all)
}

// shown makes a label fit a line.
func shown(label string) string { return printable(clipped(label)) }

// mostShown is how many characters of a text are shown, enough to find it by.
const mostShown = 60

// clipped cuts a text to mostShown characters.
func clipped(text string) string {
	if runes := []rune(text); len(runes) > mostShown {
		return string(runes[:mostShown]) + "..."
	}
	return text
}

// printable leaves out what a terminal would act on: escapes in a label must not move the
// cursor or change colours.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, text)
}

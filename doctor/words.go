package doctor

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/treeloss/treeloss/internal/input"
)

// lineWidth is where a long line goes on in the next.
const lineWidth = 100

// wrapped breaks a text into lines of no more than a width, but for longer words.
func wrapped(text string, width int) string {
	var b strings.Builder
	wide := 0
	for n, word := range strings.Fields(text) {
		size := utf8.RuneCountInString(word)
		switch {
		case n == 0:
		case wide+1+size > width:
			b.WriteByte('\n')
			wide = 0
		default:
			b.WriteByte(' ')
			wide++
		}
		b.WriteString(word)
		wide += size
	}
	return b.String()
}

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

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
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
func shown(label string) string {
	const most = 60
	if runes := []rune(label); len(runes) > most {
		label = string(runes[:most]) + "..."
	}
	return printable(label)
}

func quoted(text string) string { return `"` + printable(text) + `"` }

// printable leaves out what a terminal would act on.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, text)
}

package explain

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/input"
)

// WriteText writes one answer and its reasons for people, with an empty line behind. x is
// the example that was explained.
func (e *Explanation) WriteText(w io.Writer, x dataset.Example) error {
	out := new(strings.Builder)
	fmt.Fprintf(out, "%s%s\n", x.Place, excerpt(x.Text))
	fmt.Fprintf(out, "answer: %s  %.1f %%", input.Escape(e.Label), 100*e.Probability)
	if e.Temperature != 1 {
		fmt.Fprintf(out, " (calibrated: scores divided by %.2f)", e.Temperature)
	}
	fmt.Fprintln(out)
	if len(e.Path) > 0 {
		steps := make([]string, len(e.Path))
		for i, n := range e.Path {
			steps[i] = input.Escape(n.Name)
			if n.Classes > 1 {
				steps[i] = fmt.Sprintf("(%s: %d classes)", steps[i], n.Classes)
			}
		}
		fmt.Fprintf(out, "path: %s\n", strings.Join(steps, " > "))
	}
	writeNearest(out, "nearest by weights", e.NearestByWeights)
	writeNearest(out, "nearest by name", e.NearestByName)
	for i, d := range e.Decisions {
		if len(e.Decisions) > 1 {
			fmt.Fprintf(out, "\ndecision %d of %d: %s  %.1f %%\n", i+1, len(e.Decisions), input.Escape(d.Chosen), 100*d.Probability)
		}
		d.Mean.write(out, fmt.Sprintf("the mean of %d", d.Choices))
		d.Rival.write(out, fmt.Sprintf("%s (%.1f %%)", input.Escape(d.Rival.Name), 100*d.Rival.Probability))
	}
	fmt.Fprintln(out)
	_, err := io.WriteString(w, out.String())
	return err
}

// writeNearest lists classes with their cosines, nothing for none.
func writeNearest(out io.Writer, what string, classes []Neighbour) {
	if len(classes) == 0 {
		return
	}
	names := make([]string, len(classes))
	for i, c := range classes {
		names[i] = fmt.Sprintf("%s %.2f", input.Escape(c.Label), c.Cosine)
	}
	fmt.Fprintf(out, "%s: %s\n", what, strings.Join(names, ", "))
}

// write writes a sum in nats: what it comes to, then its parts. other is what the score is
// compared with.
func (c Contrast) write(out io.Writer, other string) {
	fmt.Fprintf(out, "\n%+9.3f nats is its score minus that of %s\n", c.Difference, other)
	for _, x := range slices.Concat(c.Positive, c.Negative) {
		fmt.Fprintf(out, "%+9.3f  %s at %s\n", x.Contribution, input.Escape(x.Feature), strconv.FormatFloat(x.Value, 'g', 3, 64))
	}
	if c.Others > 0 {
		noun := "other features"
		if c.Others == 1 {
			noun = "other feature"
		}
		fmt.Fprintf(out, "%+9.3f  %d %s\n", c.Rest, c.Others, noun)
	}
	fmt.Fprintf(out, "%+9.3f  bias\n", c.Bias)
}

// excerpt quotes the start of a text, after a blank.
func excerpt(text string) string {
	const longest = 80
	if text == "" {
		return ""
	}
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "..."
	}
	return " " + strconv.Quote(text)
}

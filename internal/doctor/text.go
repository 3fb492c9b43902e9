package doctor

import (
	"embed"
	"fmt"
	"io"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/internal/input"
)

//go:embed *.tmpl
var templates embed.FS

// Widths in letters: of a line, and of the column of topics.
const (
	lineWidth  = 100
	topicWidth = 12
)

// WriteText writes the report for people, in fewer than 40 lines: rates in
// points, one topic a paragraph, the verdict last.
func (r *Report) WriteText(w io.Writer) error {
	var said, b strings.Builder
	if err := words.ExecuteTemplate(&said, "text.tmpl", r); err != nil {
		return err
	}
	for line := range strings.Lines(said.String()) {
		topic, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "|")
		if !ok {
			continue // a blank line
		}
		if utf8.RuneCountInString(text) > lineWidth-topicWidth {
			text = strings.ReplaceAll(input.Wrap(text, lineWidth-topicWidth-2), "\n", "\n"+strings.Repeat(" ", topicWidth+2))
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-*s  %s", topicWidth, topic, text), " ") + "\n")
	}
	b.WriteString("\n" + input.Wrap(r.Verdict.Sentence, lineWidth) + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// words has the templates of text.tmpl and verdict.tmpl, and the functions that they use.
var words = template.Must(template.New("report").Funcs(template.FuncMap{
	"points": points, "short": short, "join": strings.Join,
	"hundred": func(x float64) float64 { return 100 * x },
	"percent": func(digits int, x float64) string { return fmt.Sprintf("%.*f", digits, 100*x) },
	"capital": func(s string) string { return strings.ToUpper(s[:1]) + s[1:] },
	"shown":   shown, "listed": listed, "printable": printable, "inWords": inWords,
	"value":         func(x *float64) float64 { return *x },
	"agreesBy":      func() float64 { return AgreesBy },
	"enoughClasses": func() int { return enoughClasses },
	"count": func(n int, one, several string) string {
		if n == 1 {
			return "1 " + one
		}
		return fmt.Sprint(n, " ", several)
	},
	"occurrences": func(places []Occurrence) string {
		var out []string
		for _, o := range places {
			out = append(out, fmt.Sprintf("row %d %s", o.Row, shown(o.Label)))
		}
		return input.Some(out, 3, len(out))
	},
	"pairs": func(n Names) string {
		var out []string
		for _, x := range n.SimilarExamples {
			out = append(out, fmt.Sprintf("%s / %s", shown(x.A), shown(x.B)))
		}
		return input.Some(out, 3, *n.Similar)
	},
	"from": func(source string) string {
		return map[string]string{
			string(classinfo.Names): "n-grams of the names", string(classinfo.Taxonomy): "the taxonomy",
			string(classinfo.Vectors): "vectors of the names", string(classinfo.Means): "means of the classes",
			string(classinfo.Distances): "the given list", string(classinfo.Weights): "the weights of the given model",
		}[source]
	},
}).ParseFS(templates, "*.tmpl"))

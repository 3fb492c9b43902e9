package doctor

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/treeloss/treeloss/knowledge"
)

// WriteText writes the report for people, in fewer than 40 lines: rates in
// points, one topic a paragraph, the verdict last.
func (r *Report) WriteText(w io.Writer) error {
	p := &page{}
	r.writeRows(p)
	r.writeNames(p)
	r.writeGiven(p)
	r.writeMetric(p)
	r.writeWeights(p)
	r.writeGain(p)
	for _, s := range r.Skipped {
		p.line("left out", "%s", s)
	}
	p.b.WriteString("\n" + wrapped(r.Verdict.Sentence, lineWidth) + "\n")
	_, err := io.WriteString(w, p.b.String())
	return err
}

// page collects lines with their topic in a column of its own.
type page struct{ b strings.Builder }

const topicWidth = 12

func (p *page) line(topic, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if utf8.RuneCountInString(text) > lineWidth-topicWidth {
		text = strings.ReplaceAll(wrapped(text, lineWidth-topicWidth-2), "\n", "\n"+strings.Repeat(" ", topicWidth+2))
	}
	p.b.WriteString(strings.TrimRight(fmt.Sprintf("%-*s  %s", topicWidth, topic, text), " ") + "\n")
}

func (r *Report) writeRows(p *page) {
	what := map[string]string{"text": "texts", "numbers": "rows of numbers", "sparse": "sparse rows"}[r.Kind]
	c := r.PerClass
	p.line("rows", "%d %s of %d classes", r.Rows, what, r.Classes)
	p.line("rows a class", "least %d, median %g, most %d (%s, %s %% of all)", c.Least, c.Median, c.Most, shown(c.Largest), points(c.Share))
	if c.Few > 0 {
		p.line("", "%s with fewer than %d rows: %s", count(c.Few, "class", "classes"), fewest, listed(c.FewNames, c.Few))
	}
	switch {
	case r.Coverage != nil && r.Kind == "text":
		p.line("vocabulary", "%d n-grams; %s %% of those in a row are known from other rows (%d held out)", r.Coverage.Features, points(r.Coverage.Seen), r.Coverage.Rows)
	case r.Coverage != nil:
		p.line("features", "%d; %s %% of those in a row are known from other rows (%d held out)", r.Coverage.Features, points(r.Coverage.Seen), r.Coverage.Rows)
	case r.Columns != nil && r.Columns.Constant == 0:
		p.line("columns", "%d, none constant, no number missing", r.Columns.All)
	case r.Columns != nil:
		p.line("columns", "%d, no number missing; %d constant, which tell nothing: %s", r.Columns.All, r.Columns.Constant, listed(r.Columns.ConstantLike, r.Columns.Constant))
	}
	r.writeRepeats(p)
	for n, h := range r.Hidden {
		if n == maxLeaks {
			break
		}
		p.line("hidden", "%s, which nobody sees, is in %d rows, %s %% of them %s (%s %% of all rows): it gives the class away and "+
			"flatters the score; remove it unless new rows will have it too", h.Character, h.Rows, points(h.Share), shown(h.Label), points(h.Usual))
	}
}

// maxLeaks is the number of hidden characters told of.
const maxLeaks = 2

func (r *Report) writeRepeats(p *page) {
	d := r.Repeats
	if d == nil {
		return
	}
	if d.Blank > 0 {
		p.line("blank", "%s without any content", count(d.Blank, "row", "rows"))
	}
	if d.Rows == 0 {
		p.line("repeats", "none")
		return
	}
	if d.Contents == 0 {
		p.line("repeats", "%s what an earlier one says, always with its label", count(d.Rows, "row says", "rows say"))
		return
	}
	p.line("repeats", "%s what an earlier one says; %s with different labels:", count(d.Rows, "row says", "rows say"), count(d.Contents, "content stands", "contents stand"))
	for _, e := range d.Examples {
		places := make([]string, 0, len(e.Places))
		for _, o := range e.Places {
			places = append(places, fmt.Sprintf("row %d %s", o.Row, shown(o.Label)))
		}
		p.line("", "%s: %s", quoted(e.Text), listed(places[:min(3, len(places))], len(places)))
	}
}

func (r *Report) writeNames(p *page) {
	n := r.Names
	a := n.Agree
	switch {
	case a == nil:
		p.line("names", "nothing shows whether they say something about the rows, which are no texts")
	case a.Say():
		p.line("names", "say something: the nearest one is right for %s %% of rows, chance is %s ± %s", points(a.Rate), points(a.Chance), points(a.SE))
	default:
		p.line("names", "say next to nothing: the nearest one is right for %s %% of rows, chance is %s ± %s", points(a.Rate), points(a.Chance), points(a.SE))
	}
	if n.Wordless > 0 {
		p.line("", "%d of %d are without a letter", n.Wordless, r.Classes)
	}
	if n.Alike > 0 {
		pairs := make([]string, 0, 3)
		for _, x := range n.AlikeLike[:min(3, len(n.AlikeLike))] {
			pairs = append(pairs, fmt.Sprintf("%s / %s", shown(x.A), shown(x.B)))
		}
		p.line("", "%s nearly the same: %s", count(n.Alike, "pair of names is", "pairs of names are"), listed(pairs, n.Alike))
	}
}

func (r *Report) writeGiven(p *page) {
	topic := "given"
	for _, g := range r.Given {
		how := fmt.Sprintf("supported by the data (%.0f standard errors above chance): classes that are near in it have near examples", g.Errors)
		switch {
		case g.Errors > AgreesBy:
		case r.Classes < enoughClasses:
			how = fmt.Sprintf("whether the data support it cannot be said of %d classes (%.1f standard errors from chance)", r.Classes, g.Errors)
		default:
			how = fmt.Sprintf("not supported by the data: that classes near in it have near examples is %.1f standard errors from chance, want %d", g.Errors, AgreesBy)
		}
		p.line(topic, "%s: %s", inWords(g.Source), how)
		topic = ""
	}
}

func (r *Report) writeMetric(p *page) {
	if r.Metric == nil {
		return
	}
	from := map[string]string{
		string(knowledge.Names): "n-grams of the names", string(knowledge.Taxonomy): "the taxonomy",
		string(knowledge.Vectors): "vectors of the names", string(knowledge.Means): "means of the classes",
		string(knowledge.Distances): "the given list", string(knowledge.Weights): "the weights of the given model",
	}[r.Metric.Source]
	d := r.Metric.Dimension
	note := ""
	if d.Mean > 0.9*d.Limit {
		note = ": hardly any structure"
	}
	p.line("distances", "between classes, from %s: doubling dimension c about %.1f", from, d.Max)
	p.line("", "(largest of %d balls; mean %.1f ± %.1f; %d classes can show up to %.1f%s)", d.Balls, d.Mean, d.SE, d.Points, d.Limit, note)
}

func (r *Report) writeWeights(p *page) {
	w := r.Weights
	if w == nil {
		return
	}
	state := ""
	if !w.Converged {
		state = ", not to convergence"
	}
	p.line("weights", "plain cross entropy, prior %g%s: B = %.3g, rho = %.3g", w.Prior, state, w.Largest, w.Longest)
	if d := w.Distortion; d != nil {
		of := ""
		if d.Classes < r.Classes {
			of = fmt.Sprintf(" of %d sampled classes", d.Classes)
		}
		lambda := "none, as classes at distance 0 differ"
		if d.Lambda != nil {
			lambda = fmt.Sprintf("%.3g (distances scaled to make it least)", *d.Lambda)
		}
		p.line("", "lambda of Assumption 3, worst pairs%s: %s", of, lambda)
		if d.Correlation != nil {
			p.line("", "correlation of the distances with those of the weights: %.2f", *d.Correlation)
		}
	}
	p.line("norms", "%-18s  %8s  %10s  %13s  %s", "", "norm", "bound", "with stretch", "the paper's bound")
	for _, n := range w.Norms {
		theory := "-"
		if n.Theory != nil {
			theory = fmt.Sprintf("%s, %s", short(*n.Theory), n.Result)
		}
		p.line("", "%-18s  %8s  %10s  %13s  %s", n.Parameters, short(n.Norm), short(n.Bound), short(n.Stretched), theory)
	}
	p.line("", "bound = norm rho/sqrt(n), in nats. It takes rho for U and V too, but their gradient is longer by up to "+
		"sqrt(path between classes/2): the bound with stretch. Cover tree of base %g.", w.Base)
}

func (r *Report) writeGain(p *page) {
	g := r.Gain
	if g == nil {
		return
	}
	parts := make([]string, 0, len(g.Methods))
	for _, m := range g.Methods {
		parts = append(parts, fmt.Sprintf("%s %s", m.Method, points(m.Accuracy)))
	}
	p.line("held out", "accuracy on %d rows: %s", g.Rows, strings.Join(parts, ", "))
}

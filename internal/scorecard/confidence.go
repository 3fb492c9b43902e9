package scorecard

import (
	"fmt"
	"math"
	"strconv"

	"github.com/treeloss/treeloss/evaluate"
	"github.com/treeloss/treeloss/internal/console"
	"github.com/treeloss/treeloss/internal/report"
	"github.com/treeloss/treeloss/score"
)

// curvePoints is the number of points of a curve over thresholds, some 6 pixels apart.
const curvePoints = 60

// confidence shows whether probabilities are what they say, and what it brings to answer only
// where the model is sure.
func (c *Card) confidence() report.Section {
	return report.Section{Heading: "Confidence", Pictures: []report.Picture{c.calibration(), c.coverage()}, Tables: []report.Table{c.thresholds(), c.bins()}}
}

// calibration is the reliability diagram (Guo et al. 2017) with the number of examples of
// each bin: the mean confidence of a bin against its accuracy. The gaps, weighted by these
// numbers, add up to the expected calibration error.
func (c *Card) calibration() report.Picture {
	f := &report.Figure{Name: "calibration", Title: "Are probabilities what they say?", XLabel: "confidence: probability of the answer, %", YLabel: "accuracy, %",
		Percent: true, PercentX: true, Whole: true, Diagonal: "as sure as right", Bars: &report.Bars{Name: "examples"},
		Caption: "Above the line the model is right more often than it says, below less often. Each point is the examples of one of 15 ranges of confidence, with its 95 % interval; bars below are their numbers."}
	s := report.Series{Name: "model", Look: 3}
	for i, b := range c.Result.Calibration {
		if i == 0 {
			f.Bars.Edges = append(f.Bars.Edges, b.Low)
		}
		f.Bars.Edges, f.Bars.Count = append(f.Bars.Edges, b.High), append(f.Bars.Count, float64(b.Examples))
		if b.Examples > 0 {
			rate := rateOf(b.Accuracy, b.Examples)
			s.Add(b.Confidence, b.Accuracy, rate.Low, rate.High)
		}
	}
	f.Series = []report.Series{s}
	return f
}

// rateOf is Wilson's interval of a rate over n examples, NaN without examples. The rate is
// hits/n, so that n times it is the hits again but for rounding.
func rateOf(rate float64, n int) score.Interval {
	i, err := score.RateInterval(int(math.Round(rate*float64(n))), n)
	if err != nil {
		return score.Interval{Mean: rate, SE: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	return i
}

// bins lists the points of the reliability diagram.
func (c *Card) bins() report.Table {
	t := report.Table{Name: "calibration-bins", Caption: "Calibration: ranges of confidence, in %", Heads: []string{"range", "examples", "mean confidence", "accuracy"}}
	for _, b := range c.Result.Calibration {
		row := []string{console.Points(b.Low) + " to " + console.Points(b.High), strconv.Itoa(b.Examples), "-", "-"}
		if b.Examples > 0 {
			row[2], row[3] = console.Points(b.Confidence), console.Points(b.Accuracy)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// coverage is the accuracy of the answers that are given where unsure ones are not: the
// risk-coverage curve of Geifman and El-Yaniv (2017), with accuracy in place of risk.
func (c *Card) coverage() report.Picture {
	f := &report.Figure{Name: "coverage", Title: "Fewer answers, more of them right", XLabel: "examples that are answered, %", YLabel: "accuracy of these answers, %", Percent: true, PercentX: true, Band: true,
		Caption: "The least sure answers are left out first. The band is the 95 % interval; rings are thresholds on the confidence, in the table with others."}
	s := report.Series{Name: "accuracy of the answers", Look: 3}
	add := func(x evaluate.Selected, put func(share, accuracy float64)) {
		if x.Answered != nil && x.Accuracy != nil {
			put(*x.Answered, *x.Accuracy)
		}
	}
	for _, x := range c.Evaluation.Coverage(c.Evaluation.Confidences(curvePoints)) {
		add(x, func(share, accuracy float64) {
			rate := rateOf(accuracy, int(math.Round(share*float64(c.Result.Report.Examples))))
			s.Add(share, accuracy, rate.Low, rate.High)
		})
	}
	f.Series = []report.Series{s}
	for _, x := range c.Result.Coverage {
		if x.Threshold == 0.5 || x.Threshold == 0.8 || x.Threshold == 0.95 {
			add(x, func(share, accuracy float64) {
				f.Markers = append(f.Markers, report.Marker{X: share, Y: accuracy, Label: fmt.Sprintf("confidence %g %%", 100*x.Threshold)})
			})
		}
	}
	return f
}

// thresholds lists what thresholds give.
func (c *Card) thresholds() report.Table {
	t := report.Table{Name: "thresholds", Caption: "What a threshold on the confidence gives, in %",
		Heads: []string{"answer from", "answered", "right of these", "wrong of all"},
		File:  [][]string{{"threshold", "answered", "accuracy"}}}
	for _, x := range c.Result.Coverage {
		wrong, full := "-", []string{exact(x.Threshold), "", ""}
		if x.Answered != nil {
			full[1] = exact(*x.Answered)
			if wrong = console.Points(0); x.Accuracy != nil {
				wrong, full[2] = console.Points(*x.Answered*(1-*x.Accuracy)), exact(*x.Accuracy)
			}
		}
		t.Rows = append(t.Rows, []string{strconv.FormatFloat(100*x.Threshold, 'g', 4, 64), percentOf(x.Answered), percentOf(x.Accuracy), wrong})
		t.File = append(t.File, full)
	}
	return t
}

// scope shows how well the model tells what belongs to none of its classes, by a threshold
// on the probability of the likeliest class (Hendrycks and Gimpel 2017). The error is that
// of Evaluation.Scope.
func (c *Card) scope() (report.Section, error) {
	o := c.Result.OutOfScope
	f := &report.Figure{Name: "out-of-scope", Title: "Answered and rejected", XLabel: "threshold: no answer below this confidence, %", YLabel: "%", Percent: true, PercentX: true, Whole: true,
		Caption: "At a high threshold examples of none of the classes are rejected, but others, too. A decision is right if an example in scope gets its class, or one out of scope gets no answer."}
	answered, rejected, right := report.Series{Name: "in scope, answered", Look: 3}, report.Series{Name: "out of scope, rejected", Look: 2}, report.Series{Name: "right decisions", Look: 1}
	var steps []float64
	for i := range curvePoints + 1 {
		steps = append(steps, float64(i)/curvePoints)
	}
	points, err := c.Evaluation.Scope(steps)
	if err != nil {
		return report.Section{}, err
	}
	nan := math.NaN()
	for i, d := range points {
		answered.Add(steps[i], d.Answered, nan, nan)
		rejected.Add(steps[i], d.Rejected, nan, nan)
		right.Add(steps[i], d.RightDecisions, nan, nan)
	}
	f.Series = []report.Series{answered, rejected, right}
	t := report.Table{Name: "scope-thresholds", Caption: "Thresholds; rates in %", Heads: []string{"threshold", "right decisions", "answered in scope", "rejected out of scope"}}
	row := func(name string, d evaluate.Decisions) {
		t.Rows = append(t.Rows, []string{fmt.Sprintf("%s: %.4g", name, 100*d.Threshold), console.Points(d.RightDecisions), console.Points(d.Answered), console.Points(d.Rejected)})
	}
	row("chosen", o.At)
	row("best for these very examples", o.Best)
	text := fmt.Sprintf("%s in scope, %s of none of the classes (%s). AUROC %s %% (95 %% interval %s to %s): how often the model is less sure of an example out of scope than of another. The best threshold was chosen on these examples and flatters.",
		counted(o.At.InScope, "example", "examples"), thousands(o.At.OutOfScope), o.File, console.Points(o.AUROC.Mean), console.Points(o.AUROC.Low), console.Points(o.AUROC.High))
	return report.Section{Heading: "Out of scope", Paragraphs: []string{text}, Pictures: []report.Picture{f}, Tables: []report.Table{t}}, nil
}

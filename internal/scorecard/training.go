package scorecard

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/treeloss/treeloss/internal/console"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

// PrintCandidates prints what each method scored on held-out rows and which one was
// chosen; words puts the names of options as the user knows them.
func PrintCandidates(out io.Writer, r *tune.Result, words func(string) string) {
	if len(r.Candidates) > 0 {
		t := console.NewTable(out, "method", "held-out accuracy", "log loss", "prior")
		best := map[string]softmax.Candidate{}
		var order []string
		for _, c := range r.Candidates {
			old, seen := best[c.Method]
			if !seen {
				order = append(order, c.Method)
			}
			if !seen || c.Accuracy > old.Accuracy || c.Accuracy == old.Accuracy && c.LogLoss < old.LogLoss {
				best[c.Method] = c
			}
		}
		for _, name := range order {
			c := best[name]
			t.Row(name, console.Points(c.Accuracy), fmt.Sprintf("%.3f", c.LogLoss), fmt.Sprintf("%g", c.Prior))
		}
		t.Flush()
	}
	if r.WhyPlain != "" {
		fmt.Fprintf(out, "no class information was tried: %s\n", words(r.WhyPlain))
	}
	if r.Unlabelled != nil {
		defer fmt.Fprintln(out, words(r.Unlabelled.String()))
	}
	line := "chosen: " + r.Method.String()
	if r.Reason != "" {
		line += " (" + r.Reason + ")"
	}
	fmt.Fprintln(out, line)
	if r.Gain != nil && r.Method.String() != tune.Baseline {
		fmt.Fprintf(out, "gain over plain cross entropy on %d held-out rows: %s\n", r.Gain.Rows, console.Difference(r.Gain.Difference, r.Gain.DifferenceSE))
	}
}

// metricName is how tables call a metric.
func metricName(m tune.Metric) string {
	if s := m.Score(); s.Unit == score.Nats {
		return s.Name + " (nats)"
	} else {
		return s.Name
	}
}

// metricCell prints a value of a metric: points, or nats for the log loss.
func metricCell(m tune.Metric, x float64) string {
	if m == tune.LogLoss && !math.IsNaN(x) {
		return fmt.Sprintf("%.4f", x)
	}
	return console.Points(x)
}

// PrintFolds prints a row for each fold of a cross-validation, the mean of each measure and
// the pooled one. by says what the similarity of classes is, "" for none.
func PrintFolds(out io.Writer, labels []string, v *tune.CrossValidation, by string, took time.Duration) {
	t := console.NewTable(out, "fold", "trained", "tested", "method", "prior", "accuracy", "macro F1", "log loss")
	for n, fold := range v.Folds {
		r := fold.Report
		t.Row(strconv.Itoa(n+1), strconv.Itoa(fold.Trained), strconv.Itoa(r.Examples), fold.Method.String(), fmt.Sprintf("%g", fold.Prior),
			console.Points(r.Accuracy), console.Points(r.MacroF1), metricCell(tune.LogLoss, r.LogLoss))
	}
	t.Flush()
	fmt.Fprintln(out)
	t = console.NewTable(out, "measure", "mean over folds", "±", "pooled")
	for _, m := range tune.Metrics() {
		over := v.Over(m)
		if math.IsNaN(over.Mean) {
			continue
		}
		t.Row(metricName(m), metricCell(m, over.Mean), metricCell(m, over.SE), metricCell(m, m.Of(v.Pooled)))
	}
	t.Flush()
	fmt.Fprintf(out, "\npoints; ±: standard error over %d folds; pooled: all examples together, each tested once\n", len(v.Folds))
	if by != "" {
		fmt.Fprintf(out, "similarity of classes: %s\n", by)
	}
	fmt.Fprintf(out, "%d examples, %d classes, %.1f s\n", v.Pooled.Examples, len(labels), took.Seconds())
}

// PrintTrials prints a row for each trial of a search, and how good the best is. options
// has settings as the user gives them, and words the names of options; nested is nil where
// the search was not repeated.
func PrintTrials(out io.Writer, found *tune.Found, nested *tune.NestedDocument, seconds float64, options func(tune.Settings) []string, words func(string) string) {
	m := found.Metric
	t := console.NewTable(out, "options", "trial", metricName(m), "±", "difference", "±", "log loss")
	for _, x := range found.Trials {
		difference, se := "-", "-"
		if x.Number != 1 {
			difference, se = metricCell(m, x.Difference), metricCell(m, x.DifferenceSE)
			if x.Difference > 0 {
				difference = "+" + difference
			}
		}
		t.Row(strings.Join(options(x.Settings), " "), strconv.Itoa(x.Number), metricCell(m, m.Of(x.Report)), metricCell(m, x.SE),
			difference, se, metricCell(tune.LogLoss, x.Report.LogLoss))
	}
	t.Flush()
	unit := "points"
	if m == tune.LogLoss {
		unit = "nats"
	}
	fmt.Fprintf(out, "\n%s; difference: to plain cross entropy with the defaults (trial 1), paired; ±: standard error over %d held-out rows\n", unit, found.HeldOut)
	fmt.Fprintf(out, "held out: %s\n", found.How)
	fmt.Fprintf(out, "%d trials in %.1f s, ended by: %s\n\n", len(found.Trials), seconds, words(stopWords(found.Stop)))
	best := found.Best()
	fmt.Fprintf(out, "the best of %d trials looks better than it is: %s %s, about %s on new rows\n", len(found.Trials),
		metricName(m), metricCell(m, m.Of(best.Report)), metricCell(m, m.Of(found.Honest)))
	if found.Trials[0].Baseline {
		fmt.Fprintln(out, words("plain cross entropy is better than what was asked for: leave Options.Sharing, Options.Loss and Options.Names open to have it"))
	}
	if n := nested; n != nil && n.Mean != nil {
		line := metricCell(m, *n.Mean)
		if n.SE != nil {
			line += " ± " + metricCell(m, *n.SE)
		}
		fmt.Fprintf(out, "a search of its own in each of %d folds: %s %s on rows that took no part\n", n.Folds, metricName(m), line)
	}
}

// stopWords says what ended a search.
func stopWords(s tune.Stop) string {
	switch s {
	case tune.StopTime:
		return "Options.Time"
	case tune.StopTrials:
		return "Options.Trials"
	case tune.StopConverged:
		return "smaller steps gain nothing"
	}
	return "interrupt"
}

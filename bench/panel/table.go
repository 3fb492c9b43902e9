package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
)

// printTable writes a Markdown table: a line for each set and number of rows, the mean
// accuracy over the draws of each method; then of treeloss the difference to the better
// linear model of scikit-learn, in percentage points, and means over the draws of
// macro F1, calibration error, seconds and megabytes. Lines and methods come in the order of the
// results.
func printTable(w io.Writer, all []result) {
	type line struct {
		set   string
		shots int
	}
	var lines []line
	var methods []string
	cells := map[line]map[string][]result{}
	for _, r := range all {
		l := line{r.Set, r.Shots}
		if cells[l] == nil {
			cells[l] = map[string][]result{}
			lines = append(lines, l)
		}
		cells[l][r.Method] = append(cells[l][r.Method], r)
		if !slices.Contains(methods, r.Method) {
			methods = append(methods, r.Method)
		}
	}
	fmt.Fprint(w, "| set | rows a class |")
	for _, m := range methods {
		fmt.Fprintf(w, " %s |", m)
	}
	fmt.Fprint(w, " difference | macro F1 | calibration error | seconds | MB |\n|---|---|")
	for range len(methods) + 5 {
		fmt.Fprint(w, "---:|")
	}
	fmt.Fprintln(w)
	accuracy := func(r result) float64 { return r.Accuracy }
	for _, l := range lines {
		shots := "all"
		if l.shots > 0 {
			shots = fmt.Sprint(l.shots)
		}
		fmt.Fprintf(w, "| %s | %s |", l.set, shots)
		by := cells[l]
		for _, m := range methods {
			fmt.Fprintf(w, " %s |", number("%.1f", mean(by[m], accuracy)))
		}
		ours := by["treeloss default"]
		if ours == nil {
			ours = by["treeloss none"]
		}
		better := math.Inf(-1)
		for _, m := range []string{"LinearSVC", "LogisticRegression"} {
			if x := mean(by[m], accuracy); x > better { // not so for NaN
				better = x
			}
		}
		calibration := func(r result) float64 { return *cmp.Or(r.CalibrationError, new(math.NaN())) }
		fmt.Fprintf(w, " %s | %s | %s | %s | %s |\n", number("%+.1f", mean(ours, accuracy)-better),
			number("%.1f", mean(ours, func(r result) float64 { return r.MacroF1 })), number("%.1f", mean(ours, calibration)),
			number("%.1f", mean(ours, func(r result) float64 { return r.Seconds })), number("%.0f", mean(ours, func(r result) float64 { return r.Megabytes })))
	}
}

// mean is the mean of a value over results, NaN if there are none or one failed.
func mean(results []result, value func(result) float64) float64 {
	sum := 0.0
	for _, r := range results {
		if r.Failed != "" {
			return math.NaN()
		}
		sum += value(r)
	}
	return sum / float64(len(results))
}

// number is x in a format, a dash for none.
func number(format string, x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "-"
	}
	return fmt.Sprintf(format, x)
}

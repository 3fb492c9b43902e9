package main

import (
	"fmt"
	"io"
	"math"
	"slices"
)

// printTable writes a Markdown table: a line for each set and number of rows, the
// mean accuracy over the draws of each method; then means over the sets.
func printTable(w io.Writer, all []result) {
	var used []string
	for _, r := range all {
		if !slices.Contains(used, r.Method) {
			used = append(used, r.Method)
		}
	}
	type line struct {
		set   string
		shots int
	}
	var lines []line
	cells := map[line]map[string][]result{}
	for _, r := range all {
		l := line{r.Set, r.Shots}
		if cells[l] == nil {
			cells[l] = map[string][]result{}
			lines = append(lines, l)
		}
		cells[l][r.Method] = append(cells[l][r.Method], r)
	}
	fmt.Fprint(w, "| set | rows a class |")
	for _, m := range used {
		fmt.Fprintf(w, " %s |", m)
	}
	fmt.Fprint(w, " difference | calibration error | seconds | MB |\n|---|---|")
	for range len(used) + 4 {
		fmt.Fprint(w, "---:|")
	}
	fmt.Fprintln(w)
	for _, l := range lines {
		shots := "all"
		if l.shots > 0 {
			shots = fmt.Sprint(l.shots)
		}
		fmt.Fprintf(w, "| %s | %s |", l.set, shots)
		for _, m := range used {
			fmt.Fprintf(w, " %s |", number(mean(cells[l][m], func(r result) float64 { return r.Accuracy }), 1))
		}
		ours := cells[l]["treeloss default"]
		if ours == nil {
			ours = cells[l]["treeloss none"]
		}
		accuracy := func(r result) float64 { return r.Accuracy }
		better := math.Max(orLess(mean(cells[l]["LinearSVC"], accuracy)), orLess(mean(cells[l]["LogisticRegression"], accuracy)))
		fmt.Fprintf(w, " %s | %s | %s | %s |\n", signed(mean(ours, accuracy)-better),
			number(mean(ours, func(r result) float64 {
				if r.CalibrationError == nil {
					return math.NaN()
				}
				return *r.CalibrationError
			}), 1),
			number(mean(ours, func(r result) float64 { return r.Seconds }), 1), number(mean(ours, func(r result) float64 { return r.Megabytes }), 0))
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

// orLess makes less than any number of NaN.
func orLess(x float64) float64 {
	if math.IsNaN(x) {
		return math.Inf(-1)
	}
	return x
}

// number is x with some digits, a dash for none.
func number(x float64, digits int) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "-"
	}
	return fmt.Sprintf("%.*f", digits, x)
}

// signed is x with its sign, a dash for none.
func signed(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "-"
	}
	return fmt.Sprintf("%+.1f", x)
}

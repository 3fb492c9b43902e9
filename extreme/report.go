package extreme

import (
	"fmt"
	"io"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/internal/memory"
	"github.com/treeloss/treeloss/softmax"
)

// ManyClasses is from where a tree is trained unless told otherwise.
const ManyClasses = 2000

// Pays tells whether so many rows of d are a task for a tree rather than for a flat
// softmax, and why, in words: there are ManyClasses, or the weights of a flat one do not
// fit the memory budget. A flat softmax on a stream has as many as fit.
func Pays(d *corpus.Data, rows int) (bool, string) {
	if k := len(d.Classes.Labels); k >= ManyClasses {
		return true, fmt.Sprintf("there are %d classes", k)
	}
	if n := d.Need(rows); d.Stream == nil && n.Total() > n.Budget {
		return true, fmt.Sprintf("a flat model needs about %s, and the memory budget is %s", memory.Text(n.Total()), memory.Text(n.Budget))
	}
	return false, ""
}

// Write writes the report for people; t is the record of the same model. What fails shows
// when out is flushed or closed.
func (r Report) Write(out io.Writer, t softmax.Training) {
	fmt.Fprintf(out, "chosen: %s", t.Sharing)
	if t.Names {
		fmt.Fprint(out, ", names as examples")
	}
	if t.Choice != "" {
		fmt.Fprintf(out, " (%s)", t.Choice)
	}
	fmt.Fprintf(out, "\ntree: %d leaves, %d softmaxes on the way to a class; %.1f %% of %d weights kept, those of %.2f and more\n",
		r.Leaves, r.Levels, 100*float64(r.Weights)/float64(max(r.Trained, 1)), r.Trained, r.Least)
	if r.HeldOut == 0 {
		fmt.Fprintln(out, "not calibrated: too few rows to hold any out; give examples to measure on, or three of most classes")
	} else {
		router := "the router counts"
		if r.Similar {
			router = "the leaves are those of similar classes, whose similarity counts"
		}
		fmt.Fprintf(out, "held-out accuracy on %d rows: %.1f; in %.1f %% the class is in the beam of %d leaves; %s %v\n",
			r.HeldOut, 100*r.Accuracy, 100*r.Reached, min(r.Beam, r.Leaves), router, r.Router)
	}
	if c := t.Calibration; c != nil {
		fmt.Fprintln(out, c)
	}
	if g := r.Gap; g != nil {
		fmt.Fprintf(out, "tree minus flat on %d classes: %+.1f ± %.1f points (%.1f and %.1f on %d rows)", g.Classes, 100*g.Difference, 100*g.DifferenceSE, 100*g.Tree, 100*g.Flat, g.Rows)
		if g.Difference < -2*g.DifferenceSE {
			fmt.Fprint(out, ": a flat model is better where one can be trained")
		}
		fmt.Fprintln(out)
	}
}

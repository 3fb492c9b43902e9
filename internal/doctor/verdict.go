package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/tune"
)

// Help says whether sharing can be expected to help.
type Help string

// The answers.
const (
	Yes     Help = "yes"
	Perhaps Help = "perhaps"
	No      Help = "no"
	Unknown Help = "unknown"
)

// Verdict is the answer of the rules in the package comment.
type Verdict struct {
	Help     Help   `json:"help"`
	Source   string `json:"source"`   // the method to use, as treeloss compare names it; "" for none
	Measured bool   `json:"measured"` // by held-out rows, or else from the rules alone
	Sentence string `json:"sentence"`
}

// Limits of the rules: rows a class, the median.
const (
	manyRows = 60 // as in tune.Candidates: names were not seen to matter above
	fewRows  = 10 // the gains of names are points below, tenths above
)

// Held-out rows from which a missing gain proves little: a standard error
// above a point, or, where plain cross entropy did best, few rows.
const (
	unclear    = 0.01
	fewHeldOut = 100
)

func (r *Report) verdict() Verdict {
	if r.Gain != nil {
		if v, clear := r.measured(); clear {
			return v
		}
	}
	return r.byRules()
}

// measured judges by the gain. It is not clear if that has too large an error
// to say no, while it is known whether the names agree with the rows: then the
// rules know more.
func (r *Report) measured() (v Verdict, clear bool) {
	g := r.Gain
	gain := fmt.Sprintf("%+.1f ± %.1f percentage points above plain cross entropy on %d held-out rows", 100*g.Difference, 100*g.DifferenceSE, g.Rows)
	v = Verdict{Source: g.Best, Measured: true}
	switch {
	case g.Best != tune.Baseline && g.Difference > 2*g.DifferenceSE && g.Difference > 0:
		v.Help = Yes
		v.Sentence = fmt.Sprintf("Sharing helps here, by %s: %s.", inWords(g.Best), gain)
	case g.Best != tune.Baseline && g.Difference > g.DifferenceSE && g.Difference > 0:
		v.Help = Perhaps
		v.Sentence = fmt.Sprintf("Sharing may help a little here, by %s: %s, less than two standard errors.", inWords(g.Best), gain)
	case g.Best != tune.Baseline && g.DifferenceSE > unclear:
		v.Help, v.Measured = Unknown, false
		v.Sentence = fmt.Sprintf("Whether sharing helps cannot be told: by %s it gains %s, an error too large to say no.", inWords(g.Best), gain)
		ofNames := strings.Contains(g.Best, "names") || strings.HasSuffix(g.Best, "+examples")
		return v, r.Names.Agreement == nil || !r.Names.Agreement.Say() && !ofNames
	case g.Best == tune.CrossEntropy:
		v.Help, v.Source = No, ""
		few := ""
		if g.Rows < fewHeldOut {
			few = ", which are few"
		}
		v.Sentence = fmt.Sprintf("Sharing does not help here: of %d methods plain cross entropy did best on %d held-out rows%s.", len(g.Methods), g.Rows, few)
	default:
		v.Help, v.Source = No, ""
		v.Sentence = fmt.Sprintf("Sharing makes no difference here: the best source, %s, gains %s.", inWords(g.Best), gain)
	}
	return v, true
}

// byRules judges without a measurement; the rules are in the package comment.
func (r *Report) byRules() Verdict {
	rows := fmt.Sprintf("with %.0f rows a class", r.PerClass.Median)
	agree := r.Names.Agreement
	source := "names"
	if r.Kind == "text" && r.PerClass.Median < fewRows {
		source = "names+examples"
	}
	switch {
	case r.PerClass.Median >= manyRows:
		return Verdict{Help: No, Sentence: fmt.Sprintf("Sharing is not expected to help: %s there is little left for knowledge of the classes to add.", rows)}
	case agree.Say():
		v := Verdict{Help: Perhaps, Source: source}
		how, too := "a point or less", ""
		if given := r.supported(); len(given) > 0 {
			too = fmt.Sprintf(" %s may help, too.", capital(inWords(strings.Join(given, "+"))))
		}
		if r.PerClass.Median < fewRows {
			v.Help, how = Yes, "points"
		}
		v.Sentence = fmt.Sprintf("Sharing by %s can be expected to help, by %s: the nearest name is right for %.0f %% of the rows, chance is %.1f %%, and %s there is room.%s",
			inWords(source), how, 100*agree.Rate, 100*agree.Chance, rows, too)
		return v
	case len(r.supported()) > 0:
		best := r.supported()[0]
		return Verdict{Help: Perhaps, Source: best, Sentence: fmt.Sprintf("Sharing by %s may help, by about a point, if classes that are near in it have similar examples; %s it is worth measuring.%s", inWords(best), rows, r.namesToo())}
	case agree == nil && r.Names.Wordless < r.Classes:
		return Verdict{Help: Unknown, Source: "names", Sentence: fmt.Sprintf("Whether sharing helps cannot be told without training: the rows are no texts, so nothing shows whether classes with like names have like rows; %s it is worth measuring.", rows)}
	}
	might := " Vectors of the names or a taxonomy might."
	if len(r.Sources) > 0 {
		might = " The data do not support what was given."
	}
	return Verdict{Help: No, Sentence: fmt.Sprintf("Sharing is not expected to help with what is known.%s%s", r.namesToo(), might)}
}

// enoughClasses is the number of classes from which a source that the rows do
// not support counts as useless: of fewer even the right one may not reach
// AgreesBy standard errors.
const enoughClasses = 20

// supported returns the given sources that the rows support, or cannot speak
// about as there are too few classes, the best first.
func (r *Report) supported() []string {
	given := slices.Clone(r.Sources)
	slices.SortStableFunc(given, func(a, b Evidence) int { return cmp.Compare(b.Errors, a.Errors) })
	var out []string
	for _, g := range given {
		if g.Errors > AgreesBy || r.Classes < enoughClasses {
			out = append(out, g.Source)
		}
	}
	return out
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// namesToo says why names are not counted on.
func (r *Report) namesToo() string {
	a := r.Names.Agreement
	switch {
	case r.Names.Wordless == r.Classes:
		return " The names hold no letters, so they say nothing."
	case a == nil:
		return ""
	case a.Errors > AgreesBy:
		return fmt.Sprintf(" The names say next to nothing: the nearest one is right for %.1f %% of the rows, chance is %.1f %%.", 100*a.Rate, 100*a.Chance)
	}
	return fmt.Sprintf(" The names say nothing about the rows: the nearest one is right for %.1f %% of them, chance is %.1f %%.", 100*a.Rate, 100*a.Chance)
}

// inWords reads a method's name to people.
func inWords(method string) string {
	words := map[string]string{
		"names": "the names of the classes", "taxonomy": "the taxonomy", "vectors": "the vectors of the names", "means": "the means of the classes",
		"distances": "the given distances", "weights": "the weights of the given model",
	}
	sources, examples := strings.CutSuffix(method, "+examples")
	if sources == "none" {
		return "the names as further examples"
	}
	parts := strings.Split(sources, "+")
	for i, p := range parts {
		parts[i] = cmp.Or(words[p], p)
	}
	last := len(parts) - 1
	out := parts[last]
	if last > 0 {
		out = strings.Join(parts[:last], ", ") + " and " + out
	}
	switch {
	case examples && sources == "names":
		out += " (also as examples)"
	case examples:
		out += " (the names also as examples)"
	}
	return out
}

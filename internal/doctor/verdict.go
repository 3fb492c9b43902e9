package doctor

import (
	"cmp"
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

// verdict judges by the gain, or else by the rules, and says why.
func (r *Report) verdict() Verdict {
	v, reason, clear := Verdict{}, "", false
	if r.Gain != nil {
		v, reason, clear = r.measured()
	}
	if !clear {
		v, reason = r.byRules()
	}
	var why strings.Builder
	if err := words.ExecuteTemplate(&why, reason, r); err != nil {
		panic(err) // tests execute every template
	}
	v.Sentence = why.String()
	return v
}

// measured judges by the gain. It is not clear if that has too large an error
// to say no, while it is known whether the names agree with the rows: then the
// rules know more.
func (r *Report) measured() (v Verdict, reason string, clear bool) {
	g := r.Gain
	switch {
	case g.Best == tune.Baseline:
		return Verdict{Help: No, Measured: true}, "plain is best", true
	case g.Difference > 2*g.DifferenceSE && g.Difference > 0:
		return Verdict{Help: Yes, Source: g.Best, Measured: true}, "helps", true
	case g.Difference > g.DifferenceSE && g.Difference > 0:
		return Verdict{Help: Perhaps, Source: g.Best, Measured: true}, "may help", true
	case g.DifferenceSE > unclear:
		ofNames := strings.Contains(g.Best, "names") || strings.HasSuffix(g.Best, "+examples")
		agree := r.Names.Agreement
		return Verdict{Help: Unknown, Source: g.Best}, "unclear", agree == nil || !agree.Say() && !ofNames
	}
	return Verdict{Help: No, Measured: true}, "no difference", true
}

// Few tells whether so few rows were held out that no gain proves little.
func (g *Gain) Few() bool { return g.Rows < fewHeldOut }

// byRules judges without a measurement; the rules are in the package comment.
func (r *Report) byRules() (v Verdict, reason string) {
	supported := r.Supported()
	switch agree := r.Names.Agreement; {
	case r.PerClass.Median >= manyRows:
		return Verdict{Help: No}, "many rows"
	case agree.Say() && r.FewRows():
		return Verdict{Help: Yes, Source: r.NamesMethod()}, "names agree"
	case agree.Say():
		return Verdict{Help: Perhaps, Source: r.NamesMethod()}, "names agree"
	case len(supported) > 0:
		return Verdict{Help: Perhaps, Source: supported[0]}, "supported"
	case agree == nil && r.Names.Wordless < r.Classes:
		return Verdict{Help: Unknown, Source: "names"}, "no texts"
	}
	return Verdict{Help: No}, "nothing"
}

// FewRows tells whether gains of names are points, not tenths of one.
func (r *Report) FewRows() bool { return r.PerClass.Median < fewRows }

// NamesMethod is the method by which names are shared: as examples, too, where texts
// are few.
func (r *Report) NamesMethod() string {
	if r.Kind == "text" && r.FewRows() {
		return "names+examples"
	}
	return "names"
}

// enoughClasses is the number of classes from which a source that the rows do
// not support counts as useless: of fewer even the right one may not reach
// AgreesBy standard errors.
const enoughClasses = 20

// Supported returns the given sources that the rows support, or cannot speak
// about as there are too few classes, the best first.
func (r *Report) Supported() []string {
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

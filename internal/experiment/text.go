package experiment

import (
	"embed"
	"fmt"
	"math"
	"strings"
	"text/template"
)

// What pages say is in text/*.tmpl, as templates over results.
//
//go:embed text
var texts embed.FS

// The words for numbers that templates use.
var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"title":   func(x interface{ title() string }) string { return x.title() },
	"capital": func(s string) string { return strings.ToUpper(s[:1]) + s[1:] },
	"sides":   Tally.sides,
	"points":  Interval.points,
	"plain":   func(i Interval) string { return strings.TrimPrefix(i.points(), "+") },
	"percent": percent,
	"short":   short,
	"number":  number,
	"fixed":   func(s *SweepResult) string { return s.Sweep.fixed() },
	"letter":  func(s *SweepResult) string { return s.Sweep.letter() },
	"sep": func(i int) string { // between the parts of a list
		if i == 0 {
			return ""
		}
		return "; "
	},
}).ParseFS(texts, "text/*.tmpl"))

// written returns what a template says of data.
func written(name string, data any) string {
	var b strings.Builder
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		panic(err) // tests execute every template with and without results
	}
	return b.String()
}

// title is the method's name in figures and sentences.
func (m Method) title() string {
	switch m {
	case UTree:
		return "U-tree"
	case VTree:
		return "V-tree"
	case SimLoss:
		return "SimLoss"
	case ScaledCrossEntropy:
		return "cross entropy, V-tree's step"
	}
	return strings.ReplaceAll(string(m), "-", " ")
}

// title says what a protocol is.
func (p Protocol) title() string {
	switch p {
	case Paper:
		return "paper's protocol"
	case OnePass:
		return "one pass, own best rate"
	}
	return "converged, own best prior"
}

// short names a protocol in the head of a column.
func (p Protocol) short() string {
	return map[Protocol]string{Paper: "paper's protocol", OnePass: "one pass", Converged: "converged"}[p]
}

// percent writes a fraction as points with one decimal, two below one point.
func percent(x float64) string {
	switch {
	case math.IsNaN(x):
		return "?"
	case x != 0 && math.Abs(x) < 0.0095:
		return strings.Replace(fmt.Sprintf("%.2f", 100*x), "-0.00", "0.00", 1)
	}
	return fmt.Sprintf("%.1f", 100*x)
}

// points writes a difference of fractions with its interval, in points.
func (i Interval) points() string {
	sign := "+"
	if i.Mean < 0 || i.Mean == 0 {
		sign = ""
	}
	if math.IsNaN(i.Low) {
		return sign + percent(i.Mean)
	}
	return fmt.Sprintf("%s%s [%s, %s]", sign, percent(i.Mean), percent(i.Low), percent(i.High))
}

// String writes a mean with its interval to three digits.
func (i Interval) String() string {
	if math.IsNaN(i.Low) {
		return short(i.Mean)
	}
	return fmt.Sprintf("%s [%s, %s]", short(i.Mean), short(i.Low), short(i.High))
}

// short writes a number to three digits.
func short(x float64) string {
	if math.IsNaN(x) {
		return "?"
	}
	return fmt.Sprintf("%.3g", x)
}

// sides says in words on which side of 0 the differences lie.
func (t Tally) sides() string {
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{t.Above, "above at %d"}, {t.Below, "below at %d"}, {t.Neither, "no significant difference at %d"}, {t.Equal, "the same in every run at %d"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf(p.word, p.n))
		}
	}
	return fmt.Sprintf("%s of %d", strings.Join(parts, ", "), t.Points())
}

// letter is the symbol of what varies.
func (s *Sweep) letter() string {
	words := strings.Fields(s.XLabel)
	if len(words[len(words)-1]) <= 2 { // one letter, Greek ones have two bytes
		return words[len(words)-1]
	}
	return "base"
}

// fixed says what does not vary.
func (s *Sweep) fixed() string {
	var parts []string
	for _, v := range []struct {
		name  string
		value float64
	}{{"n", float64(s.Fixed.N)}, {"d", float64(s.Fixed.D)}, {"k", float64(s.Fixed.K)}, {"σ", s.Fixed.Sigma}, {"base", s.Base}} {
		if v.value != 0 {
			parts = append(parts, v.name+" = "+number(v.value))
		}
	}
	return strings.Join(parts, ", ")
}

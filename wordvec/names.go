package wordvec

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/internal/input"
	"github.com/treeloss/treeloss/matrix"
)

// LabelVectors are the vectors of k class names and how they were found.
type LabelVectors struct {
	Source  Info
	Policy  Unknown
	Names   []Name        // one for each class, in the order of the labels
	Vectors *matrix.Dense // k x dim; zeros for a class that is dropped or at the root
}

// Name is how the vector of one class name was found.
type Name struct {
	Label string `json:"label"`
	Words []Word `json:"words"`
	Fate  Fate   `json:"fate"`
}

// Word is one word of a class name, or a whole class name that has a vector.
type Word struct {
	Text    string `json:"text"`              // as it stands in the label
	Found   string `json:"found,omitempty"`   // as the file spells it; empty: not there
	Subword string `json:"subword,omitempty"` // as its n-grams were taken; empty: they were not
}

// Fate says what became of a class.
type Fate string

const (
	Found   Fate = "found"   // its row of Vectors holds its vector
	Dropped Fate = "dropped" // leave it and its examples out
	AtRoot  Fate = "root"    // keep it, without a vector
)

// String shows how the name was found, such as
// `New_York_pizza: New_York as "new-york", pizza unknown`.
func (n Name) String() string {
	var words []string
	for _, w := range n.Words {
		switch {
		case w.Subword != "":
			words = append(words, fmt.Sprintf("%s from the n-grams of %q", w.Text, w.Subword))
		case w.Found == "":
			words = append(words, w.Text+" unknown")
		case w.Found != w.Text:
			words = append(words, fmt.Sprintf("%s as %q", w.Text, w.Found))
		default:
			words = append(words, w.Text)
		}
	}
	s := n.Label + ": " + strings.Join(words, ", ")
	if n.Fate != Found {
		s += " (" + string(n.Fate) + ")"
	}
	return s
}

// unknown returns the words of the name that the file does not have.
func (n Name) unknown() []string {
	var out []string
	for _, w := range n.Words {
		if w.Found == "" {
			out = append(out, w.Text)
		}
	}
	return out
}

// Names returns the vectors of class names.
//
// Each name is looked up as a whole first: as it is, then in lower case, Title
// Case and UPPER CASE, each of these as it is, then with _, space and - between
// its words. Failing that it is cut at white space and underscores and each
// word is looked up as it is, in lower, Title and UPPER case. A word that is
// not there is cut further, at punctuation, in camelCase and between letters
// and digits, and if a part is found the parts take its place. An emoji is
// looked up as it is, without U+FE0F, then with it. The first hit counts.
//
// A name of several words has the mean of their vectors, as in the paper's
// ImageNet experiment. What becomes of a name with an unknown word is the policy's
// choice; drop and root apply to a name with any such word. With subword an
// unknown word gets the n-grams of its lower case.
//
// Errors that unknown words cause wrap ErrUnknown and name up to 10 of the
// classes. A name that was not in Options.Names when the file was read is an
// error too, unless all was kept. It takes O(k·dim) time and about 20 lookups
// a name.
func (v *Vectors) Names(labels []string, policy Unknown) (*LabelVectors, error) {
	if _, err := ParseUnknown(policy.String()); err != nil {
		return nil, err
	}
	out := &LabelVectors{
		Source:  v.info,
		Policy:  policy,
		Names:   make([]Name, len(labels)),
		Vectors: matrix.NewDense(len(labels), v.info.Dim),
	}
	var refused []string
	sum := make([]float64, v.info.Dim)
	for i, label := range labels {
		stranger := false
		name := Name{Label: label, Fate: Found, Words: resolve(label, func(s string) bool {
			stranger = stranger || !v.asked(s)
			_, ok := v.index[s]
			return ok
		})}
		if stranger {
			return nil, fmt.Errorf("class name %s was not among those asked for when %s was read", quote(label), v.info.Name)
		}
		unknown := name.unknown()
		if len(unknown) > 0 {
			switch policy {
			case UnknownDrop:
				name.Fate = Dropped
			case UnknownRoot:
				name.Fate = AtRoot
			}
		}
		clear(sum)
		n := 0
		for w := range name.Words {
			row, err := v.wordOf(&name.Words[w], policy)
			if err != nil {
				return nil, fmt.Errorf("class name %s: %w", quote(label), err)
			}
			if row != nil {
				addTo(sum, row)
				n++
			}
		}
		out.Names[i] = name
		switch {
		case name.Fate != Found:
		case n == 0 || policy == UnknownError && len(unknown) > 0:
			refused = append(refused, fmt.Sprintf("%s (%s)", quote(label), strings.Join(unknown, ", ")))
		default:
			copy(out.Vectors.Row(i), scaled(sum, n))
		}
	}
	if len(refused) > 0 {
		return nil, v.refusal(refused, len(labels), policy)
	}
	return out, nil
}

// wordOf returns the vector of a word of a name, nil if it has none.
func (v *Vectors) wordOf(w *Word, policy Unknown) ([]float32, error) {
	if w.Found != "" {
		return v.rows[v.index[w.Found]], nil
	}
	if policy != UnknownSubword {
		return nil, nil
	}
	s := subwordSpelling(w.Text)
	row, err := v.Subword(s)
	if err != nil {
		return nil, err
	}
	w.Subword = s
	return row, nil
}

// refusal is the error about names that the policy does not allow.
func (v *Vectors) refusal(names []string, k int, policy Unknown) error {
	const most = 10
	list := input.Some(names, most, len(names))
	what := "have words without a vector"
	choices := "average, subword (fastText .bin), drop or root"
	if policy == UnknownAverage {
		what = "have no word with a vector, so there is nothing to average"
		choices = "subword (fastText .bin), drop or root"
	}
	return fmt.Errorf("%s: %d of %d class names %s (%w): %s; rename them, use other vectors, or choose for unknown words: %s",
		v.info.Name, len(names), k, what, ErrUnknown, list, choices)
}

// Present returns the classes that have a vector, ascending.
func (l *LabelVectors) Present() []int {
	var out []int
	for i, n := range l.Names {
		if n.Fate == Found {
			out = append(out, i)
		}
	}
	return out
}

// Mean returns the mean of the vectors of labels from..to-1, such as the synonyms of a
// class; labels without a vector do not count. nil if none has one.
func (l *LabelVectors) Mean(from, to int) []float64 {
	var sum []float64
	known := 0.0
	for i := from; i < to; i++ {
		if l.Names[i].Fate != Found {
			continue
		}
		if sum == nil {
			sum = make([]float64, l.Vectors.Cols())
		}
		for j, x := range l.Vectors.Row(i) {
			sum[j] += float64(x)
		}
		known++
	}
	for j := range sum {
		sum[j] /= known
	}
	return sum
}

// String tells what was done: a line of counts, and one line for each class
// whose name has an unknown word.
func (l *LabelVectors) String() string {
	var whole, split, grams, average, absent int
	var lines strings.Builder
	for _, n := range l.Names {
		unknown := n.unknown()
		switch {
		case n.Fate != Found:
			absent++
		case len(unknown) > 0 && l.Policy == UnknownSubword:
			grams++
		case len(unknown) > 0:
			average++
		case len(n.Words) == 1:
			whole++
		default:
			split++
		}
		if len(unknown) > 0 {
			fmt.Fprintf(&lines, "\n  %s", n)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d class names, vectors of %d numbers from %s; unknown words: %s", len(l.Names), l.Source.Dim, l.Source.Name, l.Policy)
	fmt.Fprintf(&b, "\n  one vector: %d, mean of their words: %d", whole, split)
	for _, part := range []struct {
		what string
		n    int
	}{{"some words from n-grams", grams}, {"mean of the known words", average}, {"without a vector", absent}} {
		if part.n > 0 {
			fmt.Fprintf(&b, ", %s: %d", part.what, part.n)
		}
	}
	return b.String() + lines.String()
}

// shownSpellings is how many names Notes lists that were found under another spelling.
// JSON has all.
const shownSpellings = 20

// Notes says, a line each, how the vectors were found, and which names were found under
// another spelling than their own.
func (l *LabelVectors) Notes() []string {
	notes := []string{l.String()}
	if n := l.Source.Duplicates; n > 0 {
		notes = append(notes, fmt.Sprintf("  %d words stand there again; their first vectors count", n))
	}
	other := 0
	for _, n := range l.Names {
		if n.Fate != Found || !slices.ContainsFunc(n.Words, func(w Word) bool { return w.Found != "" && w.Found != w.Text }) {
			continue
		}
		if other++; other <= shownSpellings {
			notes = append(notes, fmt.Sprintf("  %v", n))
		}
	}
	if more := other - shownSpellings; more > 0 {
		notes = append(notes, fmt.Sprintf("  and %d more names under another spelling", more))
	}
	return notes
}

// JSON is what a model file keeps of how the vectors were found.
func (l *LabelVectors) JSON() ([]byte, error) {
	return json.Marshal(struct {
		Format string `json:"format"`
		Dim    int    `json:"dim"`
		Words  int    `json:"words"`
		Names  []Name `json:"names"`
	}{l.Source.Format.String(), l.Source.Dim, l.Source.Words, l.Names})
}

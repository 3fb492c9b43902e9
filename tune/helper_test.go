package tune

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/feature"
)

// topics are classes whose names say what their texts are about, and words that
// only their texts have.
func topics() map[string]string {
	return map[string]string{
		"card_lost":        "wallet gone stolen block",
		"card_arrival":     "post waiting letter delivery",
		"transfer_pending": "sent yesterday bank slow",
		"transfer_fee":     "charged extra cost why",
		"pin_blocked":      "wrong thrice locked machine",
		"pin_change":       "new number choose digits",
	}
}

// texts makes n texts of each topic: a word or two of the name, the rest from
// the topic's own words and noise.
func texts(n int, seed uint64, label func(string) string) []dataset.Example {
	random := rand.New(rand.NewPCG(seed, 1))
	noise := strings.Fields("please help me with this today i need it now thanks what can be done about my account")
	var out []dataset.Example
	for _, name := range dataset.NewLabels(keys(topics())).Names() {
		own := strings.Fields(topics()[name])
		parts := strings.Split(name, "_")
		for range n {
			words := []string{parts[random.IntN(len(parts))], own[random.IntN(len(own))]}
			for range 4 {
				words = append(words, noise[random.IntN(len(noise))])
			}
			random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
			out = append(out, dataset.Example{Text: strings.Join(words, " "), Label: label(name), Weight: 1})
		}
	}
	return out
}

func keys(m map[string]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}

func same(name string) string { return name }

// permuted gives every topic the name of another one, so that names tell nothing.
func permuted(name string) string {
	names := dataset.NewLabels(keys(topics())).Names()
	for i, n := range names {
		if n == name {
			return names[(i+3)%len(names)]
		}
	}
	return name
}

// topicData returns a corpus of train examples of each class and test ones.
func topicData(t *testing.T, train, test int, label func(string) string) (d *corpus.Data, trainRows, testRows []int) {
	t.Helper()
	c := corpus.New(dataset.Text, nil)
	for i, set := range [][]dataset.Example{texts(train, 1, label), texts(test, 2, label)} {
		for _, e := range set {
			if err := c.Add(e); err != nil {
				t.Fatal(err)
			}
		}
		if i == 0 {
			trainRows = c.Rows()
		}
	}
	testRows = dataset.Range(len(trainRows), c.Table.Rows())
	d, err := c.Data(ctx, trainRows, corpus.ClassFiles{})
	if err != nil {
		t.Fatal(err)
	}
	return d, trainRows, testRows
}

// fitOne is FitBest of one method.
func fitOne(ctx context.Context, d *corpus.Data, rows []int, m Method, opts Options) (*Result, error) {
	return FitBest(ctx, d, rows, []Method{m}, opts)
}

// corpusOf returns a corpus of examples of texts.
func corpusOf(t *testing.T, examples []dataset.Example) *corpus.Corpus {
	t.Helper()
	c := corpus.New(dataset.Text, nil)
	for _, e := range examples {
		if err := c.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// numbers returns rows of two numeric columns around one point a class.
func numbers(t *testing.T, n int) (*corpus.Data, []int) {
	t.Helper()
	table := feature.NewTable(dataset.Numbers, []string{"a", "b"})
	random := rand.New(rand.NewPCG(5, 5))
	var class []int32
	labels := []string{"ash", "birch", "oak red", "oak white"}
	for i := range n * len(labels) {
		c := i % len(labels)
		if err := table.Add(dataset.Example{Values: []float64{float64(c) + 0.1*random.NormFloat64(), float64(c*c) + 0.1*random.NormFloat64()}}); err != nil {
			t.Fatal(err)
		}
		class = append(class, int32(c))
	}
	d, err := corpus.NewData(table, class, nil, classinfo.Info{Labels: labels})
	if err != nil {
		t.Fatal(err)
	}
	return d, dataset.Range(0, len(class))
}

func accuracy(t *testing.T, d *corpus.Data, r *Result, rows []int) float64 {
	t.Helper()
	x, err := r.Features.Matrix(d.Table, rows)
	if err != nil {
		t.Fatal(err)
	}
	right := make([]float64, len(rows))
	err = r.Layer.PredictAll(x, 2, func(i int, p []float32) {
		best := 0
		for c := range p {
			if p[c] > p[best] {
				best = c
			}
		}
		if int32(best) == d.Class[rows[i]] {
			right[i] = 1
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for _, x := range right {
		sum += x
	}
	return sum / float64(len(right))
}

func methodNames(methods []Method) string { return fmt.Sprint(methods) }

// spec returns a sum of sources, unchecked.
func spec(text string) (s classinfo.Spec) {
	for _, source := range strings.Split(text, "+") {
		s = append(s, classinfo.Source(source))
	}
	return s
}

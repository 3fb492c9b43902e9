package doctor

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
)

// topics are classes whose names say what their texts are about, each with
// words that only its texts have.
var topics = [][2]string{
	{"card_lost", "wallet gone stolen block"},
	{"card_arrival", "post waiting letter delivery"},
	{"transfer_pending", "sent yesterday bank slow"},
	{"transfer_fee", "charged extra cost why"},
	{"pin_blocked", "wrong thrice locked machine"},
	{"pin_change", "new number choose digits"},
}

// texts makes n texts of each topic: a word of the name, one of the topic's
// own, the rest noise. shift gives every topic the name of another one, so that
// names tell nothing.
func texts(n, shift int) []dataset.Example {
	random := rand.New(rand.NewPCG(1, 2))
	noise := strings.Fields("please help me with this today i need it now thanks what can be done about my account")
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	var out []dataset.Example
	for c, topic := range topics {
		for range n {
			words := []string{pick(strings.Split(topic[0], "_")), pick(strings.Fields(topic[1]))}
			for range 4 {
				words = append(words, pick(noise))
			}
			random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
			out = append(out, dataset.Example{Text: strings.Join(words, " "), Label: topics[(c+shift)%len(topics)][0], Weight: 1})
		}
	}
	return out
}

// numbers makes n rows of d numbers around a centre for each of k classes; the
// last column is constant.
func numbers(k, n, d int) []dataset.Example {
	random := rand.New(rand.NewPCG(3, 4))
	var out []dataset.Example
	for c := range k {
		centre := make([]float64, d)
		for j := range centre {
			centre[j] = random.NormFloat64()
		}
		for range n {
			values := make([]float64, d)
			for j := range values[:d-1] {
				values[j] = centre[j] + 0.3*random.NormFloat64()
			}
			values[d-1] = 7
			out = append(out, dataset.Example{Values: values, Label: fmt.Sprintf("kind%c", 'a'+c), Weight: 1})
		}
	}
	return out
}

// sparseRows makes n sparse rows of each of k classes.
func sparseRows(k, n int) []dataset.Example {
	var out []dataset.Example
	for c := range k {
		for i := range n {
			out = append(out, dataset.Example{Index: []int32{int32(c), int32(k + i)}, Values: []float64{1, 0.5}, Label: fmt.Sprint(c), Weight: 1})
		}
	}
	return out
}

// patient is data with its records.
type patient struct {
	data    *corpus.Data
	records *Records
	rows    []int
}

func admit(t testing.TB, examples []dataset.Example, taxonomy string) patient {
	t.Helper()
	kind := dataset.Text
	switch e := examples[0]; {
	case e.Index != nil:
		kind = dataset.Sparse
	case e.Values != nil:
		kind = dataset.Numbers
	}
	read, records := corpus.New(kind, nil), new(Records)
	if kind == dataset.Numbers {
		columns := make([]string, len(examples[0].Values))
		for j := range columns {
			columns[j] = fmt.Sprintf("x%d", j+1)
		}
		read = corpus.New(kind, columns)
	}
	for i, e := range examples {
		e.Place = dataset.Place{File: "rows.csv", Line: i + 2}
		if err := read.Add(e); err != nil {
			t.Fatal(err)
		}
		records.Add(e)
	}
	rows := dataset.Range(0, records.Rows())
	path := ""
	if taxonomy != "" {
		path = filepath.Join(t.TempDir(), "groups.csv")
		if err := os.WriteFile(path, []byte(taxonomy), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	data, err := read.Data(context.Background(), rows, corpus.ClassFiles{Taxonomy: path})
	if err != nil {
		t.Fatal(err)
	}
	return patient{data, records, rows}
}

func (p patient) examine(t testing.TB, opts Options) *Report {
	t.Helper()
	opts.Threads = 2
	r, err := Examine(t.Context(), p.data, p.rows, p.records, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *Report) text(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

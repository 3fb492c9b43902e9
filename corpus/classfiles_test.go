package corpus

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/exampletest"
	"github.com/treeloss/treeloss/wordvec"
)

const animalVectors = "3 2\ncat 1 0\ndog 0.9 0.1\nbus 0 1\n"

// of returns a corpus of examples of texts.
func of(t *testing.T, examples []dataset.Example) *Corpus {
	t.Helper()
	c := New(dataset.Text, nil)
	for _, e := range examples {
		if err := c.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func TestVectorsOfUnknownNames(t *testing.T) {
	vectors := exampletest.File(t, "v.txt", animalVectors)
	t.Run("error", func(t *testing.T) {
		_, err := of(t, exampletest.Animals()).Data(ctx, dataset.Range(0, 8), ClassFiles{Vectors: vectors})
		if !errors.Is(err, wordvec.ErrUnknown) || !strings.Contains(err.Error(), "zyx") {
			t.Errorf("error %v, want one that names zyx", err)
		}
	})
	t.Run("drop", func(t *testing.T) {
		d, err := of(t, exampletest.Animals()).Data(ctx, dataset.Range(0, 8), ClassFiles{Vectors: vectors, Unknown: wordvec.UnknownDrop})
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"bus", "cat", "dog"}; !slices.Equal(d.Classes.Labels, want) || !slices.Equal(d.Dropped, []string{"zyx"}) {
			t.Errorf("classes %v, dropped %v", d.Classes.Labels, d.Dropped)
		}
		if want := []int32{1, 2, 0, -1, 1, 2, 0, -1}; !slices.Equal(d.Class, want) {
			t.Errorf("classes of rows %v, want %v", d.Class, want)
		}
		if got := d.Classes.Vectors.Row(1); !slices.Equal(got, []float32{1, 0}) {
			t.Errorf("vector of cat %v", got)
		}
	})
	t.Run("root", func(t *testing.T) {
		d, err := of(t, exampletest.Animals()).Data(ctx, dataset.Range(0, 8), ClassFiles{Vectors: vectors, Unknown: wordvec.UnknownRoot})
		if err != nil {
			t.Fatal(err)
		}
		if v := d.Classes.Vectors; v.Rows() != 4 || v.SquaredNorm(3) != 0 || len(d.Dropped) > 0 {
			t.Errorf("vectors %v, dropped %v: want zeros for zyx, nothing dropped", v, d.Dropped)
		}
	})
	t.Run("none at all", func(t *testing.T) {
		none := exampletest.File(t, "v.txt", "1 2\nship 1 0\n")
		for _, policy := range []wordvec.Unknown{wordvec.UnknownDrop, wordvec.UnknownRoot} {
			if _, err := of(t, exampletest.Animals()).Data(ctx, dataset.Range(0, 8), ClassFiles{Vectors: none, Unknown: policy}); err == nil || !strings.Contains(err.Error(), "none of the 4") {
				t.Errorf("%v: error %v", policy, err)
			}
		}
		one := exampletest.File(t, "v.txt", "1 2\ncat 1 0\n")
		if _, err := of(t, exampletest.Animals()).Data(ctx, dataset.Range(0, 8), ClassFiles{Vectors: one, Unknown: wordvec.UnknownDrop}); !errors.Is(err, ErrOneClass) {
			t.Errorf("one class left: error %v", err)
		}
	})
}

// A stream leaves the columns resolved, so that another file is read like it.
func TestReadFromKeepsColumns(t *testing.T) {
	r, err := dataset.NewReader(strings.NewReader("intent,utterance,note\nx,hello there,1\ny,good bye,2\n"), "standard input", dataset.Options{Label: "intent", Text: "utterance"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := ReadFrom(r, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := c.Append([]string{exampletest.File(t, "v.csv", "note,utterance,intent\n1,once more,y\n")}, "")
	if err != nil || !slices.Equal(rows, []int{2}) || c.Labels[2] != "y" {
		t.Errorf("rows %v, labels %v, %v", rows, c.Labels, err)
	}
}
